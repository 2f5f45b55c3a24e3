"""Peers that mean harm: plain sockets that speak both versions of the wire as far as it serves them
(docs/wire-format.md). Each attack is a function of the port of a node, and ends by itself after some
seconds at most; that the node cuts it off is what is expected, and no failure."""

import random
import socket
import struct
import threading
import time

ALL = {}
LONGEST_S = 4.0  # of one attack
HIGHEST = 1 << 62  # of all numbers on the wire


def attack(run):
    """`run.kept_percent`: what honest traffic keeps of its rate at least, on a machine that is busy with more than that."""
    ALL[run.__name__.replace("_", " ")] = run
    run.kept_percent = 30
    return run


def perform(name, port, seed):
    """Runs the attack in a thread of its own, which is returned."""
    def run():
        try:
            ALL[name](port, random.Random(seed), time.monotonic() + LONGEST_S)
        except OSError:
            pass  # it was cut off
    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread


# -- how they speak ---------------------------------------------------------------------------------

def frame(payload):
    return struct.pack(">I", len(payload)) + payload


def flagged(kind, payload):
    """A frame of version 2."""
    return struct.pack(">IB", 0x80000000 | (len(payload) + 1), kind) + payload


def varbyte(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def string(text):
    return varbyte(len(text)) + text


def ids(all_of):
    return varbyte(len(all_of)) + b"".join(all_of)


def report(kind, node, incarnation, number, added=(), removed=(), whole=True):
    """Of kind 3, with the links of a node, or 4, with its subscriptions."""
    items = (lambda x: x) if kind == 3 else string
    flags = (1 if whole else 0) | (2 if kind == 3 else 0)
    body = bytes([flags]) + node + struct.pack(">QQ", incarnation, number)
    for each in (added, removed):
        body += varbyte(len(each)) + b"".join(items(one) for one in each)
    return flagged(kind, body)


def topics(table, all_of):
    """All from number 0 on; each a text and the nodes it is for."""
    body = struct.pack(">BH", 0, table)
    for text, nodes in all_of:
        body += string(text) + varbyte(len(nodes)) + b"".join(node + b"\xff" * 8 for node in nodes)
    return flagged(2, body)


def batch(table, origin, sequence, payloads, stream=7):
    """Records on the first topic of the table."""
    body = struct.pack(">BHIIQ", 16, table, len(payloads), stream, sequence) + origin
    return flagged(1, body + b"".join(struct.pack(">IB", len(each), 0) + each for each in payloads))


def flush(origin, number, nodes):
    return flagged(9, bytes([0]) + origin + struct.pack(">I", number) + ids(nodes))


def envelope(kind, sender, topic, payload, receiver=bytes(16)):
    """A frame of version 1."""
    return frame(sender + receiver + struct.pack(">BHH", kind, 16, len(topic)) + topic + payload)


COUNT_1 = b"\x02" + struct.pack(">Q", 1)  # the value of a message


class Peer:
    """Has shaken hands. Its id is larger than that of honest nodes, mostly: then those begin. It wants nothing."""

    def __init__(self, port, rng, version=2):
        self.id = b"\xff" + rng.randbytes(15)
        self.wire = socket.create_connection(("127.0.0.1", port), timeout=2)
        self.wire.sendall(self.hello(version))
        for _ in range(3):
            self.read()  # probe, version_select, syn
        self.wire.sendall(frame(b"\x0b\x00"))
        self.read()  # ack
        if version == 2:
            self.say(report(3, self.id, 1, 1), report(4, self.id, 1, 1), flagged(5, b""))

    def hello(self, version):
        return frame(b"\x06ZEEK" + self.id + bytes([1, version]))

    def say(self, *frames):
        for each in frames:
            self.wire.sendall(each)

    def read(self):
        size = struct.unpack(">I", self._exactly(4))[0]
        return bool(size & 0x80000000), self._exactly(size & 0x7FFFFFFF)

    def _exactly(self, n):
        data = b""
        while len(data) < n:
            more = self.wire.recv(n - len(data))
            if not more:
                raise ConnectionResetError
            data += more
        return data

    def nodes(self):
        """The ids of those that the node has reported."""
        found = []
        while True:
            is_flagged, payload = self.read()
            if is_flagged and payload[0] == 3:
                found.append(payload[2:18])
            if is_flagged and payload[0] == 5:
                return found


# -- strangers --------------------------------------------------------------------------------------

@attack
def silent_connections(port, _rng, end):
    """Opens connections and says nothing."""
    held = []
    while time.monotonic() < end and len(held) < 900:
        held.append(socket.create_connection(("127.0.0.1", port), timeout=2))


@attack
def half_handshakes(port, rng, end):
    """Says hello, and no more."""
    held = []
    while time.monotonic() < end and len(held) < 300:
        one = socket.create_connection(("127.0.0.1", port), timeout=2)
        one.sendall(frame(b"\x06ZEEK\xff" + rng.randbytes(15) + b"\x01\x02"))
        held.append(one)


@attack
def garbage(port, rng, end):
    """Sends random bytes, before the handshake or behind it."""
    while time.monotonic() < end:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=2) if rng.random() < 0.5 else \
                    Peer(port, rng, rng.choice([1, 2])).wire as wire:
                wire.sendall(rng.randbytes(rng.randrange(1, 5_000)))
        except OSError:
            pass


