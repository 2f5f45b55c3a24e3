# SPDX-License-Identifier: BSD-3-Clause
"""Conditions on the content of messages: as text, or built with Python's operators."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any, Iterable, Tuple, Union

from . import _core
from .times import Timespan, Timestamp
from .values import EnumValue, Port, Subnet

_NS_PER_SECOND = 1_000_000_000
_Columns = Iterable[Union[str, Tuple[str, str]]]


class Expression:
    """A part of a condition. Combine parts with ``&``, ``|`` and ``~``, not with ``and``, ``or`` and ``not``, which Python
    keeps to itself: asking whether an expression is true raises TypeError."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __and__(self, other: Expression) -> Expression:
        return Expression(f"({self.text}) && ({_expression(other)})")

    def __or__(self, other: Expression) -> Expression:
        return Expression(f"({self.text}) || ({_expression(other)})")

    def __invert__(self) -> Expression:
        return Expression(f"!({self.text})")

    def __bool__(self) -> bool:
        raise TypeError("an expression is neither true nor false here: combine expressions with &, | and ~")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"


class Pattern:
    """What a value can be other than equal to something: made by ``prefix``, ``between`` and ``regex``."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"Pattern({self.text})"


class Field:
    """What a condition looks at: ``field("id.resp_p") == Port(443, "tcp")``. Made by ``field``, ``position`` and ``topic_part``;
    ``EVENT``, ``TOPIC``, ``SIZE`` and ``VALUE`` are there.

    Compare with ``==``, ``!=``, ``<``, ``<=``, ``>`` and ``>=``; see ``is_in``, ``has``, ``exists`` and ``sample``.
    """

    __slots__ = ("text",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return Expression(f"{self.text} == {_literal(other)}")

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return Expression(f"{self.text} != {_literal(other)}")

    def __lt__(self, other: Any) -> Expression:
        return Expression(f"{self.text} < {_literal(other)}")

    def __le__(self, other: Any) -> Expression:
        return Expression(f"{self.text} <= {_literal(other)}")

    def __gt__(self, other: Any) -> Expression:
        return Expression(f"{self.text} > {_literal(other)}")

    def __ge__(self, other: Any) -> Expression:
        return Expression(f"{self.text} >= {_literal(other)}")

    def is_in(self, *patterns: Any) -> Expression:
        """Whether it is one of ``patterns``: a value, a network (for an address or a subnet in it), or what ``prefix``,
        ``between`` or ``regex`` makes. One iterable of them will do."""
        return Expression(f"{self.text} in {_patterns(patterns)}")

    def has(self, *patterns: Any) -> Expression:
        """Whether it is a set, a vector or a table, and a member or a key is one of ``patterns``."""
        return Expression(f"{self.text} has {_patterns(patterns)}")

    def exists(self) -> Expression:
        """Whether there is a value."""
        return Expression(f"exists({self.text})")

    def sample(self, keep: int, of: int) -> Expression:
        """Of all values of the field ``keep`` in ``of``, by a hash: the same ones every time, so that flows stay whole."""
        return Expression(f"{keep:d} in {of:d} by {self.text}")

    def __repr__(self) -> str:
        return f"Field({self.text})"


def field(name: str) -> Field:
    """A column of records, by its name."""
    return Field(_quoted(name, "`"))


def position(first: int, *inner: int) -> Field:
    """A member of the record, counted from 0: a column, an argument of an event, a member of a vector; a member of that."""
    return Field("$" + ".".join(f"{number:d}" for number in (first, *inner)))


def topic_part(number: int) -> Field:
    """A part of the topic, counted from 0; parts have slashes between them."""
    return Field(f"@topic.{number:d}")


EVENT = Field("@event")
"""The name of a Zeek event."""
TOPIC = Field("@topic")
"""The topic of the message."""
SIZE = Field("@size")
"""Bytes of the encoded value."""
VALUE = Field("$")
"""The value of the message."""


def prefix(text: str) -> Pattern:
    """Strings, and labels of enums, that begin with ``text``."""
    return Pattern(_quoted(text, '"') + "*")


def between(first: Any, last: Any) -> Pattern:
    """Values from ``first`` to ``last``, both of them included."""
    return Pattern(f"{_literal(first)}..{_literal(last)}")


def regex(expression: str) -> Pattern:
    """Strings, and labels of enums, in which RE2 finds the expression."""
    text, position = [], 0
    while position < len(expression):
        if expression[position] == "\\" and position + 1 < len(expression):
            text.append(expression[position:position + 2])
            position += 2
        else:
            text.append("\\/" if expression[position] == "/" else expression[position])
            position += 1
    return Pattern(f"/{''.join(text)}/")


class Condition(_core.Condition):
    """Which messages of its topics a subscriber gets, as in ``docs/reference/conditions.md``.

    ``where``: the text, e.g. ``"id.resp_p == 443/tcp && orig_bytes > 1000"``, or an expression:
    ``(field("id.resp_p") == Port(443, "tcp")) & (field("orig_bytes") > 1000)``. ``unknown``: whether messages pass of which the
    condition cannot be answered, since nobody has announced a column that it names. ``columns``: those of the records, a name
    or a pair of name and type as Zeek writes it for each; by default the columns that are announced on the topic.
    Raises InvalidArgument, which shows the place in the text, LimitExceeded, NotSupported (a regular expression in a build
    without RE2).
    """

    def __init__(self, where: Union[str, Expression], *, unknown: bool = False, columns: _Columns = ()) -> None:
        pairs = [(each, "") if isinstance(each, str) else (each[0], each[1]) for each in columns]
        super().__init__(where if isinstance(where, str) else _expression(where), unknown, pairs)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Condition) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> Tuple[Any, ...]:
        return self.text, self.unknown, tuple(self.columns)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Condition({self.text!r})"


def condition_of(where: Union[str, Expression, Condition, None]) -> Union[Condition, None]:
    """A condition of what ``make_subscriber`` takes for one."""
    return where if where is None or isinstance(where, Condition) else Condition(where)


def _expression(x: object) -> str:
    if not isinstance(x, Expression):
        raise TypeError(f"not an expression: {x!r:.100}")
    return x.text


def _patterns(patterns: Tuple[Any, ...]) -> str:
    if len(patterns) == 1 and isinstance(patterns[0], (list, tuple, set, frozenset)):
        patterns = tuple(patterns[0])
    return "{" + ", ".join(each.text if isinstance(each, Pattern) else _literal(each) for each in patterns) + "}"


def _quoted(text: str, quote: str) -> str:
    escaped = "".join(f"\\{c}" if c in ("\\", quote) else c if " " <= c else f"\\x{ord(c):02x}" for c in text)
    return quote + escaped + quote


def _bytes(x: bytes) -> str:
    return '"' + "".join(f"\\x{byte:02x}" for byte in x) + '"'


def _time(x: datetime) -> str:
    seconds, ns = divmod((x if isinstance(x, Timestamp) else Timestamp(x)).ns, _NS_PER_SECOND)
    whole = datetime.fromtimestamp(seconds, tz=timezone.utc)
    return f"{whole:%Y-%m-%dT%H:%M:%S}.{ns:09d}Z"


def _span(x: timedelta) -> str:
    return f"{(x if isinstance(x, Timespan) else Timespan(x)).ns}ns"


_PLAIN = (IPv4Address, IPv6Address, IPv4Network, IPv6Network)


def _literal(x: Any) -> str:
    """A value as the language writes it."""
    if isinstance(x, bool):
        return "true" if x else "false"
    if isinstance(x, int):
        return str(int(x))
    if isinstance(x, float):
        if not math.isfinite(x):
            raise ValueError(f"a condition cannot compare with {x}")
        return repr(float(x))
    if isinstance(x, EnumValue):
        return _quoted(str(x), "`")
    if isinstance(x, str):
        return _quoted(x, '"')
    if isinstance(x, (bytes, bytearray)):
        return _bytes(bytes(x))
    if isinstance(x, _PLAIN):
        return str(x)
    if isinstance(x, Subnet):
        return str(x.to_network())
    if isinstance(x, Port):
        return f"{x.number}/{'?' if x.protocol == 'unknown' else x.protocol}"
    if isinstance(x, datetime):
        return _time(x)
    if isinstance(x, timedelta):
        return _span(x)
    raise TypeError(f"a condition cannot compare with {x!r:.100}")
