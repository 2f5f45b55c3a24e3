#!/usr/bin/env python3
"""What the Python package can move in a second, on one machine.

python_stream.py [--messages N] [--runs R] [--json FILE]

Each line is the median of R runs with the least and the most. Every run checks that all messages came.
`drain` lines read a queue filled beforehand, so they show the reading side alone; `link` lines read
what a second process publishes over TCP at the same time. The bare loop is what a Python `for` over a
list of ready tuples costs here: the limit of any iteration.
"""

import argparse
import itertools
import json
import platform
import statistics
import subprocess
import sys
import time
from ipaddress import IPv4Address

import libpubsub
from libpubsub import Count, EnumValue, Port, Timespan, Timestamp
from libpubsub.zeek import Event, RecordReader

ROOM = {"capacity": 10**8, "capacity_bytes": 2**40}

COLUMNS = ("ts uid orig_h orig_p resp_h resp_p proto service duration orig_bytes resp_bytes conn_state "
           "local_orig local_resp missed_bytes history orig_pkts orig_ip_bytes resp_pkts tags").split()

PUBLISHER = """
import sys, libpubsub
sys.path.insert(0, {folder!r})
import python_stream
with libpubsub.Endpoint() as endpoint:
    endpoint.peer("tcp://127.0.0.1:{port}")
    values = python_stream.{values}({n})
    endpoint.wait_for_subscribers("t", timeout=10)
    endpoint.publish_batch("t", values)
    endpoint.flush(60)
"""


def numbers(n):
    return list(range(n))


def record(i):
    """A connection record of 20 fields with the types and the variety that real ones have."""
    return (Timestamp(1_700_000_000_000_000_000 + i * 1_000_003), f"C{i:016x}", IPv4Address(0x0A000000 + i % 2000),
            Port(32768 + i % 28000, "tcp"), IPv4Address(0xC0A80000 + i % 500), Port(443, "tcp"), EnumValue("tcp"),
            "ssl", Timespan(1_500_000 + i), Count(i * 37), Count(i * 1499), "SF", True, False, Count(0),
            "ShADadFf", Count(i % 60), Count(i * 41), Count(i % 90), frozenset())


def records(n):
    return [Event("log_conn", record(i)) for i in range(n)]


def drained(values):
    """Seconds for `read(subscriber, n)`, given a queue that holds `values`."""
    def measure(read):
        endpoint = libpubsub.Endpoint()
        subscriber = endpoint.make_subscriber("t", **ROOM)
        n = endpoint.publish_batch("t", values)
        begin = time.perf_counter()
        read(subscriber, n)
        seconds = time.perf_counter() - begin
        assert subscriber.available() == 0 and subscriber.counters().delivered == n
        endpoint.close()
        return n, seconds
    return measure


def over_a_link(values, n):
    """Seconds from the first message on, published meanwhile by a process of its own."""
    def measure(read):
        with libpubsub.Endpoint() as endpoint:
            subscriber = endpoint.make_subscriber("t")
            code = PUBLISHER.format(folder=sys.path[0], port=endpoint.listen("tcp://127.0.0.1:0"), values=values, n=n)
            process = subprocess.Popen([sys.executable, "-c", code])
            next(subscriber)
            begin = time.perf_counter()
            read(subscriber, n - 1)
            seconds = time.perf_counter() - begin
            process.wait(60)
            assert subscriber.counters().delivered == n
            return n - 1, seconds
    return measure


def iterate(subscriber, n):
    for _ in itertools.islice(subscriber, n):
        pass


def decode(subscriber, n):
    for message in itertools.islice(subscriber, n):
        message.data


def read_batches(subscriber, n):
    while n > 0:
        n -= len(subscriber.get_batch(4096))


def to_dictionaries(subscriber, n):
    reader = RecordReader(itertools.islice(subscriber, n))
    reader._learn(("conn", tuple((name, "any") for name in COLUMNS)))
    assert sum(1 for _ in reader) == n


def bare_loop(_):
    ready = [("t", i) for i in range(1_000_000)]
    begin = time.perf_counter()
    for _ in ready:
        pass
    return len(ready), time.perf_counter() - begin


def publish_batch(values):
    def measure(_):
        with libpubsub.Endpoint() as endpoint:
            subscriber = endpoint.make_subscriber("t", **ROOM)
            publisher = endpoint.make_publisher("t")
            begin = time.perf_counter()
            n = publisher.publish_batch(values)
            seconds = time.perf_counter() - begin
            assert subscriber.available() == n
            return n, seconds
    return measure


def publish_singly(values):
    def measure(_):
        with libpubsub.Endpoint() as endpoint:
            subscriber = endpoint.make_subscriber("t", **ROOM)
            publish = endpoint.make_publisher("t").publish
            begin = time.perf_counter()
            for value in values:
                publish(value)
            seconds = time.perf_counter() - begin
            assert subscriber.available() == len(values)
            return len(values), seconds
    return measure


def cases(n):
    small, big = numbers(n), records(n // 5)
    raw = [event.to_data() for event in big]
    return [
        ("bare loop", bare_loop, None),
        ("drain, iterate small", drained(small), iterate),
        ("drain, get_batch small", drained(small), read_batches),
        ("drain, decode small", drained(small), decode),
        ("drain, decode 20-field records", drained(raw), decode),
        ("drain, records to dictionaries", drained(raw), to_dictionaries),
        ("link, iterate small", over_a_link("numbers", n), iterate),
        ("link, decode small", over_a_link("numbers", n), decode),
        ("link, decode 20-field records", over_a_link("records", n // 5), decode),
        ("publish_batch small", publish_batch(small), None),
        ("publish_batch 20-field records", publish_batch(raw), None),
        ("publish one by one, small", publish_singly(small), None),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--messages", type=int, default=1_000_000, help="small messages a run; records: a fifth")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", help="also write the results to this file")
    options = parser.parse_args()
    results = []
    for name, measure, read in cases(options.messages):
        rates = [n / seconds for n, seconds in (measure(read) for _ in range(options.runs))]
        median = statistics.median(rates)
        print(f"{name:34} {median:12,.0f} msgs/s   ({min(rates):,.0f} .. {max(rates):,.0f})", flush=True)
        results.append({"case": name, "msgs_per_s": {"median": median, "min": min(rates), "max": max(rates),
                                                     "samples": rates}})
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"schema": 1, "benchmark": "python_stream", "machine": {"python": platform.python_version(),
                       "platform": platform.platform()}, "params": vars(options), "results": results}, file)


if __name__ == "__main__":
    main()
