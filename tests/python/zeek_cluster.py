"""A Zeek cluster with the ZeroMQ backend, as far as an outside member sees it, made with pyzmq: the proxy, nodes, and
nodes that send logs. Knows nothing of libpubsub."""
# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

import contextlib
import itertools
import struct
import threading
import time

import zmq
import zmq.auth

LIMIT_S = 20.0


def varbyte(n):
    out = b""
    while n > 0x7F:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def binary(x):
    """A value as Broker encodes it: whole numbers are counts."""
    if isinstance(x, int):
        return b"\x02" + struct.pack(">Q", x)
    if isinstance(x, str):
        text = x.encode()
        return b"\x05" + varbyte(len(text)) + text
    return b"\x0e" + varbyte(len(x)) + b"".join(map(binary, x))


def event_payload(name, *args):
    """As ``Cluster::publish`` writes it, without metadata."""
    return binary((1, 1, (name, args)))


class Keys:
    """Of a cluster that encrypts: one pair for the servers, one for all clients."""

    def __init__(self):
        self.server_public, self.server_secret = zmq.curve_keypair()
        self.client_public, self.client_secret = zmq.curve_keypair()

    def serve(self, socket):
        socket.curve_server = True
        socket.curve_secretkey = self.server_secret
        socket.curve_publickey = self.server_public

    def use(self, socket):
        socket.curve_serverkey = self.server_public
        socket.curve_publickey = self.client_public
        socket.curve_secretkey = self.client_secret

    def answer(self, context, stopped):
        """Admits clients that have the clients' key, and no others (ZAP)."""
        handler = context.socket(zmq.REP)
        handler.linger = 0
        handler.bind("inproc://zeromq.zap.01")
        expected = zmq.utils.z85.decode(self.client_public)
        while not stopped.is_set():
            if handler.poll(20):
                version, request, _domain, _address, _identity, mechanism, *credentials = handler.recv_multipart()
                known = mechanism == b"CURVE" and credentials == [expected]
                handler.send_multipart([version, request, b"200" if known else b"400", b"", b"0" if known else b"", b""])
        handler.close()


class ProxyPorts:
    """Where a proxy listens on this host: at `xsub_port` and `xpub_port`."""

    def uri(self, options=""):
        return f"zeek+zmq://127.0.0.1?xpub={self.xsub_port}&xsub={self.xpub_port}{options}"


