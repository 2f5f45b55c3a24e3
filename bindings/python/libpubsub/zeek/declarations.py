# SPDX-License-Identifier: BSD-3-Clause
"""The types that Zeek's scripts declare, and values of Python as values of these types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, Callable, NamedTuple, NoReturn, Optional

from ..errors import InvalidArgument
from ..times import Timespan, Timestamp
from ..values import Count, EnumValue, Port, Subnet

Convert = Callable[[Any], Any]
"""Turns a value into one of a type. Raises TypeError, ValueError or OverflowError where that cannot be."""


class Column(NamedTuple):
    """A parameter of an event, or a field of a record."""

    name: str
    convert: Convert
    optional: bool


class Declarations:
    """What scripts say of events and records: ``type``, ``global`` and ``event`` statements, others are passed over."""

    def __init__(self) -> None:
        self.events: dict[str, tuple[Column, ...]] = {}
        self._types: dict[str, Convert] = {}

    def add(self, text: str) -> None:
        """Learns from the text of a script. Raises InvalidArgument, with the line, where a declaration is not understood."""
        _Parser(text, self).read()

    def convert(self, event: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments as the event wants them; as they are where it is not declared. Raises InvalidArgument."""
        columns = self.events.get(event)
        if columns is None:
            return args
        if len(args) != len(columns):
            raise InvalidArgument(f"{event} has {len(columns)} parameters, not {len(args)}")
        return tuple(_converted(event, column, value) for column, value in zip(columns, args))

    def add_type(self, name: str, convert: Convert) -> None:
        self._types[name] = convert

    def type_named(self, *names: str) -> Convert:
        """Of a type that a script has given one of these names; it may be declared later. What is never declared is an enum,
        or something else of which Python's value has to say by itself what it is."""
        def convert(value: Any) -> Any:
            known = next((self._types[name] for name in names if name in self._types), _as_enum)
            return known(value)
        return convert


def _converted(where: str, column: Column, value: Any) -> Any:
    if value is None and column.optional:
        return None
    try:
        return column.convert(value)
    except (TypeError, ValueError, OverflowError) as problem:
        raise InvalidArgument(f"{where}: {column.name}: {problem}") from None


# -- values ------------------------------------------------------------------------------------------------------------


def _refuse(value: Any, kind: str) -> NoReturn:
    raise TypeError(f"{value!r:.100} is no {kind}")


def _as_bool(value: Any) -> Any:
    return value if isinstance(value, bool) else _refuse(value, "bool")


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _as_count(value: Any) -> Any:
    return Count(value) if _is_number(value) else _refuse(value, "count")


def _as_int(value: Any) -> Any:
    return int(value) if _is_number(value) else _refuse(value, "int")


def _as_double(value: Any) -> Any:
    return float(value) if isinstance(value, float) or _is_number(value) else _refuse(value, "double")


def _as_time(value: Any) -> Any:
    if isinstance(value, datetime):
        return value
    return Timestamp(round(value * 1e9)) if isinstance(value, float) or _is_number(value) else _refuse(value, "time")


def _as_interval(value: Any) -> Any:
    if isinstance(value, timedelta):
        return value
    return Timespan(round(value * 1e9)) if isinstance(value, float) or _is_number(value) else _refuse(value, "interval")


def _as_string(value: Any) -> Any:
    if isinstance(value, EnumValue):
        return str(value)
    return value if isinstance(value, (str, bytes)) else _refuse(value, "string")


def _as_enum(value: Any) -> Any:
    return EnumValue(value) if type(value) is str else value


def _as_addr(value: Any) -> Any:
    return ip_address(value) if isinstance(value, str) else value if hasattr(value, "packed") else _refuse(value, "addr")


def _as_subnet(value: Any) -> Any:
    if isinstance(value, str):
        return ip_network(value)
    return value if isinstance(value, (IPv4Network, IPv6Network, Subnet)) else _refuse(value, "subnet")


def _as_port(value: Any) -> Any:
    return Port.parse(value) if isinstance(value, str) else value if isinstance(value, Port) else _refuse(value, "port")


_SIMPLE: dict[str, Convert] = {
    "bool": _as_bool, "count": _as_count, "int": _as_int, "double": _as_double, "time": _as_time, "interval": _as_interval,
    "string": _as_string, "enum": _as_enum, "addr": _as_addr, "subnet": _as_subnet, "port": _as_port,
    "any": lambda value: value, "pattern": lambda value: value, "opaque": lambda value: value,
}


def _index_of(parts: list[Convert]) -> Convert:
    """Of sets and tables: one value, or a list of several."""
    if len(parts) == 1:
        return parts[0]

    def convert(value: Any) -> Any:
        if not isinstance(value, (tuple, list)) or len(value) != len(parts):
            raise TypeError(f"{value!r:.100} is not {len(parts)} values")
        return tuple(part(each) for part, each in zip(parts, value))
    return convert


def _set_of(parts: list[Convert]) -> Convert:
    index = _index_of(parts)

    def convert(value: Any) -> Any:
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
            return _refuse(value, "set")
        return frozenset(map(index, value))
    return convert


