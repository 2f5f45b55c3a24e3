"""A Zeek node's WebSocket server, as far as its clients see it, made with the library websockets. Knows nothing of libpubsub."""
# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

import contextlib
import http
import ipaddress
import json
import queue
import threading
import time

import websockets.sync.server
from websockets.exceptions import ConnectionClosed

LIMIT_S = 20.0
PATH = "/v1/messages/json"
ZEROMQ, BROKER = "zeromq_manager_host_1_NO29fl9VgJR81byz3", "2c7c236c-e229-55b9-9b3b-3f522a82b665"


def value(x):
    """A value as JSON: whole numbers are counts."""
    if isinstance(x, int):
        return {"@data-type": "count", "data": x}
    if isinstance(x, str):
        return {"@data-type": "string", "data": x}
    return {"@data-type": "vector", "data": [value(each) for each in x]}


def event_text(topic, name, *args):
    """As ``Cluster::publish`` lets a server write it."""
    message = {"type": "data-message", "topic": topic, **value((1, 1, (name, args)))}
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False)


def plain(x):
    """What a value of JSON means, as Python has it: `(type, ...)` where Python has no such type."""
    kind, data = x["@data-type"], x.get("data")
    if kind == "vector":
        return tuple(plain(each) for each in data)
    if kind == "set":
        return frozenset(plain(each) for each in data)
    if kind == "table":
        return frozenset((plain(each["key"]), plain(each["value"])) for each in data)
    if kind == "address":
        return ipaddress.ip_address(data)
    if kind == "none":
        return None
    return data if kind in ("boolean", "string", "real") else (kind, data)


class Client:
    """The server's side of a connection that has sent its subscriptions."""

    def __init__(self, connection, subscriptions):
        self.connection = connection
        self.subscriptions = subscriptions
        self.done = threading.Event()

    @property
    def headers(self):
        return self.connection.request.headers

    def publish(self, topic, name, *args):
        self.connection.send(event_text(topic, name, *args))

    def receive(self, timeout_s=LIMIT_S):
        """Topic, name and arguments of the next event; None if there is none in time."""
        try:
            message = json.loads(self.connection.recv(timeout_s))
        except TimeoutError:
            return None
        name, args = plain(message)[2][:2]
        return message["topic"], name, args

    def acknowledge(self, node=BROKER, number=0):
        self.connection.send(json.dumps({"type": "ack", "endpoint": f"{node}-websocket-{number}", "version": "8.2.2"}))

    def close_code(self):
        """Reads until the client has closed, and returns the code."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                self.connection.recv(LIMIT_S)
        return self.connection.protocol.close_rcvd.code


class Server:
    """Hands each connection out once it has subscribed; it is acknowledged first, unless told otherwise."""

    def __init__(self, port=0, node=BROKER, acknowledge=True, token=None, ssl=None):
        self._arrived = queue.Queue()
        self._clients = []
        self._token = token
        self._node = node if acknowledge else None
        self._scheme = "wss" if ssl else "ws"
        end = time.monotonic() + LIMIT_S
        while True:  # a port that was in use a moment ago may take a moment
            with contextlib.suppress(OSError):
                self._server = websockets.sync.server.serve(self._serve, "127.0.0.1", port, ssl=ssl, compression=None,
                                                            process_request=self._admit, max_size=None)
                break
            assert time.monotonic() < end, "the port of the server is in use"
        self.port = self._server.socket.getsockname()[1]
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def _admit(self, connection, request):
        if request.path != PATH:
            return connection.respond(http.HTTPStatus.NOT_FOUND, "no such path")
        if self._token is not None and request.headers.get("Authorization") != f"Bearer {self._token}":
            return connection.respond(http.HTTPStatus.UNAUTHORIZED, "no such token")
        return None

    def _serve(self, connection):
        client = Client(connection, json.loads(connection.recv(LIMIT_S)))
        self._clients.append(client)
        if self._node is not None:
            client.acknowledge(self._node, len(self._clients))
        self._arrived.put(client)
        client.done.wait()

    def client(self):
        """The next one."""
        return self._arrived.get(timeout=LIMIT_S)

    def uri(self, options="", host="127.0.0.1"):
        return f"{self._scheme}://{host}:{self.port}{options}"

    def close(self):
        for each in self._clients:
            each.done.set()
        self._server.shutdown()
        self._thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
