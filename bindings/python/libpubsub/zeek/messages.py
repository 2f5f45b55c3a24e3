# SPDX-License-Identifier: BSD-3-Clause
"""Events, logs and batches as Zeek sends them, and log records as ``pubsub pub --zeek-log`` does."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, NamedTuple, Optional, Union, cast

from .._core import event_reader, parse_log_values
from ..errors import DecodeError, InvalidArgument, PubsubError
from ..times import Timestamp
from ..values import Count, EnumValue, PublishResult

if TYPE_CHECKING:
    from .._core import Message
    from ..endpoint import Endpoint

RECORD_TOPIC = "zeek/records/"
"""Records of the log ``conn`` are published on ``zeek/records/conn``."""

_VERSION = Count(1)
_EVENT = Count(1)
# Ids of metadata entries. Zeek keeps those below 200 to itself; the last two are "tp" and "ts" in ASCII.
_NETWORK_TIME = Count(1)
_TRACEPARENT = Count(0x7470)
_TRACESTATE = Count(0x7473)
_TRACEPARENT_FORM = re.compile("00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_TRACESTATE_FORM = re.compile("[ -~]{1,512}")
_FIELDS_EVENT = "log_fields"
_RECORD_PREFIX = "log_"


class Event:
    """A Zeek event: ``Event("Pkg::my_event", Count(1), "text", timestamp=Timestamp.now())``.

    ``args`` has one value for each parameter; Zeek converts nothing, so a ``count`` must be a Count and
    an enum an EnumValue. ``timestamp`` is the network time, None if there is none. ``traceparent`` and
    ``tracestate`` say where the event belongs in a distributed trace. ``topic`` is where it has come on, None if it was made
    here. Events can be published like any value.
    """

    __slots__ = ("name", "args", "timestamp", "topic", "_traceparent", "_tracestate")

    def __init__(self, name: str, *args: Any, timestamp: Optional[datetime] = None, traceparent: Optional[str] = None,
                 tracestate: Optional[str] = None) -> None:
        self.name = name
        self.args = args
        self.timestamp = timestamp
        self.topic: Optional[str] = None
        self.traceparent = traceparent
        self.tracestate = tracestate

    @property
    def traceparent(self) -> Optional[str]:
        """The trace and the span that the event comes from, as in W3C Trace Context, version 00; None if it says none, or
        nothing valid. Setting raises InvalidArgument for anything else but None."""
        return self._traceparent

    @traceparent.setter
    def traceparent(self, value: Optional[str]) -> None:
        if value is not None and not _has_form(_TRACEPARENT_FORM, value):
            raise InvalidArgument(f"no traceparent: {value!r:.100}; it is 00-, 32 and 16 digits and 2 of flags between dashes, "
                                  "hexadecimal in lower case, and neither number is 0")
        self._traceparent = value

    @property
    def tracestate(self) -> Optional[str]:
        """What tracers add to ``traceparent``, without which it does not travel; None if there is nothing, or nothing
        valid. Setting raises InvalidArgument for anything but None or up to 512 printable ASCII characters."""
        return self._tracestate

    @tracestate.setter
    def tracestate(self, value: Optional[str]) -> None:
        if value is not None and not _has_form(_TRACESTATE_FORM, value):
            raise InvalidArgument(f"no tracestate: {value!r:.100}; it is 1 to 512 printable ASCII characters")
        self._tracestate = value

    def to_data(self) -> tuple[Any, ...]:
        """The event as the vector that travels."""
        metadata: list[tuple[Count, Any]] = []
        if self.timestamp is not None:
            metadata.append((_NETWORK_TIME, self.timestamp))
        if self.traceparent is not None:
            metadata.append((_TRACEPARENT, self.traceparent))
            if self.tracestate is not None:
                metadata.append((_TRACESTATE, self.tracestate))
        content: tuple[Any, ...] = (self.name, self.args)
        return (_VERSION, _EVENT, (*content, tuple(metadata)) if metadata else content)

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
        metadata: dict[Any, Any] = {}
        for entry in content[2] if len(content) > 2 and isinstance(content[2], tuple) else ():
            if not (isinstance(entry, tuple) and len(entry) >= 2):
                return None
            if entry[0] in (_NETWORK_TIME, _TRACEPARENT, _TRACESTATE):
                metadata.setdefault(entry[0], entry[1])  # the first entry of an id counts
        timestamp, parent, state = map(metadata.get, (_NETWORK_TIME, _TRACEPARENT, _TRACESTATE))
        if _NETWORK_TIME in metadata and not isinstance(timestamp, Timestamp):
            return None
        event = cls(content[0], *content[1], timestamp=timestamp)
        if _has_form(_TRACEPARENT_FORM, parent):
            event._traceparent = parent
            event._tracestate = state if _has_form(_TRACESTATE_FORM, state) else None
        return event

    def _key(self) -> tuple[Any, ...]:
        return (self.name, self.args, self.timestamp, self.traceparent, self.tracestate)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Event) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        parts = [repr(self.name), *map(repr, self.args)]
        for name in ("timestamp", "traceparent", "tracestate"):
            if (value := getattr(self, name)) is not None:
                parts.append(f"{name}={value!r}")
        return f"Event({', '.join(parts)})"


read_event: Callable[[Message], Optional[Event]] = event_reader(Event)
"""The event in a message, with its topic; as ``Event.parse`` of the message's data, but faster."""


