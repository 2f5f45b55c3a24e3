# SPDX-License-Identifier: BSD-3-Clause
"""Times exact to the nanosecond: Timestamp is a ``datetime``, Timespan a ``timedelta``.

Python's own types end at the microsecond. These hold signed 64-bit nanoseconds as the wire does, and
behave as the Python type they derive from: same attributes, comparable with it, equal and of equal
hash where the microseconds are exact. Sums and differences among them stay exact; every other
inherited method (``replace``, ``astimezone``, ``fromtimestamp``, division, ...) gives a plain
``datetime`` or ``timedelta``, cut to the microsecond.
"""

from __future__ import annotations

import re
import time
from datetime import datetime, timedelta, timezone
from typing import Any, Union

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_LIMIT = 1 << 63
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|\+00:00)", re.ASCII
)


def _delta_ns(span: timedelta) -> int:
    if isinstance(span, Timespan):
        return span._ns
    return (span.days * 86_400 + span.seconds) * 1_000_000_000 + span.microseconds * 1_000


def _moment_ns(moment: datetime) -> int:
    if isinstance(moment, Timestamp):
        return moment._ns
    if moment.utcoffset() is None:
        raise ValueError(f"naive datetime {moment.isoformat()}: give it a time zone, for instance "
                         "datetime.timezone.utc")
    return _delta_ns(moment - _EPOCH)


def _checked(ns: int, kind: str) -> int:
    if not -_LIMIT <= ns < _LIMIT:
        raise OverflowError(f"a {kind} is a signed 64-bit number of nanoseconds, not {ns}")
    return ns


