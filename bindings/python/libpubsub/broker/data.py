# SPDX-License-Identifier: BSD-3-Clause
"""Values that know their type: Data, and what it holds.

Programs rarely meet these: publishing and receiving convert by themselves. A Value compares as on the wire, by
type and then by content, so ``Data(1)``, ``Data(1.0)`` and ``Data(True)`` are three.
"""

from __future__ import annotations

import datetime
import enum
import functools
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from types import MappingProxyType
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Union

from ..times import Timespan as NativeTimespan
from ..times import Timestamp as NativeTimestamp
from ..values import Count as NativeCount
from ..values import EnumValue
from ..values import Port as NativePort
from ..values import Subnet as NativeSubnet
from . import convert
from .values import Address, Count, Enum, Port, Subnet, Timespan, Timestamp


class DataType(enum.IntEnum):
    """The types of the data model, numbered as on the wire."""

    Nil = 0
    Boolean = 1
    Count = 2
    Integer = 3
    Real = 4
    String = 5
    Address = 6
    Subnet = 7
    Port = 8
    Timestamp = 9
    Timespan = 10
    EnumValue = 11
    Set = 12
    Table = 13
    Vector = 14

    def __str__(self) -> str:
        return f"Type.{self.name}"


@functools.total_ordering
class Value:
    """A value and its type; immutable. Members of Set, Table and Vector are of this class.

    The content, by type: ``()``; ``bool``; ``int`` (count, integer); ``float``; ``bytes`` (string); Address,
    Subnet, Port, Timestamp, Timespan, Enum; a sorted tuple of Values (set); a sorted tuple of pairs (table);
    a tuple of Values (vector).
    """

    __slots__ = ("_type", "_content")
    _type: DataType
    _content: Any

    Type = DataType

    def get_type(self) -> DataType:
        return self._type

    def _as(self, wanted: DataType) -> Any:
        if self._type is not wanted:
            raise TypeError(f"this is of type {self._type.name}, not {wanted.name}: {self}")
        return self._content

    def as_none(self) -> None:
        self._as(DataType.Nil)

    def as_boolean(self) -> bool:
        return bool(self._as(DataType.Boolean))

    def as_count(self) -> int:
        return int(self._as(DataType.Count))

    def as_integer(self) -> int:
        return int(self._as(DataType.Integer))

    def as_real(self) -> float:
        return float(self._as(DataType.Real))

    def as_string(self) -> bytes:
        return bytes(self._as(DataType.String))

    def as_address(self) -> Address:
        return Address(self._as(DataType.Address).bytes())

    def as_subnet(self) -> Subnet:
        subnet = self._as(DataType.Subnet)
        return Subnet(subnet.network(), subnet.length())

    def as_port(self) -> Port:
        port = self._as(DataType.Port)
        return Port(port.number(), port.get_type())

    def as_timestamp(self) -> float:
        """Seconds since the Unix epoch."""
        return float(self._as(DataType.Timestamp).time_since_epoch().count() / 1e9)

    def as_timespan(self) -> float:
        """Seconds."""
        return float(self._as(DataType.Timespan).count() / 1e9)

    def as_enum_value(self) -> Enum:
        return Enum(self._as(DataType.EnumValue).name)

    def as_set(self) -> Set:
        return Set(self._as(DataType.Set))

    def as_table(self) -> Table:
        return Table(dict(self._as(DataType.Table)))

    def as_vector(self) -> Vector:
        return Vector(self._as(DataType.Vector))

    def to_data(self) -> Any:
        """The library's own value. Set members and table keys stay Values, lest equal ones of two types merge."""
        content = self._content
        if self._type is DataType.Vector:
            return tuple(member.to_data() for member in content)
        if self._type is DataType.Table:
            return {key: value.to_data() for key, value in content}
        if self._type is DataType.Set:
            return frozenset(content)
        if self._type is DataType.Nil:
            return None
        if self._type is DataType.Count:
            return NativeCount(content)
        return content.to_data() if hasattr(content, "to_data") else content

    def _key(self) -> tuple[int, Any]:
        return int(self._type), self._content

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Value) else NotImplemented

    def __lt__(self, other: Any) -> bool:
        return self._key() < other._key() if isinstance(other, Value) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        return _RENDER.get(self._type, repr)(self._content)

    def __repr__(self) -> str:
        return f"<Data {self._type.name} {self}>"


