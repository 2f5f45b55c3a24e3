# SPDX-License-Identifier: BSD-3-Clause
"""Both versions of the wire, as far as attackers need them (docs/wire-format.md): plain sockets and bytes, which share
no code with the library, so that anything can be said."""

import socket
import ssl
import struct

HIGHEST = 1 << 62  # of all numbers on the wire
NOBODY = bytes(16)  # no node has this id
COUNT_1 = b"\x02" + struct.pack(">Q", 1)  # the value of a message
TIMEOUT_S = 2


class Door:
    """Where a node listens, and how to come in: in the clear, or with a certificate that the node trusts."""

    def __init__(self, address, certificates):
        self.scheme, self.where = address.split("://")
        self.tls = None
        if self.scheme == "tls":
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            self.tls.check_hostname = False
            self.tls.load_verify_locations(certificates.path("ca.pem"))
            self.tls.load_cert_chain(certificates.path("attacker.pem"), certificates.path("attacker.key"))

    def knock(self):
        """A connection on which nothing was said, not even for TLS."""
        if self.scheme != "unix":
            return socket.create_connection(self.where.rsplit(":", 1), timeout=TIMEOUT_S)
        wire = socket.socket(socket.AF_UNIX)
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", TIMEOUT_S, 0))  # within which there is room
        wire.connect(self.where)
        wire.settimeout(TIMEOUT_S)
        return wire

    def enter(self):
        """A connection on which frames can be sent."""
        wire = self.knock()
        return self.tls.wrap_socket(wire) if self.tls else wire


# -- frames -----------------------------------------------------------------------------------------

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


# -- version 1 --------------------------------------------------------------------------------------

HELLO, PROBE, VERSION_SELECT, DROP, SYN, SYN_ACK, ACK = range(6, 13)
DATA, COMMAND, ROUTING_UPDATE, PING, PONG = range(1, 6)
REDUNDANT = 39  # why a connection is dropped: there is another one


def hello(sender, highest, lowest=1):
    return frame(bytes([HELLO]) + b"ZEEK" + sender + bytes([lowest, highest]))


def prefixes(all_of):
    """As a handshake and a routing update have them."""
    return varbyte(len(all_of)) + b"".join(string(each) for each in all_of)


def envelope(kind, sender, topic, payload, receiver=NOBODY, hops=16):
    return frame(sender + receiver + struct.pack(">BHH", kind, hops, len(topic)) + topic + payload)


# -- version 2 --------------------------------------------------------------------------------------

RECORDS, TOPICS, NEIGHBOURS, FILTER, KNOWN, CREDIT, QUESTION, ANSWER, FLUSH, FLUSHED = range(1, 11)
STATUS_REQUEST, STATUS_REPLY = 16, 17


def report(kind, node, incarnation, number, added=(), removed=(), whole=True, relays=True):
    """NEIGHBOURS, with the links of a node, or FILTER, with its subscriptions."""
    links = kind == NEIGHBOURS
    body = bytes([(1 if whole else 0) | (2 if links and relays else 0)]) + node + struct.pack(">QQ", incarnation, number)
    for each in (added, removed):
        body += varbyte(len(each)) + b"".join(one if links else string(one) for one in each)
    return flagged(kind, body)


def topics(table, all_of, first=0):
    """Each a text and the nodes it is for."""
    body = struct.pack(">BH", first, table)
    for text, nodes in all_of:
        body += string(text) + varbyte(len(nodes)) + b"".join(node + b"\xff" * 8 for node in nodes)
    return flagged(TOPICS, body)


def batch(table, origin, sequence, payloads, stream=7, hops=16):
    """Records on the first topic of the table."""
    body = struct.pack(">BHIIQ", hops, table, len(payloads), stream, sequence) + origin
    return flagged(RECORDS, body + b"".join(struct.pack(">IB", len(each), 0) + each for each in payloads))


def flush(origin, number, nodes, hops=0):
    return flagged(FLUSH, bytes([hops]) + origin + struct.pack(">I", number) + ids(nodes))


def large_id(rng):
    """Random, and larger than the random id of any node: of two nodes that meet the one with the smaller id begins."""
    return b"\xff" * 8 + rng.randbytes(8)


# -- a peer -----------------------------------------------------------------------------------------

class Peer:
    """Has shaken hands. Its id is larger than that of honest nodes, so those begin. In version 2 it has a link to the
    node, passes on, and wants what `wants` says."""

    def __init__(self, door, rng, version=2, wants=()):
        self.id = large_id(rng)
        self.wire = door.enter()
        self.say(hello(self.id, version))
        for _ in range(3):
            self.read()  # probe, version_select, syn
        self.say(frame(bytes([SYN_ACK]) + prefixes(wants if version == 1 else ())))
        self.read()  # ack
        if version == 2:
            self.say(report(NEIGHBOURS, self.id, 1, 1), report(FILTER, self.id, 1, 1, wants), flagged(KNOWN, b""))

    def say(self, *frames):
        for each in frames:
            self.wire.sendall(each)

    def read(self):
        """The next frame: whether it is one of version 2, and its payload."""
        size = struct.unpack(">I", self._exactly(4))[0]
        return bool(size & 0x80000000), self._exactly(size & 0x7FFFFFFF)

    def await_answer(self):
        """Until the node has read all that was said."""
        self.say(envelope(PING, self.id, b"<$>", b"HERE"))
        while True:
            is_flagged, payload = self.read()
            if not is_flagged and payload[32:33] == bytes([PONG]):
                return

    def _exactly(self, n):
        data = b""
        while len(data) < n:
            more = self.wire.recv(n - len(data))
            if not more:
                raise ConnectionResetError
            data += more
        return data

    def nodes(self):
        """The ids of those that the node has reported, itself first."""
        found = []
        while True:
            is_flagged, payload = self.read()
            if is_flagged and payload[0] == NEIGHBOURS:
                found.append(payload[2:18])
            if is_flagged and payload[0] == KNOWN:
                return found

    def link_with(self, relay):
        """The link counts once both ends have reported it."""
        self.say(report(NEIGHBOURS, self.id, 1, 2, [relay]))