class Proxy(ProxyPorts):
    """The event bus: what nodes publish comes in at its XSUB, and goes out at its XPUB, which passes on every subscription."""

    def __init__(self, keys=None, xsub_port=0, xpub_port=0):
        self._context = zmq.Context()
        self._stopped = threading.Event()
        self._xsub = self._bound(zmq.XSUB, keys, xsub_port)
        self._xpub = self._bound(zmq.XPUB, keys, xpub_port)
        self.xsub_port, self.xpub_port = (int(each.last_endpoint.rsplit(b":", 1)[1]) for each in (self._xsub, self._xpub))
        self._threads = [threading.Thread(target=self._pass_on)]
        if keys is not None:
            self._threads.append(threading.Thread(target=keys.answer, args=(self._context, self._stopped)))
        for each in reversed(self._threads):
            each.start()

    def _bound(self, kind, keys, port):
        socket = self._context.socket(kind)
        socket.linger = 0
        socket.sndtimeo = 20
        if kind == zmq.XPUB:
            socket.setsockopt(zmq.XPUB_VERBOSER, 1)
            socket.setsockopt(zmq.XPUB_NODROP, 1)
        if keys is not None:
            keys.serve(socket)
        end = time.monotonic() + LIMIT_S
        while True:  # a port that was in use a moment ago may take a moment
            with contextlib.suppress(zmq.ZMQError):
                socket.bind(f"tcp://127.0.0.1:{port or '*'}")
                return socket
            assert time.monotonic() < end, "the port of the proxy is in use"

    def _pass_on(self):
        poller = zmq.Poller()
        for each in (self._xsub, self._xpub):
            poller.register(each, zmq.POLLIN)
        other = {self._xsub: self._xpub, self._xpub: self._xsub}
        while not self._stopped.is_set():
            for socket, _ in poller.poll(20):
                for _ in range(1000):
                    try:
                        message = socket.recv_multipart(zmq.NOBLOCK, copy=False)
                    except zmq.Again:
                        break
                    self._send(other[socket], message)
        for each in (self._xsub, self._xpub):
            each.close()

    def _send(self, socket, message):
        """Waits for room, as the proxy of Zeek does."""
        while not self._stopped.is_set():
            with contextlib.suppress(zmq.Again):
                return socket.send_multipart(message, copy=False)

    def close(self):
        self._stopped.set()
        for each in self._threads:
            each.join()
        self._context.term()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Node:
    """A node of the cluster: publishes events and receives those of its topics."""

    _numbers = itertools.count()

    def __init__(self, proxy, *topics, keys=None):
        self.id = f"zeromq_node-{next(self._numbers)}_host_1_x"
        self._context = zmq.Context()
        self._xpub = self._connected(zmq.XPUB, proxy.xsub_port, keys)
        self._xsub = self._connected(zmq.XSUB, proxy.xpub_port, keys)
        self.subscriptions = []
        """Prefixes that somebody subscribes to, and this node with them; each as often as it was."""
        self.ended = []
        """Prefixes that somebody has unsubscribed, in that order."""
        self._wait_until_ready()
        for each in topics:
            self.subscribe(each)

    def _connected(self, kind, port, keys):
        socket = self._context.socket(kind)
        socket.linger = 500
        if kind == zmq.XPUB:
            socket.setsockopt(zmq.XPUB_NODROP, 1)
            socket.setsockopt(zmq.XPUB_VERBOSE, 1)
        if keys is not None:
            keys.use(socket)
        socket.connect(f"tcp://127.0.0.1:{port}")
        return socket

    def _wait_until_ready(self):
        own = f"zeek.zeromq.internal.{self.id}.0."
        self._xsub.send(b"\x01" + own.encode())
        self.wait_for(lambda: own in self.subscriptions)
        self._xsub.send(b"\x00" + own.encode())

    def wait_for(self, condition):
        """Until what others subscribe to is as wanted."""
        end = time.monotonic() + LIMIT_S
        while not condition():
            assert time.monotonic() < end, f"not within {LIMIT_S} s: {self.subscriptions}, ended {self.ended}"
            self.note_subscriptions(20)

    def note_subscriptions(self, timeout_ms=0):
        while self._xpub.poll(timeout_ms):
            message = self._xpub.recv()
            prefix = message[1:].decode()
            if message[:1] == b"\x01":
                self.subscriptions.append(prefix)
            else:
                self.ended.append(prefix)
                if prefix in self.subscriptions:
                    self.subscriptions.remove(prefix)
            timeout_ms = 0

    def subscribe(self, topic):
        self._xsub.send(b"\x01" + topic.encode())
        self.wait_for(lambda: topic in self.subscriptions)

    def publish(self, topic, name, *args):
        self.send(topic.encode(), self.id.encode(), b"broker-bin-v1", event_payload(name, *args))

    def send(self, *frames):
        """Waits for room where there is none; what nobody wants is lost, as ZeroMQ does."""
        assert self.try_send(frames, LIMIT_S), "the proxy takes nothing more"

    def try_send(self, frames, timeout_s):
        """Whether there was room in time."""
        self._xpub.sndtimeo = int(timeout_s * 1000)
        with contextlib.suppress(zmq.Again):
            self._xpub.send_multipart(frames)
            return True
        return False

    def receive(self, timeout_s=LIMIT_S):
        """Topic, sender, format and payload of the next event; None if there is none in time."""
        if self._xsub.poll(timeout_s * 1000):
            return self._xsub.recv_multipart()
        return None

    def close(self):
        self._context.destroy()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def text(x):
    return struct.pack(">I", len(x)) + x.encode()


def log_batch(path, records, stream="Test::LOG", optional=(0, 1)):
    """Records of a time and a count, of which None is unset; `optional`: which columns may be unset."""
    head = text(stream) + text("Log::WRITER_ASCII") + text("default") + text(path)
    columns = struct.pack(">I", 2)
    for name, kind, may_be_unset in (("ts", 5, optional[0]), ("n", 3, optional[1])):
        columns += b"\x00" + text(name) + struct.pack(">iiB", kind, 0, may_be_unset)
    values = struct.pack(">I", len(records))
    for at, n in records:
        values += struct.pack(">iiBd", 5, 0, 1, at)
        values += struct.pack(">iiB", 3, 0, 0) if n is None else struct.pack(">iiBQ", 3, 0, 1, n)
    return head + columns + values


@contextlib.contextmanager
def log_sender(port, keys=None):
    """Sends batches to a logger, as nodes that do not log themselves do."""
    with zmq.Context() as context, context.socket(zmq.PUSH) as socket:
        socket.linger = 500
        if keys is not None:
            keys.use(socket)
        socket.connect(f"tcp://127.0.0.1:{port}")
        yield lambda payload: socket.send_multipart([b"log-write", b"zeromq_worker-1_host_1_x", b"zeek-bin-serializer", payload])


class Logger:
    """Accepts logs as a logger of the cluster does."""

    def __init__(self, port=0, keys=None):
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.PULL)
        self._stopped = threading.Event()
        self._answering = None
        if keys is not None:
            keys.serve(self._socket)
            self._answering = threading.Thread(target=keys.answer, args=(self._context, self._stopped))
            self._answering.start()
        self._socket.bind(f"tcp://127.0.0.1:{port or '*'}")
        self.port = int(self._socket.last_endpoint.rsplit(b":", 1)[1])

    def receive(self, timeout_s=LIMIT_S):
        """The four frames of the next batch; None if there is none in time."""
        if self._socket.poll(timeout_s * 1000):
            return self._socket.recv_multipart()
        return None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stopped.set()
        if self._answering is not None:
            self._answering.join()
        self._socket.close(0)
        self._context.term()
