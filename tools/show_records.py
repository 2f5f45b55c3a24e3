#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Receives the records of a Zeek log in Python, through two relays, and shows the first of them.

    show_records.py [--pubsub PROGRAM] [--show N] FILE

Four processes: `pubsub pub` reads the log, two `pubsub node` relay it, and this program subscribes at
the far end. Status 3 if it did not receive exactly what was sent.
"""
from __future__ import annotations

import argparse
import contextlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Iterator, Optional

import libpubsub
from libpubsub.zeek import Record

TIMEOUT = 60.0  # seconds, for anything to happen


@contextlib.contextmanager
def relay(program: str, peer: Optional[str] = None) -> Iterator[str]:
    """A running relay, given as the address where it listens."""
    command = [program, "node", "--json", "--listen", "127.0.0.1:0"]
    if peer is not None:
        command += ["--peer", peer]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "listening":
                break
        else:
            raise SystemExit(f"{program} node ended with status {process.wait()}")
        yield event["address"]
    finally:
        process.terminate()
        process.wait(TIMEOUT)


class Publisher:
    """A running `pubsub pub --zeek-log`."""

    def __init__(self, program: str, peer: str, log: str) -> None:
        self._said = tempfile.TemporaryFile("w+")  # a pipe could fill up
        self._process = subprocess.Popen([program, "pub", "--peer", peer, "--zeek-log", log],
                                         stdin=subprocess.DEVNULL, stderr=self._said)

    def ended(self) -> bool:
        return self._process.poll() is not None

    def sent(self) -> int:
        """The number of records sent, once it has ended. Ends this program too if it failed."""
        self._said.seek(0)
        text = self._said.read().strip()
        found = re.search(r"^sent (\d+)", text, re.M)
        if self._process.returncode != 0 or found is None:
            print(text, file=sys.stderr)
            raise SystemExit(self._process.returncode or 1)
        return int(found[1])

    def __enter__(self) -> Publisher:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(TIMEOUT)
        self._said.close()


def collect(subscriber: libpubsub.Subscriber, publisher: Publisher, show: int) -> tuple[int, list[Record]]:
    """The number of records that arrived, and the first of them."""
    reader = libpubsub.zeek.RecordReader()
    first: list[Record] = []
    count = 0
    sent: Optional[int] = None
    while sent is None or count < sent:
        message = subscriber.get(timeout=0.1 if sent is None else TIMEOUT)
        if message is None:
            if sent is not None:
                break  # what is missing now is lost
            if publisher.ended():
                sent = publisher.sent()
            continue
        record = reader.feed(message)
        if record is not None:
            count += 1
            if len(first) < show:
                first.append(record)
    # Anything beyond what was sent is a duplicate.
    count += sum(reader.feed(message) is not None for message in subscriber.poll())
    return count, first


def text_of(value: Any) -> str:
    if value is None:
        return "-"
    return str(value)


def show_table(records: list[Record]) -> None:
    """The columns that fit the terminal, and how many do not."""
    names = list(records[0].values)
    rows = [[text_of(record.values.get(name)) for name in names] for record in records]
    widths = [max(len(name), *(len(row[i]) for row in rows)) for i, name in enumerate(names)]
    room = shutil.get_terminal_size((120, 24)).columns
    fitting = 0
    while fitting < len(names) and sum(widths[:fitting + 1]) + 2 * fitting <= room:
        fitting += 1
    fitting = max(fitting, 1)
    for row in [names, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row[:fitting], widths)).rstrip())
    if fitting < len(names):
        print(f"... and {len(names) - fitting} more columns")


def show_types(record: Record) -> None:
    print(f"\nThe first record of {record.path} as Python values:")
    for name, value in record.values.items():
        if value is not None:
            print(f"  {name:<16} {value!r}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE", help="a Zeek log, TSV or JSON")
    parser.add_argument("--pubsub", default="pubsub", metavar="PROGRAM", help="the command pubsub")
    parser.add_argument("--show", type=int, default=5, metavar="N", help="records to show (default 5)")
    options = parser.parse_args()

    with relay(options.pubsub) as first, relay(options.pubsub, peer=first) as second, \
            libpubsub.Endpoint() as endpoint:
        subscriber = endpoint.make_subscriber(libpubsub.zeek.RECORD_TOPIC)
        endpoint.peer(second, timeout=TIMEOUT)
        with Publisher(options.pubsub, first, options.file) as publisher:
            count, records = collect(subscriber, publisher, options.show)
            sent = publisher.sent()
    if records:
        show_table(records)
        show_types(records[0])
    verdict = "all of them, each once" if count == sent else "NOT the number sent"
    print(f"\nsent {sent} records, received {count} through two relays: {verdict}")
    return 0 if count == sent and count > 0 else 3


if __name__ == "__main__":
    sys.exit(main())