def _has_form(form: re.Pattern[str], x: Any) -> bool:
    return _is_text(x) and form.fullmatch(x) is not None


def _event_content(data: Any) -> Optional[tuple[Any, ...]]:
    """``(name, args, ...)`` of a received event, None for anything else."""
    if not isinstance(data, tuple) or len(data) < 3 or data[0] != 1 or data[1] != 1:
        return None
    content = data[2]
    if (not isinstance(content, tuple) or len(content) < 2 or not isinstance(content[0], str)
            or not isinstance(content[1], tuple)):
        return None
    return content


def publish_event(endpoint: Endpoint, topic: str, name: str, *args: Any, timestamp: Optional[datetime] = None,
                  traceparent: Optional[str] = None, tracestate: Optional[str] = None) -> PublishResult:
    """Publishes an event; raises as ``Event`` and ``Endpoint.publish`` do."""
    return endpoint.publish(topic, Event(name, *args, timestamp=timestamp, traceparent=traceparent, tracestate=tracestate))


class Field(NamedTuple):
    """A column of a log: its name and its type as Zeek writes it, such as ``id.orig_h`` and ``addr``."""

    name: str
    type: str


class Record(NamedTuple):
    """A record of a log: the log's path, such as ``conn``, and the values by column name."""

    path: str
    values: dict[str, Any]


class _EventRecords:
    """Records that travel as events: ``log_fields`` announces the columns of a log, ``log_<path>`` has the values."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self._messages = messages
        self.skipped = 0
        self.schemas: dict[str, tuple[Field, ...]] = {}
        """Columns by path, as announced last; ahead of the next announcement those of the record that was read last."""
        self._announced: dict[str, tuple[tuple[Field, ...], tuple[str, ...]]] = {}

    def _take(self, name: str, args: tuple[Any, ...]) -> Optional[Record]:
        """The record in an event; None if it holds none, or one whose columns are not known."""
        if name == _FIELDS_EVENT:
            self._learn(args)
            return None
        if not name.startswith(_RECORD_PREFIX) or len(args) != 1 or not isinstance(args[0], tuple):
            return None
        path = name[len(_RECORD_PREFIX):]
        fields, names = self._announced.get(path, ((), ()))
        if not names or len(names) != len(args[0]):
            self.skipped += 1
            return None
        self.schemas[path] = fields  # which a LogCreate may have replaced
        return Record(path, dict(zip(names, args[0])))

    def _learn(self, args: tuple[Any, ...]) -> None:
        if len(args) != 2 or not isinstance(args[0], str) or not isinstance(args[1], tuple):
            return
        fields = tuple(Field(*field) for field in args[1] if isinstance(field, tuple) and len(field) == 2)
        if len(fields) == len(args[1]):
            self.schemas[args[0]] = fields
            self._announced[args[0]] = (fields, tuple(field.name for field in fields))


class RecordReader(_EventRecords):
    """Turns messages of the topics ``zeek/records/...`` into records.

    The columns of a log travel as an event of their own, ahead of its records and again from time to
    time, so a reader that starts in the middle sees records only once it knows their columns;
    ``skipped`` counts those before. Iterating ``RecordReader(subscriber)`` gives each record as a
    ``(path, values)`` pair; other messages are passed over.
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        super().__init__(messages)

    def feed(self, message: Message) -> Optional[Record]:
        """The record in ``message``; None if it holds none, or one whose columns are not known."""
        content = _event_content(message.data)
        return None if content is None else self._take(content[0], content[1])

    def __iter__(self) -> Iterator[Record]:
        for message in self._messages:
            record = self.feed(message)
            if record is not None:
                yield record


