# SPDX-License-Identifier: BSD-3-Clause
"""``python -m libpubsub.bench.zeek WHO URI``: one program in Python that receives events of a Zeek cluster, or sends them to a
WebSocket server, and says how fast. ``pubsub bench zeek`` starts it, and the other end.

Prints ``done events=N seconds=S cpu=S``, or ``missing NAME`` where a distribution is not installed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib
import ipaddress
import json
import struct
import sys
import time
from typing import Any, AsyncIterable, Callable, Iterable, Iterator

TOPICS, EVENTS, END = "bench/", "bench/events", "bench/end"
STEP = 1000
SPARE_S = 30.0
ADDRESSES = 65_536
"""Objects of addresses that are made once, at most: whoever reads connections sees the same again."""


# -- Broker's encoding, as a program with pyzmq has to read it ------------------------------------------------------------

_U64, _I64, _F64 = struct.Struct(">Q").unpack_from, struct.Struct(">q").unpack_from, struct.Struct(">d").unpack_from
_V4_PREFIX = b"\0" * 10 + b"\xff\xff"


def _length(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


_addresses: dict[bytes, Any] = {}


def _address_of(raw: bytes) -> Any:
    known = _addresses.get(raw)
    if known is None:
        known = ipaddress.ip_address(raw[12:] if raw.startswith(_V4_PREFIX) else raw)
        if len(_addresses) < ADDRESSES:
            _addresses[raw] = known
    return known


def _text(data: bytes, at: int) -> tuple[str, int]:
    size, at = _length(data, at)
    return data[at:at + size].decode(), at + size


def _items(data: bytes, at: int) -> tuple[list[Any], int]:
    count, at = _length(data, at)
    items = []
    for _ in range(count):
        value, at = decode(data, at)
        items.append(value)
    return items, at


def _table(data: bytes, at: int) -> tuple[dict[Any, Any], int]:
    count, at = _length(data, at)
    table = {}
    for _ in range(count):
        key, at = decode(data, at)
        table[key], at = decode(data, at)
    return table, at


def _set(data: bytes, at: int) -> tuple[set[Any], int]:
    items, at = _items(data, at)
    return set(items), at


def _subnet(data: bytes, at: int) -> tuple[Any, int]:
    address = _address_of(data[at:at + 16])
    length = data[at + 16] - (96 if address.version == 4 else 0)
    return ipaddress.ip_network((address, length), strict=False), at + 17


_READERS: tuple[Callable[[bytes, int], tuple[Any, int]], ...] = (
    lambda data, at: (None, at),
    lambda data, at: (data[at] != 0, at + 1),
    lambda data, at: (_U64(data, at)[0], at + 8),
    lambda data, at: (_I64(data, at)[0], at + 8),
    lambda data, at: (_F64(data, at)[0], at + 8),
    _text,
    lambda data, at: (_address_of(data[at:at + 16]), at + 16),
    _subnet,
    lambda data, at: ((data[at] << 8 | data[at + 1], data[at + 2]), at + 3),
    lambda data, at: (_I64(data, at)[0] / 1e9, at + 8),
    lambda data, at: (_I64(data, at)[0] / 1e9, at + 8),
    _text,
    _set,
    _table,
    _items,
)


def decode(data: bytes, at: int = 0) -> tuple[Any, int]:
    """The value at that place, and where the next one is."""
    return _READERS[data[at]](data, at + 1)


# -- receiving -----------------------------------------------------------------------------------------------------------

def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _print_done(events: int, begin: tuple[float, float]) -> None:
    seconds, cpu = (end - start for end, start in zip(_now(), begin))
    print(f"done events={events} seconds={seconds} cpu={cpu}", flush=True)


def report(batches: Iterable[list[str]]) -> None:
    """Takes batches of topics until the end has come, and prints."""
    count, begin = 0, None
    for topics in batches:
        begin = begin or _now()
        if topics[-1] == END:  # nothing follows it
            return _print_done(count + len(topics) - 1, begin)
        count += len(topics)


@contextlib.contextmanager
def _cluster(uri: str, events: int) -> Iterator[Any]:
    """With room for all events, so that none is dropped."""
    from libpubsub import zeek
    with zeek.connect(uri, link_capacity=max(2 * events, 65_536), link_capacity_bytes=2**40) as cluster:
        yield cluster


def receive_batches(options: argparse.Namespace) -> None:
    with _cluster(options.uri, options.events) as cluster, cluster.endpoint.make_subscriber(TOPICS) as subscriber:
        report([message.topic for message in batch] for batch in iter(lambda: subscriber.get_batch(STEP, SPARE_S), []))


def receive_data(options: argparse.Namespace) -> None:
    def topics(batch: list[Any]) -> list[str]:
        for message in batch:
            _ = message.data
        return [message.topic for message in batch]

    with _cluster(options.uri, options.events) as cluster, cluster.endpoint.make_subscriber(TOPICS) as subscriber:
        report(topics(batch) for batch in iter(lambda: subscriber.get_batch(STEP, SPARE_S), []))


def receive_events(options: argparse.Namespace) -> None:
    with _cluster(options.uri, options.events) as cluster, cluster.events(TOPICS) as events:
        report([event.topic] for event in events)


async def _report_async(events: AsyncIterable[Any]) -> None:
    """As ``report``, of events one by one."""
    count, begin = 0, None
    async for event in events:
        begin = begin or _now()
        if event.topic == END:
            return _print_done(count, begin)
        count += 1


def receive_async(options: argparse.Namespace) -> None:
    with _cluster(options.uri, options.events) as cluster, cluster.events(TOPICS) as events:
        asyncio.run(_report_async(events))


def receive_pyzmq(options: argparse.Namespace) -> None:
    zmq = importlib.import_module("zmq")
    end = END.encode()

    def topics() -> Iterator[list[str]]:
        receive = socket.recv_multipart
        while True:
            topic, _sender, _format, payload = receive()
            decode(payload)
            yield [END if topic == end else EVENTS]

    with zmq.Context() as context, context.socket(zmq.SUB) as socket:
        socket.set_hwm(10_000)
        socket.rcvtimeo = int(SPARE_S * 1000)
        socket.subscribe(TOPICS.encode())
        socket.connect(f"tcp://127.0.0.1:{options.port}")
        report(topics())


# -- a client of a WebSocket server ----------------------------------------------------------------------------------------

def receive_websockets(options: argparse.Namespace) -> None:
    client = importlib.import_module("websockets.sync.client")
    with client.connect(f"{options.uri}/v1/messages/json", max_size=None, compression=None) as socket:
        socket.send(json.dumps([TOPICS]))
        json.loads(socket.recv(SPARE_S))  # the answer
        report([json.loads(socket.recv(SPARE_S))["topic"]] for _ in range(options.events + 1))


def send_websockets(options: argparse.Namespace) -> None:
    client = importlib.import_module("websockets.sync.client")
    with client.connect(f"{options.uri}/v1/messages/json", max_size=None, compression=None) as socket:
        socket.send(json.dumps([]))
        json.loads(socket.recv(SPARE_S))
        begin = _now()
        for topic in [EVENTS] * options.events + [END]:
            socket.send(json.dumps({"type": "data-message", "topic": topic, **EVENT}))
        _print_done(options.events, begin)
        sys.stdin.read()


def _field(kind: str, value: Any) -> dict[str, Any]:
    return {"@data-type": kind, "data": value}


def _vector(*items: Any) -> dict[str, Any]:
    return _field("vector", list(items))


EVENT = _vector(_field("count", 1), _field("count", 1), _vector(_field("string", "log_conn"), _vector(_vector(
    _field("timestamp", "2011-03-18T19:06:08.018"), _field("string", "CHhAvVGS1DHFjwGM9"),
    _field("address", "192.0.2.1"), _field("port", "50000/tcp"), _field("address", "192.0.2.2"), _field("port", "443/tcp"),
    _field("enum-value", "tcp"), _field("string", "ssl"), _field("timespan", "250ms"), _field("count", 1024),
    _field("count", 4096), _field("string", "SF"), _field("boolean", True), _field("boolean", False), _field("count", 0),
    _field("string", "ShADadFf"), _field("count", 12), _field("count", 1700), _field("count", 10), _field("count", 4600),
    {"@data-type": "none", "data": {}}, _field("count", 6), _field("string", "02:00:20:00:00:01"),
    _field("string", "02:00:77:00:00:01")))))
"""What is sent to a server: a record with the columns of bench/data/conn.log."""

RECEIVERS = {"batches": receive_batches, "data": receive_data, "events": receive_events, "async": receive_async, "pyzmq": receive_pyzmq,
             "websockets": receive_websockets}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m libpubsub.bench.zeek", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("who", choices=RECEIVERS)
    parser.add_argument("uri", help="of the cluster, or of the WebSocket server")
    parser.add_argument("--port", type=int, default=0, help="of the XPUB socket, for pyzmq")
    parser.add_argument("--events", type=int, required=True, help="how many come, or are to be sent")
    parser.add_argument("--send", action="store_true", help="send (websockets only)")
    options = parser.parse_args()
    try:
        (send_websockets if options.send else RECEIVERS[options.who])(options)
    except ModuleNotFoundError as missing:
        print("missing", {"zmq": "pyzmq"}.get(missing.name or "", (missing.name or "?").split(".")[0]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