class Data(Value):
    """A Value made from what Python has: ``Data(x)``.

    Takes ``None``, ``bool``, ``int`` (an integer), ``float``, ``str``, ``bytes``, this package's types and the
    library's own, ``datetime`` (a naive one is local time), ``timedelta``, addresses and networks of
    ``ipaddress``, ``list`` and ``tuple`` (vectors), ``set`` and ``frozenset``, ``dict`` and ``MappingProxyType``
    (tables), another Data, and events. Raises ``TypeError`` for anything else, ``OverflowError`` for numbers and
    times beyond 64 bits, ``ValueError`` for an address with a zone.
    """

    __slots__ = ()

    def __init__(self, x: Any = None) -> None:
        self._type, self._content = _read(x)

    @staticmethod
    def from_py(x: Any) -> Data:
        return Data(x)

    @staticmethod
    def to_py(d: Value) -> Any:
        """See ``libpubsub.broker.convert``; sets and tables come out as ``set`` and ``dict``."""
        return convert.to_py(d)


class ImmutableData(Data):
    """As Data, but ``to_py`` gives only immutable, hashable objects."""

    __slots__ = ()

    HashableReadOnlyDict = convert.HashableReadOnlyDict

    @staticmethod
    def to_py(d: Value) -> Any:
        return convert.to_frozen_py(d)


# -- containers -----------------------------------------------------------------------------------


def _member(x: Any) -> Value:
    result = Value()
    result._type, result._content = _read(x)
    return result


class Set:
    """A set of Values; iterates in the order of the wire. Members may be anything Data takes."""

    __slots__ = ("_members",)

    def __init__(self, members: Iterable[Any] = ()) -> None:
        self._members = {_member(each) for each in members}

    def add(self, x: Any) -> None:
        self._members.add(_member(x))

    def remove(self, x: Any) -> None:
        """Does nothing if it is no member."""
        self._members.discard(_member(x))

    def clear(self) -> None:
        self._members.clear()

    def to_data(self) -> Any:
        return frozenset(self._members)

    def __contains__(self, x: Any) -> bool:
        return _member(x) in self._members

    def __iter__(self) -> Iterator[Value]:
        return iter(sorted(self._members))

    def __len__(self) -> int:
        return len(self._members)

    def __eq__(self, other: object) -> bool:
        return self._members == other._members if isinstance(other, Set) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Set{{{', '.join(map(str, self))}}}"


