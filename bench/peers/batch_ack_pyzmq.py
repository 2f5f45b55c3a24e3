# SPDX-License-Identifier: BSD-3-Clause
"""Batch acknowledged pipelines on pyzmq: what batch_ack_zmq does, in Python.

Ventilator, workers and sink are processes. Prints one line of JSON.
"""

import argparse
import ctypes
import json
import multiprocessing
import signal
import struct
import sys
import time

try:
    import zmq
except ImportError:
    zmq = None

HIGH_WATER_MARK = 10_000
PATIENCE_MS = 20_000
TASK = struct.Struct("=QQ")  # number, batch
ACK = struct.Struct("=Q")  # batch
FAILED, LOST = 2, 3


def peak_memory_bytes(process="self"):
    with open(f"/proc/{process}/status", encoding="ascii") as status:
        return next((int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:")), 0)


def make_socket(context, kind):
    socket = context.socket(kind)
    socket.sndhwm = socket.rcvhwm = HIGH_WATER_MARK
    socket.rcvtimeo = socket.sndtimeo = PATIENCE_MS
    socket.linger = 0
    return socket


def bind(socket):
    return socket.bind_to_random_port("tcp://127.0.0.1")


def connect(socket, port):
    socket.connect(f"tcp://127.0.0.1:{port}")


def sizes_of_batches(options):
    full, rest = divmod(options.tasks, options.batch)
    return [options.batch] * full + ([rest] if rest else [])


def send_all(out, acks, options):
    """Sends batch after batch; returns the most tasks it has had in flight."""
    sizes = sizes_of_batches(options)
    first = in_flight = most = acknowledged = 0

    def take_ack():
        nonlocal in_flight, acknowledged
        in_flight -= sizes[ACK.unpack(acks.recv())[0]]
        acknowledged += 1

    for batch, size in enumerate(sizes):
        if batch - acknowledged == options.in_flight:
            take_ack()
        for number in range(first, first + size):
            out.send(TASK.pack(number, batch))
        first += size
        in_flight += size
        most = max(most, in_flight)
    while acknowledged < len(sizes):
        take_ack()
    return most


def ventilate(options, pipe):
    with zmq.Context() as context, make_socket(context, zmq.PUSH) as out, make_socket(context, zmq.PULL) as acks:
        arrivals = out.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
        pipe.send((bind(out), bind(acks)))
        for _ in range(options.workers):
            if not arrivals.poll(PATIENCE_MS):
                raise TimeoutError("a worker did not connect")
            arrivals.recv_multipart()
        out.disable_monitor()
        begin = time.perf_counter()
        most = send_all(out, acks, options)
        seconds = time.perf_counter() - begin
        pipe.send({"seconds": seconds, "in_flight_max": most, "bytes": peak_memory_bytes()})
        pipe.recv()  # the end


def work(pipe, task_port, sink_port):
    """Ends with the run."""
    with zmq.Context() as context, make_socket(context, zmq.PULL) as tasks, make_socket(context, zmq.PUSH) as out:
        tasks.rcvtimeo = -1
        connect(out, sink_port)
        connect(tasks, task_port)
        while True:
            out.send(tasks.recv())


def collect(options, pipe):
    with zmq.Context() as context, make_socket(context, zmq.PULL) as results, make_socket(context, zmq.PUSH) as acks:
        pipe.send(bind(results))
        connect(acks, pipe.recv())
        left = sizes_of_batches(options)
        seen = bytearray(options.tasks)
        delivered = 0
        for _ in range(options.tasks):
            number, batch = TASK.unpack(results.recv())
            if number >= options.tasks or seen[number]:
                continue
            seen[number] = 1
            delivered += 1
            left[batch] -= 1
            if left[batch] == 0:
                acks.send(ACK.pack(batch))
        pipe.send({"delivered": delivered, "bytes": peak_memory_bytes()})
        pipe.recv()  # the end


def run_part(part, *arguments):
    """What every process begins with."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: none outlives the first
    part(*arguments)


class Part:
    """A process, made anew so that its memory is its own, and the pipe to it."""

    def __init__(self, context, part, *arguments, options=None):
        self.pipe, other = context.Pipe()
        first = (other,) if options is None else (options, other)
        self.process = context.Process(target=run_part, args=(part, *first, *arguments), daemon=True)
        self.process.start()
        other.close()

    def receive(self):
        return self.pipe.recv()  # EOFError if it has failed


def run(options):
    context = multiprocessing.get_context("spawn")
    sink = Part(context, collect, options=options)
    ventilator = Part(context, ventilate, options=options)
    sink_port = sink.receive()
    task_port, ack_port = ventilator.receive()
    sink.pipe.send(ack_port)
    workers = [Part(context, work, task_port, sink_port) for _ in range(options.workers)]
    sent, got = ventilator.receive(), sink.receive()
    lost = options.tasks - got["delivered"]
    report = {"peer": "pyzmq", "version": zmq.__version__, "msgs_per_s": round(options.tasks / sent["seconds"], 1),
              "published": options.tasks, "delivered": got["delivered"], "lost": lost, "disordered": lost,
              "in_flight_max": sent["in_flight_max"], "sink_bytes": got["bytes"],
              "worker_bytes": [peak_memory_bytes(worker.process.pid) for worker in workers],
              "ventilator_bytes": sent["bytes"]}
    print(json.dumps(report, separators=(",", ":")))
    for part in (sink, ventilator):
        part.pipe.send("end")
        part.process.join()
    return LOST if lost else 0


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tasks", type=positive, default=1_000_000, help="tasks to send (%(default)s)")
    parser.add_argument("--batch", type=positive, default=100, help="tasks acknowledged together (%(default)s)")
    parser.add_argument("--in-flight", type=positive, default=1, help="batches in flight at most (%(default)s)")
    parser.add_argument("--workers", type=positive, default=4, help="processes between the ends (%(default)s)")
    options = parser.parse_args()
    if zmq is None:
        print(json.dumps({"peer": "pyzmq", "unavailable": "not installed: pyzmq"}, separators=(",", ":")))
        return 0
    try:
        return run(options)
    except EOFError:  # its traceback is there
        print("pyzmq: a process of the pipeline failed", file=sys.stderr)
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
