#!/usr/bin/env python3
"""What Python programs move in a second through libpubsub and through other libraries.

python_peers.py [--only NAME] [--duration S] [--payload BYTES]

One process publishes a numbered stream over loopback TCP, another one checks it. Each library prints one line,
{"peer":...,"version":...,"msgs_per_s":...,"published":...,"delivered":...,"lost":...,"disordered":...}, or
{"peer":...,"unavailable":"not installed"}. Peers that drop messages rather than make a publisher wait get a window: what has
arrived is read from shared memory, which costs them nothing. NATS also needs the program nats-server.
"""

import argparse
import asyncio
import contextlib
import importlib
import importlib.metadata
import itertools
import json
import multiprocessing
import os
import shutil
import socket
import subprocess
import sys
import time

END, PROBE = 2**64 - 1, 2**64 - 2  # numbers that are no messages of the stream
SPARE_S = 40
STEP = 64  # messages between looks at the clock and at the window


class State:
    """What the two processes tell each other beside the messages."""

    def __init__(self, context):
        self.port = context.Value("i", 0, lock=False)
        self.published = context.Value("Q", 0, lock=False)
        self.delivered = context.Value("Q", 0, lock=False)
        self.disordered = context.Value("Q", 0, lock=False)
        self.seconds = context.Value("d", 0.0, lock=False)
        self.probe_seen = context.Event()
        self.ended = context.Event()
        self.port_told = context.Event()

    def tell_port(self, port):
        self.port.value = port
        self.port_told.set()

    def wait_for_port(self):
        if not self.port_told.wait(SPARE_S):
            raise TimeoutError("the subscriber told no port")
        return self.port.value


class Sink:
    """Checks the numbers; `take` is false once the end mark has come."""

    def __init__(self, state):
        self.state, self.expected, self.count, self.wrong, self.begin = state, 0, 0, 0, 0.0

    def take(self, number):
        if number >= PROBE:
            return self._take_mark(number)
        if self.count == 0:
            self.begin = time.perf_counter()
        self.count += 1
        if number != self.expected:
            self.wrong += 1
        self.expected = number + 1
        if self.count % STEP == 0:
            self.state.delivered.value = self.count
        return True

    def take_bytes(self, message):
        return self.take(int.from_bytes(message[:8], "little"))

    def _take_mark(self, number):
        if number == PROBE:
            self.state.probe_seen.set()
            return True
        self.state.seconds.value = time.perf_counter() - self.begin
        self.state.delivered.value, self.state.disordered.value = self.count, self.wrong
        self.state.ended.set()
        return False


def numbers(state, options, window=0):
    """Lists of numbers until the time is up, then the end mark."""
    end = time.perf_counter() + options.duration
    for first in itertools.count(0, STEP):
        if time.perf_counter() >= end:
            break
        while window and first + STEP - state.delivered.value > window:
            time.sleep(0.0001)
        yield range(first, first + STEP)
        state.published.value = first + STEP
    yield [END]


def to_bytes(options):
    padding = b"x" * (options.payload - 8)
    return lambda number: number.to_bytes(8, "little") + padding


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def send_all(state, options, send):
    make = to_bytes(options)
    for some in numbers(state, options):
        for number in some:
            send(make(number))
    state.ended.wait(SPARE_S)


def wait_until_open(port):
    end = time.monotonic() + SPARE_S
    while time.monotonic() < end:
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise TimeoutError(f"nobody listens on port {port}")


def probe_until_seen(state, send):
    while not state.probe_seen.wait(0.02):
        send(PROBE)


class OfLibpubsub:
    name, module, distribution = "libpubsub", "libpubsub", "libpubsub"

    @staticmethod
    def subscribe(state, _):
        import libpubsub
        with libpubsub.Endpoint() as endpoint:
            subscriber = endpoint.make_subscriber("stream")
            state.tell_port(endpoint.listen("tcp://127.0.0.1:0"))
            sink = Sink(state)
            while all(sink.take(message.data[0]) for message in subscriber.get_batch(1024)):
                pass

    @staticmethod
    def publish(state, options):
        import libpubsub
        with libpubsub.Endpoint() as endpoint:
            endpoint.peer(f"tcp://127.0.0.1:{state.wait_for_port()}")
            endpoint.wait_for_subscribers("stream", timeout=SPARE_S)
            publisher = endpoint.make_publisher("stream")
            padding = "x" * options.payload
            for some in numbers(state, options):
                publisher.publish_batch([(libpubsub.Count(number), padding) for number in some])
            state.ended.wait(SPARE_S)


class OfZmq:
    name, module, distribution = "pyzmq", "zmq", "pyzmq"

    @staticmethod
    def subscribe(state, _):
        import zmq
        end = zmq.Context.instance().socket(zmq.SUB)
        end.set_hwm(10_000)
        end.subscribe(b"")
        state.tell_port(end.bind_to_random_port("tcp://127.0.0.1"))
        sink = Sink(state)
        while sink.take_bytes(end.recv()):
            pass

    @staticmethod
    def publish(state, options):
        import zmq
        end = zmq.Context.instance().socket(zmq.XPUB)  # a PUB that can wait, and hears of subscriptions
        end.set_hwm(10_000)
        end.setsockopt(zmq.XPUB_NODROP, 1)
        end.connect(f"tcp://127.0.0.1:{state.wait_for_port()}")
        end.recv()
        send_all(state, options, end.send)


