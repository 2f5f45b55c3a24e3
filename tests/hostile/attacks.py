# SPDX-License-Identifier: BSD-3-Clause
"""What attackers do. Each attack is a function of the door of a node, and ends by itself after some seconds; that the
node cuts it off is what is expected, and no failure. It begins again then, under another name."""

import random
import struct
import threading
import time

from . import wire
from .wire import COUNT_1, FILTER, HIGHEST, NEIGHBOURS, Peer

ALL = {}


def attack(run):
    ALL[run.__name__.replace("_", " ")] = run
    run.link_policy = "block"  # of the nodes that are attacked
    return run


class End:
    """When an attack is over."""

    def __init__(self, seconds):
        self._at = time.monotonic() + seconds
        self._come = threading.Event()  # sooner

    def __bool__(self):
        return self._come.is_set() or time.monotonic() >= self._at

    def wait(self, at_most=float("inf")):
        self._come.wait(max(0.0, min(at_most, self._at - time.monotonic())))

    def come(self):
        self._come.set()


def perform(name, door, seed, end):
    """Runs the attack in a thread of its own, which is returned, again and again until `end` has come."""
    rng = random.Random(seed)

    def run():
        while not end:
            try:
                ALL[name](door, rng, end)
            except OSError:
                pass  # it was cut off
    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread


# -- strangers --------------------------------------------------------------------------------------

@attack
def silent_connections(door, _rng, end):
    """Opens connections and says nothing."""
    held = []
    while not end and len(held) < 900:
        held.append(door.knock())
    end.wait()


@attack
def half_handshakes(door, rng, end):
    """Says hello, and no more."""
    held = []
    while not end and len(held) < 300:
        held.append(door.enter())
        held[-1].sendall(wire.hello(wire.large_id(rng), 2))
    end.wait()


@attack
def garbage(door, rng, _end):
    """Sends random bytes, before the handshake or behind it."""
    with door.enter() if rng.random() < 0.5 else Peer(door, rng, rng.choice([1, 2])).wire as one:
        one.sendall(rng.randbytes(rng.randrange(1, 5_000)))


@attack
def many_prefixes(door, rng, _end):
    """Announces a million topic prefixes in its handshake."""
    with door.enter() as one:
        one.sendall(wire.hello(wire.large_id(rng), 1))
        one.sendall(wire.frame(bytes([wire.SYN_ACK]) + MANY_PREFIXES))
        one.recv(1 << 16)


MANY_PREFIXES = wire.prefixes([struct.pack(">H", n & 0xFFFF) for n in range(1_000_000)])


@attack
def peers_that_come_and_go(door, rng, _end):
    """Connects, tells a little of itself, and is gone."""
    one = Peer(door, rng, wants=[rng.randbytes(8) for _ in range(300)])
    one.link_with(one.nodes()[0])
    one.wire.close()


# -- peers of version 1 -----------------------------------------------------------------------------

@attack
def filters_without_end(door, rng, end):
    """Replaces its filter by thousands of other prefixes, again and again."""
    one = Peer(door, rng, version=1)
    many = rng.choice([5_000, 60_000])
    while not end:
        one.say(wire.envelope(wire.ROUTING_UPDATE, one.id, b"<$>", wire.prefixes([rng.randbytes(8) for _ in range(many)])))


@attack
def filters_that_come_and_go(door, rng, end):
    """Connects with tens of thousands of prefixes in its handshake, and is gone, again and again."""
    wants = [rng.randbytes(8) for _ in range(60_000)]
    while not end:
        Peer(door, rng, version=1, wants=wants).wire.close()


@attack
def messages_without_end(door, rng, end):
    """Publishes as fast as it is read, for another of its kind that reads all."""
    one, other = Peer(door, rng, version=1), Peer(door, rng, version=1, wants=[b"/x"])
    many = wire.envelope(wire.DATA, one.id, b"/x", COUNT_1) * 500
    while not end:
        one.say(many)
        other.wire.recv(1 << 20)


# -- peers of version 2 -----------------------------------------------------------------------------

@attack
def messages_outside_of_batches(door, rng, _end):
    """Sends messages of version 1 over a link of version 2."""
    one = Peer(door, rng)
    one.say(*[wire.envelope(wire.DATA, one.id, b"/t/0", COUNT_1)] * 1_000)
    one.read()


@attack
def lies_about_others(door, rng, _end):
    """Reports links and subscriptions of all nodes, and batches in their names, with the highest numbers."""
    one = Peer(door, rng)
    others = one.nodes()
    one.say(wire.topics(0, [(b"/x", others)]))
    for node in others:
        for incarnation in (1, HIGHEST - 1, HIGHEST):
            one.say(wire.report(NEIGHBOURS, node, incarnation, HIGHEST, [one.id]),
                    wire.report(FILTER, node, incarnation, HIGHEST, [b"/x"]))
        for stream in range(1, 20):  # one of them is that of an honest publisher
            one.say(wire.batch(0, node, HIGHEST, [COUNT_1], 0x80000000 | stream))
    one.say(wire.report(NEIGHBOURS, others[0], 1 << 63, 1))