@attack
def many_prefixes(port, rng, end):
    """Announces a million topic prefixes in its handshake."""
    prefixes = varbyte(1_000_000) + b"".join(b"\x02" + struct.pack(">H", n & 0xFFFF) for n in range(1_000_000))
    while time.monotonic() < end:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as one:
            try:
                one.sendall(frame(b"\x06ZEEK\xff" + rng.randbytes(15) + b"\x01\x01"))
                one.sendall(frame(b"\x0b" + prefixes))
                one.recv(1 << 16)
            except OSError:
                pass


# -- peers ------------------------------------------------------------------------------------------

@attack
def messages_outside_of_batches(port, rng, end):
    """Sends messages of version 1 over a link of version 2."""
    while time.monotonic() < end:
        try:
            one = Peer(port, rng)
            one.say(*[envelope(1, one.id, b"/t/0", COUNT_1)] * 1_000)
            one.read()
        except OSError:
            pass


@attack
def lies_about_others(port, rng, end):
    """Reports links and subscriptions of all nodes, and batches in their names, with the highest numbers."""
    while time.monotonic() < end:
        try:
            one = Peer(port, rng)
            others = one.nodes()
            one.say(topics(0, [(b"/x", others)]))
            for node in others:
                for incarnation in (1, HIGHEST - 1, HIGHEST):
                    one.say(report(3, node, incarnation, HIGHEST, [one.id]), report(4, node, incarnation, HIGHEST, [b"/x"]))
                for stream in range(1, 20):  # one of them is that of an honest publisher
                    one.say(batch(0, node, HIGHEST, [COUNT_1], 0x80000000 | stream))
            one.say(report(3, others[0], 1 << 63, 1))
        except OSError:
            pass


@attack
def unread_answers(port, rng, end):
    """Asks, and does not read: flushes, pings, questions about the status."""
    while time.monotonic() < end:
        try:
            one = Peer(port, rng)
            asks = rng.choice([flush(one.id, 1, [rng.randbytes(16)] * 50), envelope(4, one.id, b"<$>", bytes(1_000)),
                               flagged(16, struct.pack(">I", 1))])
            while time.monotonic() < end:
                one.say(asks * 50)
        except OSError:
            pass


@attack
def topics_without_end(port, rng, end):
    """Announces long topics for nobody."""
    while time.monotonic() < end:
        try:
            one = Peer(port, rng)
            for n in range(1_000_000):
                if time.monotonic() > end:
                    return
                one.say(topics(n % 1024, [(b"/x" + bytes(60_000), [one.id])] * 4))
        except OSError:
            pass


@attack
def a_map_without_end(port, rng, end):
    """Reports nodes, links and subscriptions that are not there."""
    while time.monotonic() < end:
        try:
            one = Peer(port, rng)
            for n in range(2, 1_000_000):
                if time.monotonic() > end:
                    return
                one.say(report(4, one.id, 1, n, [rng.randbytes(8) for _ in range(1_000)], whole=False),
                        report(3, one.id, 1, n, [rng.randbytes(16) for _ in range(200)], whole=False))
        except OSError:
            pass


# Every node takes in what is reported of the network, so this costs processor time in all of them: its rate has no bound.
a_map_without_end.kept_percent = 10


@attack
def a_crowd_that_comes_and_goes(port, rng, end):
    """Reports thousands of nodes behind it, and then again and again that the link to one of them is gone, and back:
    few bytes, after each of which routes to all of them may be others."""
    one = Peer(port, rng)
    crowd = [rng.randbytes(16) for _ in range(10_000)]
    relay = one.nodes()[0]
    one.say(report(3, one.id, 1, 2, [relay, *crowd], whole=False))
    one.say(b"".join(report(3, node, 1, 1, [one.id]) for node in crowd))
    number = 2
    while time.monotonic() < end:
        moves = []
        for node in crowd[:500]:
            moves += [report(3, one.id, 1, number + 1, removed=[node], whole=False),
                      report(3, one.id, 1, number + 2, [node], whole=False)]
            number += 2
        one.say(b"".join(moves))


@attack
def a_node_that_moves(port, rng, end):
    """Two peers report a node that is linked now with one of them and now with the other, publish for it, and
    answer no flush."""
    peers = [Peer(port, rng), Peer(port, rng)]
    relay = peers[0].nodes()[0]
    node = rng.randbytes(16)
    number = 1
    while time.monotonic() < end:
        for here, there in (peers, peers[::-1]):
            number += 1
            here.say(report(3, here.id, 1, number, [relay, node]), report(3, node, 1, number, [here.id]),
                     report(4, node, 1, number, [b"/x"]), topics(0, [(b"/x", [node])]),
                     batch(0, here.id, number, [COUNT_1]))
            there.say(report(3, there.id, 1, number, [relay]), topics(0, [(b"/x", [node])]),
                      batch(0, there.id, number, [COUNT_1]))
        time.sleep(0.01)  # so that each move is one


@attack
def messages_beyond_credit(port, rng, end):
    """Publishes for a subscriber without asking for room."""
    while time.monotonic() < end:
        try:
            one = Peer(port, rng)
            one.say(topics(0, [(b"/x", one.nodes())]))
            for n in range(1_000_000):
                if time.monotonic() > end:
                    return
                one.say(batch(0, one.id, n, [b"\x05" + varbyte(60_000) + bytes(60_000)]))
        except OSError:
            pass
