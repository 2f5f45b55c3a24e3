#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A client of Zeek's WebSocket API that is measured: compare.py says by the environment which test, and how much.

Prints "RESULT client EVENTS SECONDS PROCESSOR_SECONDS 0": the events that it got and, where it is the client that ends the test,
how long that took.
"""
import json
import os
import re
import socket
import time
from collections import deque

from websockets.client import ClientProtocol
from websockets.frames import Opcode
from websockets.uri import parse_uri

PORT = 27857
TOTAL = int(os.environ["TOTAL"])
UNDER_WAY = int(os.environ["UNDER_WAY"])
# How many events the node may publish after each word of the client.
STEP = max(1, UNDER_WAY // 4)
TEXT = "x" * 100
# Name and first argument of an event, without decoding all of it, so that the client is not what is measured.
EVENT = re.compile(rb'"Perf::(\w+)".*?"vector","data":\[(?:{"@data-type":"\w+","data":"?([^"}]*))?', re.DOTALL)


def event(topic, name, *args):
    """The message that publishes an event; numbers are counts."""
    values = [{"@data-type": "count" if isinstance(each, int) else "string", "data": each} for each in args]
    data = [{"@data-type": "string", "data": f"Perf::{name}"}, {"@data-type": "vector", "data": values}]
    return json.dumps({"type": "data-message", "topic": topic, "@data-type": "vector",
                       "data": [{"@data-type": "count", "data": 1}, {"@data-type": "count", "data": 1},
                                {"@data-type": "vector", "data": data}]})


class Client:
    """A connection, blocking, with the library's protocol: quicker than its connections."""

    def __init__(self):
        self.socket = self._connected()
        self.protocol = ClientProtocol(parse_uri(f"ws://127.0.0.1:{PORT}/v1/messages/json"))
        self.came = deque()
        self.protocol.send_request(self.protocol.connect())
        self.socket.sendall(b"".join(self.protocol.data_to_send()))
        self._read()  # the answer to the request
        if self.protocol.handshake_exc:
            raise self.protocol.handshake_exc

    @staticmethod
    def _connected():
        end = time.monotonic() + 30
        while True:
            try:
                return socket.create_connection(("127.0.0.1", PORT), timeout=30)
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def _read(self):
        got = self.socket.recv(1 << 18)
        if not got:
            raise SystemExit("the server has closed the connection")
        self.protocol.receive_data(got)
        for each in self.protocol.events_received():
            if getattr(each, "opcode", None) is Opcode.TEXT:
                self.came.append(bytes(each.data))
        answer = b"".join(self.protocol.data_to_send())
        if answer:
            self.socket.sendall(answer)

    def frame(self, text):
        """The bytes that send a message."""
        self.protocol.send_text(text.encode())
        return b"".join(self.protocol.data_to_send())

    def send(self, text):
        self.socket.sendall(self.frame(text))

    def message(self):
        while not self.came:
            self._read()
        return self.came.popleft()

    def event(self):
        """Name and first argument of the next event."""
        message = self.message()
        found = EVENT.search(message)
        if not found:
            raise SystemExit(f"not an event: {message}")
        return found[1].decode(), found[2]

    def until(self, wanted):
        while self.event()[0] != wanted:
            pass


def publish_all(client, frames):
    """The node that handles them says when it has all; if some are lost, when it is asked."""
    for begin in range(0, TOTAL, 100):
        client.socket.sendall(b"".join(frames[begin:begin + 100]))
    client.send(event("perf/in", "finish"))
    client.until("finished")
    return 0


def receive_all(client, _):
    """The node publishes as much as the client allows it to; each number has to come once."""
    numbers = []
    client.send(event("perf/in", "more", UNDER_WAY))
    while len(numbers) < TOTAL:
        name, number = client.event()
        if name != "ping":
            raise SystemExit(f"an event that nobody should publish: {name}")
        numbers.append(int(number))
        if len(numbers) % STEP == 0:
            client.send(event("perf/in", "more", STEP))
    return exactly_once(numbers)


def to_and_fro(client, frames):
    numbers = []
    for frame in frames:
        client.socket.sendall(frame)
        numbers.append(int(client.event()[1]))
    return exactly_once(numbers)


def exactly_once(numbers):
    if numbers != list(range(TOTAL)):
        raise SystemExit(f"{len(numbers)} events with {len(set(numbers))} numbers, or not in order")
    return len(numbers)


def main():
    client = Client()
    client.send(json.dumps(["perf/out"]))
    client.message()
    frames = [client.frame(event("perf/in", "ping", number, TEXT)) for number in range(TOTAL)]
    client.send(event("perf/all", "start"))
    client.until("ready")
    work = {"websocket-in": publish_all, "websocket-out": receive_all, "websocket": to_and_fro}[os.environ["TEST"]]
    begun, used = time.monotonic(), time.process_time()
    got = work(client, frames)
    print(f"RESULT client {got} {time.monotonic() - begun:.6f} {time.process_time() - used:.6f} 0", flush=True)
    client.send(event("perf/all", "stop"))
    client.socket.shutdown(socket.SHUT_WR)
    while client.socket.recv(1 << 16):
        pass


if __name__ == "__main__":
    main()