@attack
def unread_answers(door, rng, end):
    """Asks, and does not read: flushes, pings, questions about the status."""
    one = Peer(door, rng)
    asks = rng.choice([wire.flush(one.id, 1, [rng.randbytes(16)] * 50),
                       wire.envelope(wire.PING, one.id, b"<$>", bytes(1_000)),
                       wire.flagged(wire.STATUS_REQUEST, struct.pack(">I", 1))])
    while not end:
        one.say(asks * 50)


@attack
def topics_without_end(door, rng, end):
    """Announces long topics for nobody."""
    one = Peer(door, rng)
    n = 0
    while not end:
        one.say(wire.topics(n % 1024, [(b"/x" + bytes(60_000), [one.id])] * 4))
        n += 1


@attack
def a_map_without_end(door, rng, end):
    """Reports ever more links and subscriptions that are not there."""
    one = Peer(door, rng)
    number = 1
    while not end:
        number += 1
        one.say(wire.report(FILTER, one.id, 1, number, [rng.randbytes(8) for _ in range(1_000)], whole=False),
                wire.report(NEIGHBOURS, one.id, 1, number, [rng.randbytes(16) for _ in range(200)], whole=False))


@attack
def a_crowd_that_comes_and_goes(door, rng, end):
    """Reports thousands of nodes behind it, and then again and again that the link to one of them is gone, and back:
    few bytes, after each of which routes to all of them may be others."""
    one = Peer(door, rng)
    crowd = [rng.randbytes(16) for _ in range(10_000)]
    relay = one.nodes()[0]
    one.say(wire.report(NEIGHBOURS, one.id, 1, 2, [relay, *crowd], whole=False))
    one.say(b"".join(wire.report(NEIGHBOURS, node, 1, 1, [one.id]) for node in crowd))
    number = 2
    while not end:
        moves = []
        for node in crowd[:500]:
            moves += [wire.report(NEIGHBOURS, one.id, 1, number + 1, removed=[node], whole=False),
                      wire.report(NEIGHBOURS, one.id, 1, number + 2, [node], whole=False)]
            number += 2
        one.say(b"".join(moves))


@attack
def a_node_that_moves(door, rng, end):
    """Two peers report a node that is linked now with one of them and now with the other, publish for it, and
    answer no flush."""
    peers = [Peer(door, rng), Peer(door, rng)]
    relay = peers[0].nodes()[0]
    node = rng.randbytes(16)
    number = 1
    while not end:
        for here, there in (peers, peers[::-1]):
            number += 1
            here.say(wire.report(NEIGHBOURS, here.id, 1, number, [relay, node]),
                     wire.report(NEIGHBOURS, node, 1, number, [here.id]),
                     wire.report(FILTER, node, 1, number, [b"/x"]), wire.topics(0, [(b"/x", [node])]),
                     wire.batch(0, here.id, number, [COUNT_1]))
            there.say(wire.report(NEIGHBOURS, there.id, 1, number, [relay]), wire.topics(0, [(b"/x", [node])]),
                      wire.batch(0, there.id, number, [COUNT_1]))
        peers[0].await_answer()  # so that each move is one


@attack
def messages_beyond_credit(door, rng, end):
    """Publishes for all nodes without asking for room."""
    one = Peer(door, rng)
    one.say(wire.topics(0, [(b"/x", one.nodes())]))
    sequence = 0
    while not end:
        sequence += 1
        one.say(wire.batch(0, one.id, sequence, [b"\x05" + wire.varbyte(60_000) + bytes(60_000)]))


@attack
def origins_without_end(door, rng, end):
    """Publishes in the names of ever new nodes."""
    one = Peer(door, rng)
    one.say(wire.topics(0, [(b"/x", one.nodes())]))
    while not end:
        one.say(b"".join(wire.batch(0, rng.randbytes(16), 1, [COUNT_1]) for _ in range(500)))


@attack
def questions_without_end(door, rng, end):
    """Asks all nodes, again and again, and answers for them."""
    one = Peer(door, rng)
    nodes = one.nodes()
    one.link_with(nodes[0])
    asks = wire.flagged(wire.QUESTION, b"\x10" + one.id + wire.ids(nodes))
    lies = b"".join(wire.flagged(wire.ANSWER, b"\x10" + here + there + struct.pack(">QQ", HIGHEST, HIGHEST))
                    for here in nodes for there in nodes)
    one.wire.settimeout(0.01)
    while not end:
        try:
            one.say(asks * 100 + lies)
            while one.wire.recv(1 << 20):
                pass
        except TimeoutError:
            pass


@attack
def a_slow_reader(door, rng, end):
    """Wants everything and reads next to nothing."""
    one = Peer(door, rng, wants=[b""])
    one.link_with(one.nodes()[0])
    while not end:
        one.wire.recv(100)
        end.wait(0.05)  # it is slow


# Where producers wait for room, all wait for the slowest reader: that is what the policy says.
a_slow_reader.link_policy = "drop_oldest"
