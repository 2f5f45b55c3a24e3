# SPDX-License-Identifier: BSD-3-Clause
"""Log records as Arrow tables, typed by the columns that their logs announce::

    import libpubsub

    with libpubsub.Endpoint() as endpoint:
        endpoint.peer("tcp://relay.example:9999")
        with endpoint.make_subscriber("zeek/records/conn") as subscriber:
            table = libpubsub.to_arrow(subscriber, max_rows=100_000, timeout=60)
    table.to_pandas()  # or polars.from_arrow(table)

Needs the package ``pyarrow`` (``pip install 'libpubsub[arrow]'``). Each row is a record, and its columns are of these types:

==============================  =========================================================
Zeek                            Arrow
==============================  =========================================================
bool, int, count, double        bool, int64, uint64, double
time                            timestamp in nanoseconds, UTC
interval                        duration in nanoseconds
port                            uint16: the number
set[T], table[T], vector[T]     list of what T is
all others                      string, as Zeek writes it; bytes that are not UTF-8 as ``\\xNN``
==============================  =========================================================

What is unset is null.
"""

from __future__ import annotations

import importlib
import itertools
import re
import time
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, NamedTuple, Optional, Union

from ._core import Message
from .errors import Closed, DecodeError, InvalidArgument, NotSupported
from .zeek import Field, Record, Records
from .zeek.messages import LogReader

if TYPE_CHECKING:
    import pyarrow  # type: ignore # it says nothing of its types

    from .subscriber import Subscriber

    Source = Union[Subscriber, Records, Iterable[Message]]

__all__ = ["record_batches", "to_arrow"]

DEFAULT_BATCH_ROWS = 65_536
"""Rows of a record batch unless told otherwise."""

_CONTAINER = re.compile(r"(?:set|table|vector)\[(.*)\]")
_Convert = Callable[[Any], Any]


def to_arrow(source: Source, max_rows: Optional[int] = None, *, path: Optional[str] = None,
             timeout: Optional[float] = None) -> pyarrow.Table:
    """A table of the records that come from ``source``: a Subscriber of ``zeek/records/...`` or ``zeek/logs/...``, a
    ``zeek.Records``, or messages.

    Ends after ``max_rows`` rows, after ``timeout`` seconds with what has come by then, or when the source ends. ``path``
    names the log; the others' records are passed over then. Without it all have to be of one log. Columns that its log
    gains or loses meanwhile are null in the other rows. Without any record the table has no columns. Records that come
    before the columns of their log, which are announced again and again, are passed over; ``pubsub.skipped`` among the
    metadata of the schema says how many.

    Raises InvalidArgument for records of several logs without ``path``, for ``max_rows`` below 1, and where the end is never
    reached (a Subscriber without ``max_rows`` and ``timeout``); DecodeError for a value that is not of its column's type;
    NotSupported without ``pyarrow``.
    """
    arrow = _pyarrow()
    if max_rows is None and timeout is None and hasattr(source, "get"):
        raise InvalidArgument("to_arrow of a subscriber ends with max_rows or timeout: give one of them")
    reader = LogReader()
    tables = [arrow.Table.from_batches([each])
              for each in _batches(reader, source, max_rows, DEFAULT_BATCH_ROWS, path, timeout)]
    table = arrow.concat_tables(tables, promote_options="default") if tables else arrow.table({})
    return table.replace_schema_metadata({**(table.schema.metadata or {}), "pubsub.skipped": str(reader.skipped)})


def record_batches(source: Source, rows: int = DEFAULT_BATCH_ROWS, *, path: Optional[str] = None,
                   timeout: Optional[float] = None) -> Iterator[pyarrow.RecordBatch]:
    """Batches of up to ``rows`` records as they come, for what is written piece by piece, until the source ends or
    ``timeout`` seconds are over. All have the same schema until the columns of the log change. Arguments and errors else
    as of ``to_arrow``."""
    _pyarrow()
    return _batches(LogReader(), source, None, rows, path, timeout)


def _pyarrow() -> Any:
    try:
        return importlib.import_module("pyarrow")
    except ImportError:
        raise NotSupported("Arrow tables need the package pyarrow: pip install 'libpubsub[arrow]'") from None


class _Row(NamedTuple):
    record: Record
    fields: tuple[Field, ...]


def _rows_in(reader: LogReader, message: Message) -> list[_Row]:
    """Of messages of either kind."""
    return [_Row(each, reader.schemas[each.path]) for each in reader.feed(message.data)]


