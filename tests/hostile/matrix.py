# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of frame in every state of a connection, about every kind of owner, with numbers at every edge."""

import itertools
import struct

from . import wire
from .wire import COUNT_1, HIGHEST, Peer

NUMBERS = (0, 1, HIGHEST, HIGHEST + 1, (1 << 63) + 1, (1 << 64) - 1)
OWNERS = ("itself", "the node", "another node", "a node that is not there", "nobody")
STATES = ("connected", "greeted", "asked", "shaken", "member", "publishing", "leaving")


def owned_frames(owner, number):
    """Of each kind in which a sender names a node: (name, bytes). `number` is cut to the size of its field."""
    small = struct.pack(">I", number & 0xFFFFFFFF)
    both = struct.pack(">QQ", number, number)
    yield "records", wire.batch(0, owner, number, [COUNT_1])
    yield "records of an honest stream", wire.batch(0, owner, number, [COUNT_1], 0x80000001)
    yield "topics", wire.topics(number & 0xFFFF, [(b"/x", [owner])], number & 0xFF)
    yield "a node twice", wire.topics(0, [(b"/x", [owner, owner])])
    for whole in (True, False):
        yield "links", wire.report(wire.NEIGHBOURS, owner, number, number, [owner], whole=whole)
        yield "links that are gone", wire.report(wire.NEIGHBOURS, owner, 1, number, removed=[owner], whole=whole)
        yield "subscriptions", wire.report(wire.FILTER, owner, number, number, [b"/t"], whole=whole)
    yield "question", wire.flagged(wire.QUESTION, bytes([number & 0xFF]) + owner + wire.ids([owner]))
    yield "answer", wire.flagged(wire.ANSWER, bytes([number & 0xFF]) + owner + owner + both)
    yield "flush", wire.flush(owner, number & 0xFFFFFFFF, [owner], number & 0xF)
    yield "flushed", wire.flagged(wire.FLUSHED, bytes([number & 0xFF]) + owner + small + wire.ids([owner]))
    for kind in (wire.DATA, wire.COMMAND, wire.ROUTING_UPDATE, wire.PING, wire.PONG, 0, number & 0xFF):
        topic = b"/x" if kind == wire.DATA else b"/t"  # whoever may connect may publish: not among the honest messages
        yield f"envelope {kind}", wire.envelope(kind, owner, topic, COUNT_1, owner, number & 0xFFFF)
    yield "goodbye", wire.envelope(wire.PING, owner, b"<$>", b"BYE" + struct.pack(">Q", number))
    yield "hello", wire.hello(owner, number & 0xFF)
    yield "version", wire.frame(bytes([wire.VERSION_SELECT]) + b"ZEEK" + owner + bytes([number & 0xFF]))
    for code in (number & 0xFF, wire.REDUNDANT):
        yield f"drop {code}", wire.frame(bytes([wire.DROP]) + b"ZEEK" + owner + bytes([code]) + wire.string(b"go"))


def other_frames(number):
    small = struct.pack(">I", number & 0xFFFFFFFF)
    yield "known", wire.flagged(wire.KNOWN, b"")
    yield "credit", wire.flagged(wire.CREDIT, bytes([number & 0xFF]) + small)
    yield "status request", wire.flagged(wire.STATUS_REQUEST, small)
    yield "status reply", wire.flagged(wire.STATUS_REPLY, small + b'{"a": 1}')
    yield "probe", wire.frame(bytes([wire.PROBE]) + b"ZEEK")
    for tag in (wire.SYN, wire.SYN_ACK, wire.ACK):
        yield f"handshake {tag}", wire.frame(bytes([tag]) + wire.prefixes([b"/t"] * (number & 3)))
    yield "nothing", wire.frame(b"")
    yield "unknown kind", wire.flagged(number & 0xFF, struct.pack(">Q", number))
    yield "a length alone", struct.pack(">I", number & 0xFFFFFFFF)


def all_frames(owners):
    """(name, bytes) of each kind; and each cut off at a place inside, its length as if it were whole."""
    for number in NUMBERS:
        for owner, node in owners.items():
            for name, what in owned_frames(node, number):
                yield f"{name} of {owner}, {number}", what
        yield from ((f"{name}, {number}", what) for name, what in other_frames(number))
    for name, what in itertools.chain(owned_frames(owners["itself"], 1), other_frames(1)):
        if len(what) > 5:
            length = len(what) - 5  # without its last byte
            flag = what[0] & 0x80
            yield f"{name}, cut off", bytes([flag]) + struct.pack(">I", length)[1:] + what[4:-1]


def arrive(door, rng, version, state):
    """A connection in this state, and the ids of honest nodes, as far as it was told."""
    if state == "connected":
        return door.enter(), []
    if state in ("greeted", "asked"):
        one = door.enter()
        one.sendall(wire.hello(wire.large_id(rng), version))
        if state == "asked":
            one.sendall(wire.frame(bytes([wire.SYN_ACK]) + wire.prefixes([])))
        return one, []
    peer = Peer(door, rng, version)
    nodes = peer.nodes() if version == 2 and state != "shaken" else []
    if nodes:
        peer.link_with(nodes[0])
    if state in ("publishing", "leaving"):
        peer.say(wire.topics(0, [(b"/x", nodes)]) + wire.batch(0, peer.id, 1, [COUNT_1]) if version == 2 else
                 wire.envelope(wire.DATA, peer.id, b"/x", COUNT_1))
    if state == "leaving":
        peer.say(wire.envelope(wire.PING, peer.id, b"<$>", b"BYE12345678"))
    return peer.wire, nodes


def try_all(door, rng, version, end):
    """In an order of its own, until all was tried or `end` has come. Returns how many cases there were."""
    probe = Peer(door, rng)
    honest = probe.nodes()
    probe.wire.close()
    owners = dict(zip(OWNERS, (wire.large_id(rng), honest[0], honest[-1], rng.randbytes(16), wire.NOBODY)))
    cases = list(itertools.product(STATES, all_frames(owners)))
    rng.shuffle(cases)
    tried = 0
    for state, (_, what) in cases:
        if end:
            break
        tried += 1
        try:
            _try_one(door, rng, version, state, what)
        except OSError:
            pass  # it was cut off
    return tried


def _try_one(door, rng, version, state, what):
    """Says it, and listens until the node hangs up or has had time for it."""
    one, _ = arrive(door, rng, version, state)
    with one:
        one.sendall(what)
        one.settimeout(0.002)
        while one.recv(1 << 16):
            pass
