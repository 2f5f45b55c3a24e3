# SPDX-License-Identifier: BSD-3-Clause
"""What the parts of this package move in a second, each by itself, in one process.

``python -m libpubsub.bench.alone [--messages N] [--runs R]``. Each line is the median of R runs with the least and the
most. `drain` lines read a queue filled beforehand. The bare loop is what a Python ``for`` over a list of ready tuples
costs here: the limit of any iteration. Every run checks that all messages came.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from typing import Any, Callable, Iterator, Sequence

from .. import Endpoint
from ..subscriber import Subscriber
from ..zeek import Event, RecordReader
from .records import make_record

COLUMNS = ("ts uid orig_h orig_p resp_h resp_p proto service duration orig_bytes resp_bytes conn_state "
           "local_orig local_resp missed_bytes history orig_pkts orig_ip_bytes resp_pkts tags").split()
_MESSAGES, _BYTES = 10**8, 2**40  # room for everything

Measurement = Callable[[], tuple[int, float]]
"""Gives a number of messages and the seconds they took."""


def drain(values: Sequence[Any], read: Callable[[Subscriber, int], None]) -> Measurement:
    """Times ``read(subscriber, n)``, given a queue that holds ``values``."""
    def measure() -> tuple[int, float]:
        with Endpoint() as endpoint:
            subscriber = endpoint.make_subscriber("t", capacity=_MESSAGES, capacity_bytes=_BYTES)
            n = endpoint.publish_batch("t", values)
            begin = time.perf_counter()
            read(subscriber, n)
            seconds = time.perf_counter() - begin
            assert subscriber.available() == 0 and subscriber.counters().delivered == n
            return n, seconds
    return measure


def publish(values: Sequence[Any], singly: bool = False) -> Measurement:
    """Times publishing ``values`` to a subscriber with room for all."""
    def measure() -> tuple[int, float]:
        with Endpoint() as endpoint:
            subscriber = endpoint.make_subscriber("t", capacity=_MESSAGES, capacity_bytes=_BYTES)
            publisher = endpoint.make_publisher("t")
            begin = time.perf_counter()
            if singly:
                for value in values:
                    publisher.publish(value)
            else:
                publisher.publish_batch(values)
            seconds = time.perf_counter() - begin
            assert subscriber.available() == len(values)
            return len(values), seconds
    return measure


def iterate(subscriber: Subscriber, n: int) -> None:
    for _ in itertools.islice(subscriber, n):
        pass


def decode(subscriber: Subscriber, n: int) -> None:
    for message in itertools.islice(subscriber, n):
        message.data


def read_batches(subscriber: Subscriber, n: int) -> None:
    while n > 0:
        n -= len(subscriber.get_batch(4096))


def to_dictionaries(subscriber: Subscriber, n: int) -> None:
    reader = RecordReader(itertools.islice(subscriber, n))
    reader._learn(("conn", tuple((name, "any") for name in COLUMNS)))
    assert sum(1 for _ in reader) == n


def bare_loop() -> tuple[int, float]:
    ready = [("t", i) for i in range(1_000_000)]
    begin = time.perf_counter()
    for _ in ready:
        pass
    return len(ready), time.perf_counter() - begin


def cases(n: int) -> Iterator[tuple[str, Measurement]]:
    small = list(range(n))
    records = [make_record(i) for i in range(max(1, n // 5))]
    events = [Event("log_conn", record).to_data() for record in records]
    yield "bare loop", bare_loop
    yield "drain, iterate small", drain(small, iterate)
    yield "drain, get_batch small", drain(small, read_batches)
    yield "drain, decode small", drain(small, decode)
    yield "drain, decode 20-field records", drain(records, decode)
    yield "drain, records to dictionaries", drain(events, to_dictionaries)
    yield "publish_batch small", publish(small)
    yield "publish_batch 20-field records", publish(records)
    yield "publish one by one, small", publish(small, singly=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--messages", type=int, default=1_000_000, help="small messages a run; records: a fifth")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    for name, measure in cases(options.messages):
        rates = [n / seconds for n, seconds in (measure() for _ in range(options.runs))]
        print(f"{name:34} {statistics.median(rates):12,.0f} msgs/s   ({min(rates):,.0f} .. {max(rates):,.0f})", flush=True)


if __name__ == "__main__":
    main()