class LogCreate(NamedTuple):
    """Zeek announces a log: what its records hold. It sends one to each new peer, unasked, ahead of the records."""

    stream: EnumValue
    """Such as ``Conn::LOG``."""
    writer: EnumValue
    """Such as ``Log::WRITER_ASCII``."""
    path: str
    """Where the log goes, such as ``conn``; empty where the sender does not tell."""
    fields: tuple[Field, ...]
    """The columns; types as in the header of a log, such as ``count`` or ``set[addr]``."""


class LogWrite(NamedTuple):
    """One record of a log. Its columns have no names here: they are those of the LogCreate with the same names."""

    stream: EnumValue
    writer: EnumValue
    path: str
    serialized: bytes
    """The record in Zeek's own binary format."""

    def values(self) -> tuple[Any, ...]:
        """One value for each column, None where it is unset; times and intervals are exact to what a double in seconds
        holds. Raises DecodeError where the bytes are no record."""
        return cast("tuple[Any, ...]", parse_log_values(self.serialized))


class IdentifierUpdate(NamedTuple):
    """A global variable of Zeek's scripts and its new value."""

    id: str
    value: Any


ZeekMessage = Union[Event, LogCreate, LogWrite, IdentifierUpdate]


def parse_messages(data: Any) -> list[ZeekMessage]:
    """The Zeek messages in a received value: one, or those of a batch, in their order.

    Elements beyond those known are ignored, as in Zeek; one bad member makes a batch bad. Raises DecodeError, which says
    what is wrong, for anything else.
    """
    found: list[ZeekMessage] = []
    _append_messages(found, data)
    return found


def _append_messages(found: list[ZeekMessage], data: Any) -> None:
    if not isinstance(data, tuple) or len(data) < 3 or data[0] != _VERSION:
        raise DecodeError(f"not a Zeek message: {data!r:.200}")
    kind, content = data[1], data[2]
    if not isinstance(kind, int) or not isinstance(content, tuple):
        raise DecodeError(f"a Zeek message without type or content: {data!r:.200}")
    if kind == _BATCH:
        for member in content:
            _append_messages(found, member)
    elif kind in _READERS:
        found.append(_READERS[kind](data))
    else:
        raise DecodeError(f"a Zeek message of unknown type: {data!r:.200}")


def _names(message: str, content: tuple[Any, ...]) -> tuple[EnumValue, EnumValue]:
    if len(content) < 4 or not isinstance(content[0], EnumValue) or not isinstance(content[1], EnumValue):
        raise DecodeError(f"a {message} without stream and writer: {content!r:.200}")
    return content[0], content[1]


def _is_text(x: Any) -> bool:
    return isinstance(x, str) and not isinstance(x, EnumValue)


def _read_log_create(data: Any) -> LogCreate:
    content = data[2]
    stream, writer = _names("LogCreate", content)
    info, columns = content[2], content[3]
    path = info[0] if isinstance(info, tuple) and info and _is_text(info[0]) else ""
    if not isinstance(columns, tuple):
        raise DecodeError(f"a LogCreate without fields: {content!r:.200}")
    return LogCreate(stream, writer, path, tuple(map(_read_column, columns)))