def _table_of(parts: list[Convert], element: Convert) -> Convert:
    index = _index_of(parts)

    def convert(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return _refuse(value, "table")
        return {index(key): element(each) for key, each in value.items()}
    return convert


def _vector_of(element: Convert) -> Convert:
    def convert(value: Any) -> Any:
        if isinstance(value, (str, bytes, Mapping, set, frozenset)) or not isinstance(value, Iterable):
            return _refuse(value, "vector")
        return tuple(map(element, value))
    return convert


def _record_of(columns: tuple[Column, ...]) -> Convert:
    """Fields by name, with those that are optional left out or None; or all of them in order."""
    names = {column.name for column in columns}

    def convert(value: Any) -> Any:
        if isinstance(value, Mapping):
            unknown = [name for name in value if name not in names]
            missing = [column.name for column in columns if not column.optional and value.get(column.name) is None]
            if unknown or missing:
                raise ValueError(f"no field {unknown[0]!r}" if unknown else f"the field {missing[0]!r} is missing")
            value = [value.get(column.name) for column in columns]
        elif not isinstance(value, (tuple, list)) or len(value) != len(columns):
            raise TypeError(f"{value!r:.100} is no record of {len(columns)} fields")
        return tuple(_converted("record", column, each) for column, each in zip(columns, value))
    return convert


# -- scripts -----------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r'\s+|#[^\n]*|(?P<word>[A-Za-z_][A-Za-z0-9_]*(?:::[A-Za-z_][A-Za-z0-9_]*)*)|(?P<text>"(?:[^"\\]|\\.)*")'
                    r'|(?P<other>[^\s])')


class _Parser:
    def __init__(self, text: str, known: Declarations) -> None:
        self._known = known
        self._tokens = [(m.group(m.lastgroup), text.count("\n", 0, m.start()) + 1)
                        for m in _TOKEN.finditer(text) if m.lastgroup]
        self._next = 0
        self._module = ""

    def read(self) -> None:
        while self._next < len(self._tokens):
            word = self._take()
            if word == "module":
                self._module = self._take()
            elif word == "type" and self._ahead(1) == ":":
                name = self._qualified(self._take())
                self._expect(":")
                self._known.add_type(name, self._type())
            elif word == "global" and self._ahead(1) == ":" and self._ahead(2) == "event":
                name = self._qualified(self._take())
                self._expect(":")
                self._expect("event")
                self._known.events[name] = self._columns("(", ")")
            elif word == "event" and self._ahead(1) == "(" and (self._ahead(2) == ")" or self._ahead(3) == ":"):
                name = self._take()
                columns = self._columns("(", ")")
                if self._ahead(0) != ";":  # with a `;` an event is raised, not handled
                    self._known.events.setdefault(name, columns)

    def _columns(self, opening: str, closing: str) -> tuple[Column, ...]:
        self._expect(opening)
        columns = []
        while self._ahead(0) != closing:
            name = self._take()
            self._expect(":")
            convert = self._type()
            columns.append(Column(name, convert, self._attributes()))
            while self._ahead(0) in (",", ";"):
                self._take()
        self._expect(closing)
        return tuple(columns)

    def _attributes(self) -> bool:
        """Whether ``&optional`` or ``&default`` is among them."""
        optional = False
        while self._ahead(0) == "&":
            self._take()
            optional = self._take() in ("optional", "default") or optional
            if self._ahead(0) == "=":  # an expression, up to what ends the column
                depth = 0
                while depth > 0 or self._ahead(0) not in (",", ";", ")", "}", "&"):
                    depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(self._take(), 0)
        return optional

    def _type(self) -> Convert:
        word = self._take()
        if word == "set":
            return _set_of(self._index())
        if word == "table":
            index = self._index()
            self._expect("of")
            return _table_of(index, self._type())
        if word == "vector":
            self._expect("of")
            return _vector_of(self._type())
        if word == "record":
            return _record_of(self._columns("{", "}"))
        if word == "opaque":
            self._expect("of")
            self._take()
        if word == "enum" and self._ahead(0) == "{":
            while self._take() != "}":
                pass
        if not re.match(r"[A-Za-z_]", word):
            self._fail(f"{word!r} where a type should be")
        return _SIMPLE.get(word) or self._known.type_named(self._qualified(word), word)

    def _index(self) -> list[Convert]:
        self._expect("[")
        parts = [self._type()]
        while self._ahead(0) == ",":
            self._take()
            parts.append(self._type())
        self._expect("]")
        return parts

    def _qualified(self, name: str) -> str:
        return name if "::" in name or self._module in ("", "GLOBAL") else f"{self._module}::{name}"

    def _ahead(self, steps: int) -> Optional[str]:
        at = self._next + steps
        return self._tokens[at][0] if at < len(self._tokens) else None

    def _take(self) -> str:
        if self._next >= len(self._tokens):
            self._fail("the text ends within a declaration")
        self._next += 1
        return self._tokens[self._next - 1][0]

    def _expect(self, token: str) -> None:
        found = self._ahead(0)
        if found != token:
            self._fail(f"{'the end' if found is None else repr(found)} where {token!r} should be")
        self._next += 1

    def _fail(self, why: str) -> NoReturn:
        line = self._tokens[min(self._next, len(self._tokens) - 1)][1] if self._tokens else 1
        raise InvalidArgument(f"line {line}: {why}")
