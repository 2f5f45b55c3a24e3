# SPDX-License-Identifier: BSD-3-Clause
"""The libraries to measure, each used so that it loses nothing and goes fast."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib
import importlib.metadata
import json
import operator
import os
import shutil
import socket
import struct
import subprocess
import time
from typing import Any, Callable, ContextManager, Iterator, Sequence

from ..subscriber import DEFAULT_CAPACITY, DEFAULT_CAPACITY_BYTES
from . import records
from .run import SPARE_S, STEP, Receiving, Run, Sending, read, wait_until, write

_UNBOUNDED = (10**8, 2**40)  # messages, bytes
_number_at_begin = struct.Struct("<Q").unpack_from


class Library:
    """How one library subscribes and publishes. An object goes to the processes of a run, pickled.

    ``needs``: its modules and the distributions that have them. ``figures``: what can be measured with it.
    ``holds``: whether messages can wait in the subscriber's process until they are read. ``window``: the most
    messages on their way where a library would drop more, 0 for any number.
    """

    name = ""
    needs: dict[str, str] = {}
    figures: tuple[str, ...] = ("publish", "iterate", "stream")
    holds = True
    window = 0

    def missing(self) -> str | None:
        """Why it cannot be measured, or None."""
        for module, distribution in self.needs.items():
            try:
                importlib.import_module(module)
            except ImportError:
                return f"not installed: {distribution}"
        return None

    def version(self) -> str:
        """Those of its distributions; empty where one was not installed as such but can be imported."""
        try:
            return ", ".join(importlib.metadata.version(x) for x in self.needs.values())
        except importlib.metadata.PackageNotFoundError:
            return ""

    def serving(self) -> ContextManager[object]:
        """What must run meanwhile, in the process that measures."""
        return contextlib.nullcontext()

    def receive(self, run: Run) -> None:
        """The subscriber's process."""
        with self.subscribing(run) as source:
            read(run, source)

    def send(self, run: Run) -> None:
        """The publisher's process."""
        with self.publishing(run) as publish:
            write(run, publish)

    def subscribing(self, run: Run) -> ContextManager[Iterator[Any]]:
        """Subscribes, tells the port, gives the messages."""
        raise NotImplementedError

    def publishing(self, run: Run) -> ContextManager[Callable[[list[Any]], object]]:
        """Connects, waits until the subscription is known, gives what publishes a step."""
        raise NotImplementedError

    def packer(self, run: Run) -> Callable[[int], Any]:
        """What makes the message of a number: here bytes that begin with it."""
        padding = b"x" * (run.limits.payload_bytes - 8)
        return lambda number: number.to_bytes(8, "little") + padding

    def decoder(self) -> Callable[[Any], Any]:
        """What makes native objects of a message that carries a record."""
        raise NotImplementedError

    def number_of(self, message: Any) -> int:
        """Read in place from whatever is a buffer: messages of all libraries are."""
        return int(_number_at_begin(message)[0])


def _one_by_one(send: Callable[[Any], object], step: Sequence[Any]) -> None:
    for message in step:
        send(message)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Libpubsub(Library):
    name, needs = "libpubsub", {"libpubsub": "libpubsub"}
    figures = ("publish", "iterate", "records", "stream")

    @contextlib.contextmanager
    def subscribing(self, run: Run) -> Iterator[Iterator[Any]]:
        import libpubsub
        with libpubsub.Endpoint() as endpoint:
            messages, size = _UNBOUNDED if run.waits else (DEFAULT_CAPACITY, DEFAULT_CAPACITY_BYTES)
            subscriber = endpoint.make_subscriber("stream", capacity=messages, capacity_bytes=size)
            run.port.value = endpoint.listen("tcp://127.0.0.1:0")
            yield iter(subscriber)

    @contextlib.contextmanager
    def publishing(self, run: Run) -> Iterator[Callable[[list[Any]], object]]:
        import libpubsub
        messages, size = _UNBOUNDED if run.waits else (DEFAULT_CAPACITY, DEFAULT_CAPACITY_BYTES)
        with libpubsub.Endpoint(link_capacity=messages, link_capacity_bytes=size) as endpoint:
            endpoint.peer(f"tcp://127.0.0.1:{run.wait_for_port()}")
            endpoint.wait_for_subscribers("stream", timeout=SPARE_S)
            yield endpoint.make_publisher("stream").publish_batch

    def packer(self, run: Run) -> Callable[[int], Any]:
        return records.make_record if run.case.records else super().packer(run)

    def decoder(self) -> Callable[[Any], Any]:
        return operator.attrgetter("data")

    def number_of(self, message: Any) -> int:
        return records.number_of(message) if isinstance(message, tuple) else int(_number_at_begin(message)[0])