def _read_column(column: Any) -> Field:
    if (isinstance(column, tuple) and len(column) >= 4 and _is_text(column[0])
            and _is_type_number(column[2]) and _is_type_number(column[3])):
        kind, element = _TYPE_NAMES[column[2]], _TYPE_NAMES[column[3]]
        container = {"table": "set", "vector": "vector"}.get(kind)
        return Field(column[0], f"{container}[{element}]" if container else kind)
    raise DecodeError(f"a field of a LogCreate that is malformed: {column!r:.200}")


def _is_type_number(x: Any) -> bool:
    return isinstance(x, int) and not isinstance(x, bool) and 0 <= x < len(_TYPE_NAMES)


def _read_log_write(data: Any) -> LogWrite:
    content = data[2]
    stream, writer = _names("LogWrite", content)
    path, serialized = content[2], content[3]
    if not _is_text(path) or not (_is_text(serialized) or isinstance(serialized, bytes)):
        raise DecodeError(f"a LogWrite without path or record: {content!r:.200}")
    return LogWrite(stream, writer, path, serialized if isinstance(serialized, bytes) else serialized.encode())


def _read_identifier_update(data: Any) -> IdentifierUpdate:
    content = data[2]
    if len(content) < 2 or not _is_text(content[0]):
        raise DecodeError(f"an IdentifierUpdate without a name: {content!r:.200}")
    return IdentifierUpdate(content[0], content[1])


_READERS: dict[int, Callable[[Any], ZeekMessage]] = {
    1: Event.from_data, 2: _read_log_create, 3: _read_log_write, 4: _read_identifier_update,
}
_BATCH = 5
_TYPE_NAMES = ("void", "bool", "int", "count", "double", "time", "interval", "string", "pattern", "enum", "port", "addr",
               "subnet", "any", "table", "record", "list", "func", "file", "vector", "opaque", "type", "error")


class LogReader(_EventRecords):
    """Turns what comes on ``zeek/logs/...`` into records: ``LogReader(subscriber)``.

    They come in two forms, which may be mixed. A Zeek that logs over Broker announces a log to each new peer, and then
    sends its records, many of them in a batch. The library's cluster backend for Zeek sends each record as an event, as on
    ``zeek/records/...`` (RecordReader), which this reads as well. Iterating gives each record as a ``(path, values)`` pair;
    other messages are passed over. ``skipped`` counts records whose columns were not announced, or that are malformed.
    """

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        super().__init__(messages)
        self._created: dict[tuple[str, str, str], tuple[tuple[Field, ...], tuple[str, ...]]] = {}

    def feed(self, data: Any) -> list[Record]:
        """The records in a received value; none in one that is no message of Zeek's."""
        content = _event_content(data)
        if content is not None:
            record = self._take(content[0], content[1])
            return [] if record is None else [record]
        try:
            found = parse_messages(data)
        except DecodeError:
            return []
        records = []
        for each in found:
            if isinstance(each, LogCreate):
                self.schemas[each.path] = each.fields
                self._created[each[:3]] = (each.fields, tuple(field.name for field in each.fields))
                continue
            record = None
            if isinstance(each, LogWrite):
                record = self._written(each)
                self.skipped += record is None
            elif isinstance(each, Event):
                record = self._take(each.name, each.args)
            if record is not None:
                records.append(record)
        return records

    def _written(self, write: LogWrite) -> Optional[Record]:
        fields, names = self._created.get(write[:3], ((), ()))
        try:
            values = write.values()
        except PubsubError:
            return None
        if not names or len(names) != len(values):
            return None
        self.schemas[write.path] = fields  # which log_fields may have replaced
        return Record(write.path, dict(zip(names, values)))

    def __iter__(self) -> Iterator[Record]:
        for message in self._messages:
            yield from self.feed(message.data)
