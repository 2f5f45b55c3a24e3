# SPDX-License-Identifier: BSD-3-Clause
"""For `pubsub sub --format arrow` and `parquet`: ``python -m libpubsub._table_file arrow|parquet FILE`` writes the messages on
stdin into a file."""

from __future__ import annotations

import importlib
import itertools
import signal
import struct
import sys
from typing import TYPE_CHECKING, Any, BinaryIO, Iterator, NamedTuple

from ._core import decode
from .arrow import record_batches
from .errors import NotSupported, PubsubError

if TYPE_CHECKING:
    import pyarrow  # type: ignore # it says nothing of its types


class PipedMessage(NamedTuple):
    topic: str
    data: Any


def piped_messages(pipe: BinaryIO) -> Iterator[Any]:
    """What `pubsub sub` writes: of each message the sizes of topic and value, as eight bytes, then both."""
    while len(sizes := pipe.read(8)) == 8:
        of_topic, of_value = struct.unpack("<II", sizes)
        topic = pipe.read(of_topic).decode()
        yield PipedMessage(topic, decode(pipe.read(of_value)))


def write(form: str, file: str, batches: Iterator[pyarrow.RecordBatch]) -> None:
    first = next(batches, None)
    if first is None:
        raise NotSupported("no record has come, so there is nothing to write")
    with open_writer(form, file, first.schema) as writer:
        for batch in itertools.chain([first], batches):
            if batch.schema != first.schema:
                raise NotSupported("the columns of the log have changed, and a file has one schema; it ends before that")
            writer.write_batch(batch)


def open_writer(form: str, file: str, schema: pyarrow.Schema) -> Any:
    if form == "parquet":
        return importlib.import_module("pyarrow.parquet").ParquetWriter(file, schema)
    return importlib.import_module("pyarrow.ipc").new_stream(sys.stdout.buffer if file == "-" else file, schema)


def main() -> int:
    """Returns the status to exit with."""
    form, file = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with its input, and finishes the file
    try:
        write(form, file, record_batches(piped_messages(sys.stdin.buffer)))
    except (PubsubError, OSError) as problem:
        print(f"pubsub: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