class Table:
    """A table of Values; iterates in the order of the wire. Keys and values may be anything Data takes."""

    __slots__ = ("_members",)

    def __init__(self, members: Mapping[Any, Any] = MappingProxyType({})) -> None:
        self._members = {_member(key): _member(value) for key, value in members.items()}

    def __getitem__(self, key: Any) -> Value:
        return self._members[_member(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._members[_member(key)] = _member(value)

    def __delitem__(self, key: Any) -> None:
        del self._members[_member(key)]

    def __contains__(self, key: Any) -> bool:
        return _member(key) in self._members

    def __iter__(self) -> Iterator[Value]:
        return iter(sorted(self._members))

    def __len__(self) -> int:
        return len(self._members)

    def keys(self) -> list[Value]:
        return sorted(self._members)

    def values(self) -> list[Value]:
        return [self._members[key] for key in self]

    def items(self) -> list[tuple[Value, Value]]:
        return [(key, self._members[key]) for key in self]

    def to_data(self) -> Any:
        return {key: value.to_data() for key, value in self._members.items()}

    def __eq__(self, other: object) -> bool:
        return self._members == other._members if isinstance(other, Table) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Table{{{', '.join(f'{key}: {value}' for key, value in self.items())}}}"


class Vector(list):  # type: ignore[type-arg]
    """A list of Values. Members may be anything Data takes."""

    __slots__ = ()

    def __init__(self, members: Iterable[Any] = ()) -> None:
        super().__init__(map(_member, members))

    def append(self, x: Any) -> None:
        super().append(_member(x))

    def insert(self, index: Any, x: Any) -> None:
        super().insert(index, _member(x))

    def extend(self, members: Iterable[Any]) -> None:
        super().extend(map(_member, members))

    def __setitem__(self, index: Any, x: Any) -> None:
        super().__setitem__(index, map(_member, x) if isinstance(index, slice) else _member(x))

    def to_data(self) -> Any:
        return tuple(member.to_data() for member in self)

    def __repr__(self) -> str:
        return f"Vector[{', '.join(map(str, self))}]"


# -- reading --------------------------------------------------------------------------------------

_Reading = tuple[DataType, Any]
_Reader = Callable[[Any], _Reading]


def _integer(x: int) -> _Reading:
    if not -(1 << 63) <= x < 1 << 63:
        raise OverflowError(f"an integer is 64 bits with a sign, not {x}; Count takes up to 2**64-1")
    return DataType.Integer, int(x)


def _address(x: Union[IPv4Address, IPv6Address]) -> Address:
    if getattr(x, "scope_id", None) is not None:
        raise ValueError(f"an address on the wire has no zone: {x}")
    return Address(x.packed, x.version)


def _network(x: Union[IPv4Network, IPv6Network]) -> _Reading:
    return DataType.Subnet, Subnet(_address(x.network_address), x.prefixlen)


def _moment(x: datetime.datetime) -> _Reading:
    ns = NativeTimestamp(x if x.utcoffset() is not None else x.astimezone()).ns
    return DataType.Timestamp, Timestamp(Timespan(ns))


def _sequence(x: Iterable[Any]) -> _Reading:
    return DataType.Vector, tuple(map(_member, x))


def _table(x: Mapping[Any, Any]) -> _Reading:
    members = {_member(key): _member(value) for key, value in x.items()}
    return DataType.Table, tuple(sorted(members.items()))


_READERS: dict[type, _Reader] = {  # subclasses before what they derive from
    Value: lambda x: (x._type, x._content),
    type(None): lambda x: (DataType.Nil, ()),
    bool: lambda x: (DataType.Boolean, x),
    NativeCount: lambda x: (DataType.Count, int(x)),
    Count: lambda x: (DataType.Count, int(NativeCount(x.value))),
    int: _integer,
    float: lambda x: (DataType.Real, float(x)),
    EnumValue: lambda x: (DataType.EnumValue, Enum(str(x))),
    Enum: lambda x: (DataType.EnumValue, Enum(x.name)),
    str: lambda x: (DataType.String, x.encode("utf-8")),
    bytes: lambda x: (DataType.String, bytes(x)),
    IPv4Address: lambda x: (DataType.Address, _address(x)),
    IPv6Address: lambda x: (DataType.Address, _address(x)),
    Address: lambda x: (DataType.Address, Address(x.bytes())),
    IPv4Network: _network,
    IPv6Network: _network,
    NativeSubnet: lambda x: _network(x.to_network()),
    Subnet: lambda x: (DataType.Subnet, Subnet(x.network(), x.length())),
    NativePort: lambda x: (DataType.Port, convert.to_py(x)),
    Port: lambda x: (DataType.Port, Port(x.number(), x.get_type())),
    datetime.datetime: _moment,
    datetime.timedelta: lambda x: (DataType.Timespan, Timespan(NativeTimespan(x).ns)),
    Timestamp: lambda x: (DataType.Timestamp, x),
    Timespan: lambda x: (DataType.Timespan, x),
    Set: lambda x: (DataType.Set, tuple(x)),
    Table: lambda x: (DataType.Table, tuple(x.items())),
    list: _sequence,
    tuple: _sequence,
    set: lambda x: (DataType.Set, tuple(sorted(set(map(_member, x))))),
    frozenset: lambda x: (DataType.Set, tuple(sorted(set(map(_member, x))))),
    dict: _table,
    MappingProxyType: _table,
}


def _read(x: Any) -> _Reading:
    reader = _READERS.get(type(x)) or _reader_for_subclass(x)
    if reader is not None:
        return reader(x)
    if hasattr(x, "to_data") and not isinstance(x, type):
        return _read(x.to_data())
    raise TypeError(f"unsupported data type: {type(x)}")


def _reader_for_subclass(x: Any) -> Optional[_Reader]:
    return next((reader for kind, reader in _READERS.items() if isinstance(x, kind)), None)


# -- text -----------------------------------------------------------------------------------------


def _render_members(members: Iterable[Value]) -> str:
    return ", ".join(map(str, members))


_RENDER: dict[DataType, Callable[[Any], str]] = {
    DataType.Nil: lambda x: "nil",
    DataType.Boolean: lambda x: "T" if x else "F",
    DataType.Real: lambda x: f"{x:f}",
    DataType.String: lambda x: str(x, "utf-8", "backslashreplace"),
    DataType.Timestamp: lambda x: repr(x.time_since_epoch()),
    DataType.Set: lambda x: f"{{{_render_members(x)}}}",
    DataType.Table: lambda x: f"{{{', '.join(f'{key} -> {value}' for key, value in x)}}}",
    DataType.Vector: lambda x: f"({_render_members(x)})",
}
