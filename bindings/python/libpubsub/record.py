# SPDX-License-Identifier: BSD-3-Clause
"""Recordings: messages in MCAP files, written and read.

>>> from libpubsub import record
>>> with record.Writer("traffic.mcap") as writer:
...     writer.write_data("zeek/conn", [1, "two", 3.0])
>>> with record.Reader("traffic.mcap") as reader:
...     for message in reader:
...         print(message.topic, message.data)
zeek/conn (1, 'two', 3.0)

Any MCAP reader reads these files. This module is not imported by ``import libpubsub``; it raises ImportError
where the package was built without zstd.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Optional, Union

from . import _core
from ._closing import Closing
from ._core import Message
from .times import Timestamp

try:
    from ._core import RecordedMessage
except ImportError:
    raise ImportError("this libpubsub was built without zstd, which recordings need (Debian: libzstd-dev)") from None

__all__ = ["Gap", "Reader", "RecordedMessage", "Summary", "TopicSummary", "Writer", "summarize"]

Path = Union[str, "os.PathLike[str]"]


class Reader(_core.RecordReader, Closing):
    """Reads the messages of an MCAP file, in the order in which they were written.

    Iterate it (``for message in reader``), or call ``read``, which returns None at the end. Each is a
    RecordedMessage with ``topic``, ``data``, ``origin``, ``sequence``, ``log_time`` and ``publish_time``. Only topics
    that begin with one of ``topics`` are read, and what was recorded from ``start`` on and before ``end``; a file with an
    index is read only where that can be. A file that breaks off, as after a crash, is read up to there; ``damage`` then
    says where. What cannot be read raises DecodeError, NotSupported or LimitExceeded with the place in the file, and
    reading goes on behind it if that is caught. Raises FileError if there is no file, and PubsubError if it is none of
    this format.
    """

    def __init__(self, path: Path, *, topics: Sequence[str] = ("",), start: Optional[datetime] = None,
                 end: Optional[datetime] = None) -> None:
        if isinstance(topics, str):
            topics = (topics,)
        super().__init__(os.fspath(path), list(topics), start, end)

    def __iter__(self) -> Reader:
        return self

    def __next__(self) -> RecordedMessage:
        message = self.read()
        if message is None:
            raise StopIteration
        return message

    def __repr__(self) -> str:
        return f"Reader(path={self.path!r})"


class Writer(_core.RecordWriter, Closing):
    """Writes messages to an MCAP file; as a context manager it closes itself.

    ``write`` takes messages of a subscriber, with their origin, and those of a Reader, with their times as well;
    ``write_data`` any value. With ``format="json"`` what subscribers have received becomes JSON, for viewers: reals are
    rounded. ``level`` is that of zstd, 0 for none. Messages are compressed and written ``chunk_bytes`` at a time, or what
    comes in ``chunk_seconds``; a process that is killed loses the last of these chunks. A file ends when it has
    ``split_bytes``, or its messages span ``split_seconds``; then the files are called NAME-0001.mcap and so on. A file
    that exists is only overwritten with ``replace``. ``about`` is what the file says about itself. Raises FileError,
    InvalidArgument.
    """

    def __init__(self, path: Path, *, format: str = "bin", level: int = 1, chunk_bytes: int = 1 << 20,
                 chunk_seconds: float = 1.0, split_bytes: int = 0, split_seconds: float = 0.0, replace: bool = False,
                 about: Optional[Mapping[str, str]] = None) -> None:
        super().__init__(os.fspath(path), format, level, chunk_bytes, chunk_seconds, split_bytes, split_seconds, replace,
                         dict(about or {}))

    def write(self, message: Union[Message, RecordedMessage], log_time: Optional[datetime] = None) -> None:
        """Records a message; ``log_time`` is now if it is not given, and that of the recording for a RecordedMessage."""
        if isinstance(message, RecordedMessage):
            self.write_recorded(message)
        else:
            self.write_message(message, log_time)

    def __repr__(self) -> str:
        return f"Writer(path={self.path!r}, messages={self.messages})"


@dataclass(frozen=True)
class TopicSummary:
    """A topic of a recording; ``streams`` publishers are told apart on it."""

    topic: str
    encoding: str
    messages: int
    streams: int


@dataclass(frozen=True)
class Gap:
    """Messages that the recorder noted as missing: they did not arrive, or it dropped them."""

    when: Timestamp
    missed: int
    dropped: int


@dataclass(frozen=True)
class Summary:
    """What is in a recording. ``damage`` is empty if the file is whole; ``first`` and ``last`` are times of recording."""

    path: str
    library: str
    file_bytes: int
    indexed: bool
    damage: str
    messages: int
    chunks: int
    compression: str
    compressed_bytes: int
    uncompressed_bytes: int
    first: Optional[Timestamp]
    last: Optional[Timestamp]
    topics: tuple[TopicSummary, ...] = ()
    gaps: tuple[Gap, ...] = ()
    about: Mapping[str, str] = field(default_factory=dict)


def summarize(path: Path) -> Summary:
    """Says what is in a recording: by its index, or by reading all of it. Raises as Reader does."""
    found = _core.summarize_recording(os.fspath(path))
    found["topics"] = tuple(TopicSummary(*each) for each in found["topics"])
    found["gaps"] = tuple(Gap(*each) for each in found["gaps"])
    return Summary(**found)