def _rows(reader: LogReader, source: Source, timeout: Optional[float]) -> Iterator[_Row]:
    get = getattr(source.subscriber if isinstance(source, Records) else source, "get", None)
    if get is None:
        for message in source:
            yield from _rows_in(reader, message)  # type: ignore[arg-type]
        return
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        try:
            message = get(None if end is None else max(0.0, end - time.monotonic()))
        except Closed:
            return
        if message is None:
            return
        yield from _rows_in(reader, message)


def _of_one_log(rows: Iterable[_Row], path: Optional[str]) -> Iterator[_Row]:
    """Those of the log that is meant: all, unless it is named."""
    first = None
    for row in rows:
        if path is not None:
            if row.record.path == path:
                yield row
            continue
        first = first or row.record.path
        if row.record.path != first:
            raise InvalidArgument(f"records of {row.record.path!r} among those of {first!r}: path= says which are meant")
        yield row


def _batches(reader: LogReader, source: Source, max_rows: Optional[int], rows: int, path: Optional[str],
             timeout: Optional[float]) -> Iterator[pyarrow.RecordBatch]:
    if rows < 1 or (max_rows is not None and max_rows < 1):
        raise InvalidArgument("a table has at least one row")
    batch: Optional[_Batch] = None
    for record, fields in itertools.islice(_of_one_log(_rows(reader, source, timeout), path), max_rows):
        if batch is not None and (batch.rows == rows or batch.fields != fields):
            yield batch.finish()
            batch = None
        batch = batch or _Batch(record.path, fields)
        batch.add(record.values)
    if batch is not None:
        yield batch.finish()


class _Batch:
    """Records of one log with the same columns, on their way to a record batch."""

    def __init__(self, path: str, fields: tuple[Field, ...]) -> None:
        self.fields = fields
        self.rows = 0
        self._path = path
        self._columns: list[list[Any]] = [[] for _ in fields]
        self._converts = [_converter(field.type) for field in fields]

    def add(self, values: dict[str, Any]) -> None:
        for column, convert, (name, value) in zip(self._columns, self._converts, values.items()):
            if value is not None:
                try:
                    value = convert(value)
                except (AttributeError, TypeError, ValueError) as problem:
                    raise self._misfit(name, value) from problem
            column.append(value)
        self.rows += 1

    def finish(self) -> pyarrow.RecordBatch:
        arrow = _pyarrow()
        arrays = []
        schema = []
        for field, values in zip(self.fields, self._columns):
            kind = _arrow_type(field.type)
            try:
                arrays.append(arrow.array(values, type=kind))
            except (arrow.ArrowInvalid, arrow.ArrowTypeError, OverflowError) as problem:
                raise DecodeError(f"column {field.name!r} of {self._path!r} is {field.type}: {problem}") from problem
            schema.append(arrow.field(field.name, kind, metadata={"zeek.type": field.type}))
        return arrow.record_batch(arrays, schema=arrow.schema(schema, metadata={"zeek.path": self._path}))

    def _misfit(self, name: str, value: Any) -> DecodeError:
        kind = next(field.type for field in self.fields if field.name == name)
        return DecodeError(f"column {name!r} of {self._path!r} is {kind}, and this is not: {value!r:.100}")


def _text(value: Any) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError("no number")
    return value


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("no bool")
    return value


_CONVERTERS: dict[str, tuple[str, _Convert]] = {
    "bool": ("bool_", _boolean),
    "int": ("int64", _number),
    "count": ("uint64", _number),
    "double": ("float64", _number),
    "time": ("time", lambda value: value.ns),
    "interval": ("interval", lambda value: value.ns),
    "port": ("uint16", lambda value: value.number),
}
_AS_TEXT: tuple[str, _Convert] = ("string", _text)


def _element_type(zeek_type: str) -> Optional[str]:
    """Of a set or a vector; None for anything else."""
    container = _CONTAINER.fullmatch(zeek_type)
    return None if container is None else container[1]


def _converter(zeek_type: str) -> _Convert:
    element = _element_type(zeek_type)
    if element is None:
        return _CONVERTERS.get(zeek_type, _AS_TEXT)[1]
    convert = _converter(element)

    def convert_all(values: Any) -> list[Any]:
        if not isinstance(values, (tuple, frozenset)):
            raise TypeError("no set or vector")
        return [None if each is None else convert(each) for each in values]

    return convert_all


def _arrow_type(zeek_type: str) -> Any:
    arrow = _pyarrow()
    element = _element_type(zeek_type)
    if element is not None:
        return arrow.list_(_arrow_type(element))
    name = _CONVERTERS.get(zeek_type, _AS_TEXT)[0]
    if name == "time":
        return arrow.timestamp("ns", tz="UTC")
    if name == "interval":
        return arrow.duration("ns")
    return getattr(arrow, name)()