class Zmq(Library):
    name, needs = "pyzmq", {"zmq": "pyzmq"}

    @contextlib.contextmanager
    def subscribing(self, run: Run) -> Iterator[Iterator[Any]]:
        zmq = importlib.import_module("zmq")
        with zmq.Context() as context, context.socket(zmq.SUB) as end:
            end.set_hwm(0 if run.waits else 10_000)
            end.subscribe(b"")
            run.port.value = end.bind_to_random_port("tcp://127.0.0.1")
            end.poll(SPARE_S * 1000)  # the subscription leaves only while somebody waits
            yield iter(end.recv, None)

    @contextlib.contextmanager
    def publishing(self, run: Run) -> Iterator[Callable[[list[Any]], object]]:
        zmq = importlib.import_module("zmq")
        with zmq.Context() as context, context.socket(zmq.XPUB) as end:  # a PUB that waits, and hears of subscriptions
            end.set_hwm(0 if run.waits else 10_000)
            end.setsockopt(zmq.XPUB_NODROP, 1)
            end.connect(f"tcp://127.0.0.1:{run.wait_for_port()}")
            end.recv()
            yield functools.partial(_one_by_one, end.send)


class _TypedZmq(Zmq):
    """Records of typed fields as the payload of pyzmq."""

    figures = ("records",)

    def codec(self) -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
        raise NotImplementedError

    def packer(self, run: Run) -> Callable[[int], Any]:
        encode = self.codec()[0]
        return lambda number: encode(records.to_plain(records.make_record(number)))

    def decoder(self) -> Callable[[Any], Any]:
        return self.codec()[1]


class ZmqMsgspec(_TypedZmq):
    name, needs = "pyzmq + msgspec", {"zmq": "pyzmq", "msgspec": "msgspec"}

    def codec(self) -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
        return records.with_msgspec()

    def number_of(self, message: Any) -> int:
        return int(message.f1[1:], 16)


class ZmqMsgspecCached(ZmqMsgspec):
    name = "pyzmq + cached msgspec"

    def codec(self) -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
        return records.with_msgspec(keep_addresses=True)


class ZmqMsgpack(_TypedZmq):
    name, needs = "pyzmq + msgpack", {"zmq": "pyzmq", "msgpack": "msgpack"}

    def codec(self) -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
        return records.with_msgpack()

    def number_of(self, message: Any) -> int:
        return records.number_of(message)


class Nng(Library):
    """Its queues hold at most 8192 messages, so reading begins at once."""

    name, needs = "pynng", {"pynng": "pynng"}
    holds = False

    @contextlib.contextmanager
    def subscribing(self, run: Run) -> Iterator[Iterator[Any]]:
        pynng = importlib.import_module("pynng")
        with pynng.Pull0(recv_buffer_size=8192) as end:
            listener = end.listen("tcp://127.0.0.1:0")
            run.port.value = socket.ntohs(listener.local_address.port)
            yield iter(end.recv, None)

    @contextlib.contextmanager
    def publishing(self, run: Run) -> Iterator[Callable[[list[Any]], object]]:
        pynng = importlib.import_module("pynng")
        with pynng.Push0(send_buffer_size=8192) as end:
            end.dial(f"tcp://127.0.0.1:{run.wait_for_port()}", block=True)
            yield functools.partial(_one_by_one, end.send)


