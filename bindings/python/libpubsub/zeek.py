"""Zeek's messages: events, and log records as ``pubsub pub --zeek-log`` publishes them.

Source: zeek-event, sections 1 and 2.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Iterable, Iterator, NamedTuple, Optional

from .errors import DecodeError
from .times import Timestamp
from .values import Count, PublishResult

if TYPE_CHECKING:
    from ._core import Message
    from .endpoint import Endpoint

RECORD_TOPIC = "zeek/records/"
"""Records of the log ``conn`` are published on ``zeek/records/conn``."""

_VERSION = Count(1)
_EVENT = Count(1)
_NETWORK_TIME = Count(1)  # id of the metadata entry that holds the time of the event
_FIELDS_EVENT = "log_fields"
_RECORD_PREFIX = "log_"


class Event:
    """A Zeek event: ``Event("Pkg::my_event", Count(1), "text", timestamp=Timestamp.now())``.

    ``args`` has one value for each parameter; Zeek converts nothing, so a ``count`` must be a Count and
    an enum an EnumValue. ``timestamp`` is the network time, None if there is none. Events can be
    published like any value.
    """

    __slots__ = ("name", "args", "timestamp")

    def __init__(self, name: str, *args: Any, timestamp: Optional[datetime] = None) -> None:
        self.name = name
        self.args = args
        self.timestamp = timestamp

    def to_data(self) -> tuple[Any, ...]:
        """The event as the vector that travels."""
        content: tuple[Any, ...] = (self.name, self.args)
        if self.timestamp is not None:
            content += (((_NETWORK_TIME, self.timestamp),),)
        return (_VERSION, _EVENT, content)

    @classmethod
    def from_data(cls, data: Any) -> Event:
        """The event in a received value. Raises DecodeError if it is none."""
        event = cls.parse(data)
        if event is None:
            raise DecodeError(f"not a Zeek event: {data!r:.200}")
        return event

    @classmethod
    def parse(cls, data: Any) -> Optional[Event]:
        """As ``from_data``, but None if it is no event."""
        content = _event_content(data)
        if content is None:
            return None
        timestamp = None
        for entry in content[2] if len(content) > 2 and isinstance(content[2], tuple) else ():
            if not (isinstance(entry, tuple) and len(entry) == 2):
                return None
            if entry[0] == _NETWORK_TIME and timestamp is None:
                timestamp = entry[1]
                if not isinstance(timestamp, Timestamp):
                    return None
        return cls(content[0], *content[1], timestamp=timestamp)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Event):
            return NotImplemented
        return (self.name, self.args, self.timestamp) == (other.name, other.args, other.timestamp)

    def __hash__(self) -> int:
        return hash((self.name, self.args, self.timestamp))

    def __repr__(self) -> str:
        parts = [repr(self.name), *map(repr, self.args)]
        if self.timestamp is not None:
            parts.append(f"timestamp={self.timestamp!r}")
        return f"Event({', '.join(parts)})"


def _event_content(data: Any) -> Optional[tuple[Any, ...]]:
    """``(name, args, ...)`` of a received event, None for anything else."""
    if not isinstance(data, tuple) or len(data) < 3 or data[0] != 1 or data[1] != 1:
        return None
    content = data[2]
    if (not isinstance(content, tuple) or len(content) < 2 or not isinstance(content[0], str)
            or not isinstance(content[1], tuple)):
        return None
    return content


def publish_event(endpoint: Endpoint, topic: str, name: str, *args: Any,
                  timestamp: Optional[datetime] = None) -> PublishResult:
    """Publishes an event; raises as ``Endpoint.publish`` does."""
    return endpoint.publish(topic, Event(name, *args, timestamp=timestamp))


class Field(NamedTuple):
    """A column of a log: its name and its type as Zeek writes it, such as ``id.orig_h`` and ``addr``."""

    name: str
    type: str


class Record(NamedTuple):
    """A record of a log: the log's path, such as ``conn``, and the values by column name."""

    path: str
    values: dict[str, Any]


class RecordReader:
    """Turns messages of the topics ``zeek/records/...`` into records.

    The columns of a log travel as an event of their own, ahead of its records and again from time to
    time, so a reader that starts in the middle sees records only once it knows their columns;
    ``skipped`` counts those before. Iterating ``RecordReader(subscriber)`` gives each record as a
    ``(path, values)`` pair; other messages are passed over.
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._messages = messages
        self.skipped = 0
        self.schemas: dict[str, tuple[Field, ...]] = {}
        """Columns by path, as announced last."""
        self._names: dict[str, tuple[str, ...]] = {}

    def feed(self, message: Message) -> Optional[Record]:
        """The record in ``message``; None if it holds none, or one whose columns are not known."""
        content = _event_content(message.data)
        if content is None:
            return None
        name, args = content[0], content[1]
        if name == _FIELDS_EVENT:
            self._learn(args)
            return None
        if not name.startswith(_RECORD_PREFIX) or len(args) != 1 or not isinstance(args[0], tuple):
            return None
        path = name[len(_RECORD_PREFIX):]
        names = self._names.get(path)
        if names is None or len(names) != len(args[0]):
            self.skipped += 1
            return None
        return Record(path, dict(zip(names, args[0])))

    def _learn(self, args: tuple[Any, ...]) -> None:
        if len(args) != 2 or not isinstance(args[0], str) or not isinstance(args[1], tuple):
            return
        fields = [Field(*field) for field in args[1] if isinstance(field, tuple) and len(field) == 2]
        if len(fields) == len(args[1]):
            self.schemas[args[0]] = tuple(fields)
            self._names[args[0]] = tuple(field.name for field in fields)

    def __iter__(self) -> Iterator[Record]:
        for message in self._messages:
            record = self.feed(message)
            if record is not None:
                yield record