class OfNng:
    name, module, distribution = "pynng", "pynng", "pynng"

    @staticmethod
    def subscribe(state, _):
        import pynng
        with pynng.Pull0(recv_buffer_size=8192) as end:
            listener = end.listen("tcp://127.0.0.1:0")
            state.tell_port(socket.ntohs(listener.local_address.port))
            sink = Sink(state)
            while sink.take_bytes(end.recv()):
                pass

    @staticmethod
    def publish(state, options):
        import pynng
        with pynng.Push0(send_buffer_size=8192) as end:
            end.dial(f"tcp://127.0.0.1:{state.wait_for_port()}", block=True)
            send_all(state, options, end.send)


class OfNats:
    name, module, distribution = "nats-py", "nats", "nats-py"
    window = 32_768

    @staticmethod
    def find_server():
        return shutil.which("nats-server", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")

    @classmethod
    def missing(cls):
        return None if cls.find_server() else "not installed: nats-server"

    @classmethod
    @contextlib.contextmanager
    def serving(cls, state):
        """A server as long as the run lasts, owned by the process that measures."""
        state.server_port = free_port()
        server = subprocess.Popen([cls.find_server(), "-a", "127.0.0.1", "-p", str(state.server_port), "-l", os.devnull])
        try:
            wait_until_open(state.server_port)
            yield
        finally:
            server.kill()
            server.wait()

    @classmethod
    def subscribe(cls, state, _):
        asyncio.run(cls.receive(state))

    @staticmethod
    async def receive(state):
        import nats
        client = await nats.connect(f"nats://127.0.0.1:{state.server_port}")
        sink, done = Sink(state), asyncio.Event()

        async def visit(message):
            if not sink.take_bytes(message.data):
                done.set()

        await client.subscribe("stream", cb=visit, pending_msgs_limit=-1, pending_bytes_limit=-1)
        await client.flush()
        state.tell_port(state.server_port)
        await done.wait()
        await client.close()

    @classmethod
    def publish(cls, state, options):
        async def run():
            import nats
            client = await nats.connect(f"nats://127.0.0.1:{state.wait_for_port()}", pending_size=2**26)
            make = to_bytes(options)
            for some in numbers(state, options, cls.window):
                for number in some:
                    await client.publish("stream", make(number))
                await asyncio.sleep(0)  # lets the client write
            await client.flush(SPARE_S)
            state.ended.wait(SPARE_S)
        asyncio.run(run())


class OfZenoh:
    name, module, distribution = "eclipse-zenoh", "zenoh", "eclipse-zenoh"
    window = 32_768

    @staticmethod
    def session(**endpoints):
        import zenoh
        config = zenoh.Config()
        config.insert_json5("mode", '"peer"')
        config.insert_json5("scouting/multicast/enabled", "false")
        for kind in ("listen", "connect"):
            config.insert_json5(f"{kind}/endpoints", json.dumps(endpoints.get(kind, [])))
        return zenoh.open(config)

    @classmethod
    def subscribe(cls, state, _):
        import zenoh
        port = free_port()
        with cls.session(listen=[f"tcp/127.0.0.1:{port}"]) as session:
            samples = session.declare_subscriber("stream", zenoh.handlers.FifoChannel(2 * cls.window))
            state.tell_port(port)
            sink = Sink(state)
            while sink.take_bytes(samples.recv().payload.to_bytes()):
                pass

    @classmethod
    def publish(cls, state, options):
        import zenoh
        with cls.session(connect=[f"tcp/127.0.0.1:{state.wait_for_port()}"]) as session:
            end = session.declare_publisher("stream", congestion_control=zenoh.CongestionControl.BLOCK)
            make = to_bytes(options)
            probe_until_seen(state, lambda number: end.put(make(number)))
            for some in numbers(state, options, cls.window):
                for number in some:
                    end.put(make(number))
            state.ended.wait(SPARE_S)


PEERS = [OfLibpubsub, OfZmq, OfNng, OfNats, OfZenoh]


def missing(peer):
    """Why the peer cannot be measured, or None."""
    try:
        importlib.import_module(peer.module)
    except ImportError:
        return "not installed"
    return peer.missing() if hasattr(peer, "missing") else None


def measure(peer, options):
    """Returns the members of the line."""
    context = multiprocessing.get_context("spawn")
    state = State(context)
    with peer.serving(state) if hasattr(peer, "serving") else contextlib.nullcontext():
        return run_processes(peer, options, context, state)


def run_processes(peer, options, context, state):
    processes = [context.Process(target=part, args=(state, options), daemon=True) for part in (peer.subscribe, peer.publish)]
    for process in processes:
        process.start()
    processes[0].join(options.duration + SPARE_S)
    failed = not state.ended.is_set()
    for process in processes:
        process.join(0 if failed else 10)
        process.kill()
    if failed:
        return {"failed": "did not come to its end"}
    published, delivered = state.published.value, state.delivered.value
    return {"version": importlib.metadata.version(peer.distribution), "msgs_per_s": round(delivered / state.seconds.value, 1),
            "published": published, "delivered": delivered, "lost": max(0, published - delivered),
            "disordered": state.disordered.value}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=[peer.name for peer in PEERS], help="measure this library alone")
    parser.add_argument("--duration", type=float, default=3.0, help="seconds to publish")
    parser.add_argument("--payload", type=int, default=100, help="bytes of a message, its number included")
    options = parser.parse_args()
    sound = True
    for peer in PEERS:
        if options.only not in (None, peer.name):
            continue
        reason = missing(peer)
        line = {"unavailable": reason} if reason else measure(peer, options)
        print(json.dumps({"peer": peer.name, **line}), flush=True)
        sound = sound and "failed" not in line and not line.get("lost") and not line.get("disordered")
    return 0 if sound else 3


if __name__ == "__main__":
    sys.exit(main())