class Zenoh(Library):
    name, needs = "eclipse-zenoh", {"zenoh": "eclipse-zenoh"}

    def session(self, **endpoints: Any) -> Any:
        zenoh = importlib.import_module("zenoh")
        config = zenoh.Config()
        config.insert_json5("mode", '"peer"')
        config.insert_json5("scouting/multicast/enabled", "false")
        for kind in ("listen", "connect"):
            config.insert_json5(f"{kind}/endpoints", json.dumps(endpoints.get(kind, [])))
        return zenoh.open(config)

    @contextlib.contextmanager
    def subscribing(self, run: Run) -> Iterator[Iterator[Any]]:
        zenoh = importlib.import_module("zenoh")
        port = _free_port()
        with self.session(listen=[f"tcp/127.0.0.1:{port}"]) as session:
            room = run.limits.messages + 3 * STEP if run.waits else 32 * STEP
            samples = session.declare_subscriber("stream", zenoh.handlers.FifoChannel(room))
            run.port.value = port
            yield (sample.payload.to_bytes() for sample in samples)

    @contextlib.contextmanager
    def publishing(self, run: Run) -> Iterator[Callable[[list[Any]], object]]:
        zenoh = importlib.import_module("zenoh")
        with self.session(connect=[f"tcp/127.0.0.1:{run.wait_for_port()}"]) as session:
            end = session.declare_publisher("stream", congestion_control=zenoh.CongestionControl.BLOCK)
            wait_until(lambda: end.matching_status.matching, "zenoh found no subscriber")
            yield functools.partial(_one_by_one, end.put)


class Nats(Library):
    """Its server cuts off subscribers that read slowly, hence a window, and reading begins at once."""

    name, needs = "nats-py", {"nats": "nats-py"}
    holds = False
    window = 32_768

    def __init__(self) -> None:
        self.port = 0

    @staticmethod
    def find_server() -> str | None:
        return shutil.which("nats-server", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")

    def missing(self) -> str | None:
        return super().missing() or (None if self.find_server() else "not installed: nats-server")

    @contextlib.contextmanager
    def serving(self) -> Iterator[None]:
        self.port = _free_port()
        server = subprocess.Popen([str(self.find_server()), "-a", "127.0.0.1", "-p", str(self.port), "-l", os.devnull])
        try:
            wait_until(lambda: _is_open(self.port), "nats-server does not listen")
            yield
        finally:
            server.kill()
            server.wait()

    def receive(self, run: Run) -> None:
        asyncio.run(self._receive(run))

    async def _receive(self, run: Run) -> None:
        nats = importlib.import_module("nats")
        client = await nats.connect(f"nats://127.0.0.1:{self.port}")
        subscription = await client.subscribe("stream", pending_msgs_limit=-1, pending_bytes_limit=-1)
        await client.flush()
        run.port.value = self.port
        receiving, messages, go_on = Receiving(run), subscription.messages, True
        while go_on:
            begin = time.perf_counter()
            step = [(await messages.__anext__()).data for _ in range(STEP)]
            go_on = receiving.take(step, time.perf_counter() - begin)
        await client.close()

    def send(self, run: Run) -> None:
        asyncio.run(self._send(run))

    async def _send(self, run: Run) -> None:
        nats = importlib.import_module("nats")
        client = await nats.connect(f"nats://127.0.0.1:{run.wait_for_port()}", pending_size=2**26)
        for step in Sending(run).steps():
            for message in step:
                await client.publish("stream", message)
            await asyncio.sleep(0)  # no wait: the client writes when its task gets a turn
        await client.flush(int(SPARE_S))
        run.wait_until_received()
        await client.close()


def _is_open(port: int) -> bool:
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0


LIBRARIES: tuple[Library, ...] = (
    Libpubsub(), Zmq(), ZmqMsgspec(), ZmqMsgspecCached(), ZmqMsgpack(), Nng(), Nats(), Zenoh())