class Timespan(timedelta):
    """A duration, exact to the nanosecond; ``ns`` is the whole number of nanoseconds.

    ``Timespan(ns)`` or ``Timespan(timedelta)``. Raises ``OverflowError`` beyond 64 bits (292 years).
    """

    __slots__ = ("_ns",)
    _ns: int

    def __new__(cls, value: Union[int, timedelta] = 0) -> Timespan:
        ns = _checked(_delta_ns(value) if isinstance(value, timedelta) else int(value), "Timespan")
        self = super().__new__(cls, microseconds=ns // 1000)
        self._ns = ns
        return self

    @property
    def ns(self) -> int:
        """Nanoseconds."""
        return self._ns

    def to_timedelta(self) -> timedelta:
        """A plain ``timedelta``, rounded down to the microsecond."""
        return timedelta(microseconds=self._ns // 1000)

    def total_seconds(self) -> float:
        """Seconds, as near as a float comes."""
        return self._ns / 1e9

    def __eq__(self, other: object) -> bool:
        return self._ns == _delta_ns(other) if isinstance(other, timedelta) else NotImplemented

    __ne__ = object.__ne__  # timedelta has one of its own

    def __lt__(self, other: timedelta) -> bool:
        return self._ns < _delta_ns(other) if isinstance(other, timedelta) else NotImplemented

    def __le__(self, other: timedelta) -> bool:
        return self._ns <= _delta_ns(other) if isinstance(other, timedelta) else NotImplemented

    def __gt__(self, other: timedelta) -> bool:
        return self._ns > _delta_ns(other) if isinstance(other, timedelta) else NotImplemented

    def __ge__(self, other: timedelta) -> bool:
        return self._ns >= _delta_ns(other) if isinstance(other, timedelta) else NotImplemented

    __hash__ = timedelta.__hash__

    def __bool__(self) -> bool:
        return self._ns != 0

    def __add__(self, other: timedelta) -> Timespan:
        return Timespan(self._ns + _delta_ns(other)) if isinstance(other, timedelta) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: timedelta) -> Timespan:
        return Timespan(self._ns - _delta_ns(other)) if isinstance(other, timedelta) else NotImplemented

    def __rsub__(self, other: timedelta) -> Timespan:
        return Timespan(_delta_ns(other) - self._ns) if isinstance(other, timedelta) else NotImplemented

    def __neg__(self) -> Timespan:
        return Timespan(-self._ns)

    def __pos__(self) -> Timespan:
        return self

    def __abs__(self) -> Timespan:
        return Timespan(abs(self._ns))

    def __reduce__(self) -> tuple[Any, ...]:
        return Timespan, (self._ns,)

    def __str__(self) -> str:
        whole, rest = divmod(self._ns, 1000)
        text = str(timedelta(microseconds=whole))
        return text if rest == 0 else f"{text if '.' in text else text + '.000000'}{rest:03}"

    def __repr__(self) -> str:
        return f"Timespan({self._ns})"


class Timestamp(datetime):
    """A point in time, UTC, exact to the nanosecond; ``ns`` counts from the Unix epoch.

    ``Timestamp(ns)``, ``Timestamp(datetime)`` (aware; a naive one raises ``ValueError``) or
    ``Timestamp("2023-11-14T22:13:20.123456789Z")``. Raises ``OverflowError`` beyond 64 bits
    (years 1677 to 2262). Called with calendar fields it gives the plain ``datetime``.
    """

    __slots__ = ("_ns",)
    _ns: int

    def __new__(cls, value: Any = 0, *fields: Any, **named: Any) -> Timestamp:
        if fields or named:  # what inherited methods do to build their result
            return datetime(value, *fields, **named)  # type: ignore[return-value]
        if isinstance(value, datetime):
            ns = _moment_ns(value)
        elif isinstance(value, str):
            ns = cls._parse(value)
        else:
            ns = int(value)
        base = _EPOCH + timedelta(microseconds=_checked(ns, "Timestamp") // 1000)
        self = super().__new__(cls, base.year, base.month, base.day, base.hour, base.minute,
                               base.second, base.microsecond, timezone.utc)
        self._ns = ns
        return self

    @staticmethod
    def _parse(text: str) -> int:
        match = _ISO.fullmatch(text)
        if match is None:
            raise ValueError(f"not a UTC time such as 2023-11-14T22:13:20.5Z: {text!r}")
        day, clock, fraction = match.groups()
        seconds = _delta_ns(datetime.fromisoformat(f"{day}T{clock}+00:00") - _EPOCH)
        return seconds + int((fraction or "").ljust(9, "0"))

    @classmethod
    def now(cls, tz: Any = None) -> Timestamp:
        """The current time; ``tz`` is ignored, the result is always UTC."""
        return cls(time.time_ns())

    @property
    def ns(self) -> int:
        """Nanoseconds since the Unix epoch."""
        return self._ns

    def to_datetime(self) -> datetime:
        """A plain ``datetime`` in UTC, rounded down to the microsecond."""
        return _EPOCH + timedelta(microseconds=self._ns // 1000)

    # Against a plain datetime the inherited comparison of the microseconds decides; where that finds
    # them equal, what is left below the microsecond makes this one the later.

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Timestamp):
            return self._ns == other._ns
        return self._ns % 1000 == 0 and super().__eq__(other)

    __ne__ = object.__ne__  # datetime has one of its own

    def __lt__(self, other: Any) -> bool:
        return self._ns < other._ns if isinstance(other, Timestamp) else super().__lt__(other)

    def __ge__(self, other: Any) -> bool:
        return self._ns >= other._ns if isinstance(other, Timestamp) else super().__ge__(other)

    def __gt__(self, other: Any) -> bool:
        if isinstance(other, Timestamp):
            return self._ns > other._ns
        return super().__gt__(other) if self._ns % 1000 == 0 else super().__ge__(other)

    def __le__(self, other: Any) -> bool:
        if isinstance(other, Timestamp):
            return self._ns <= other._ns
        return super().__le__(other) if self._ns % 1000 == 0 else super().__lt__(other)

    __hash__ = datetime.__hash__

    def __add__(self, other: timedelta) -> Timestamp:
        return Timestamp(self._ns + _delta_ns(other)) if isinstance(other, timedelta) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, timedelta):
            return Timestamp(self._ns - _delta_ns(other))
        return Timespan(self._ns - _moment_ns(other)) if isinstance(other, datetime) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return Timespan(_moment_ns(other) - self._ns) if isinstance(other, datetime) else NotImplemented

    def replace(self, *args: Any, **kwargs: Any) -> datetime:  # type: ignore[override]
        """A plain ``datetime`` with some fields replaced."""
        return self.to_datetime().replace(*args, **kwargs)

    __replace__ = replace

    def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:
        """ISO 8601; nine digits where the time has any below the microsecond."""
        rest = self._ns % 1000
        if timespec == "nanoseconds" or (timespec == "auto" and rest != 0):
            text = super().isoformat(sep, "microseconds")
            return f"{text[:-6]}{rest:03}{text[-6:]}"
        return super().isoformat(sep, timespec)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return Timestamp, (self._ns,)

    def __repr__(self) -> str:
        return f"Timestamp('{self.isoformat().replace('+00:00', 'Z')}')"
