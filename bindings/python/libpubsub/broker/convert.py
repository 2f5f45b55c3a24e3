# SPDX-License-Identifier: BSD-3-Clause
"""From values of the library to what programs written for Zeek's module ``broker`` expect.

| wire | Python |
|---|---|
| none, boolean, integer, real | ``None``, ``bool``, ``int``, ``float`` |
| count, enum-value, port | Count, Enum, Port of this package |
| string | ``str`` if it is valid UTF-8, otherwise ``bytes`` |
| address, subnet | those of ``ipaddress`` |
| timestamp, timespan | ``datetime`` in UTC, ``timedelta``, rounded down to the microsecond |
| vector | ``tuple`` |
| set, table | ``set``, ``dict``; from ``to_frozen_py``: ``frozenset``, HashableReadOnlyDict |
"""

from __future__ import annotations

from typing import Any, Callable, NoReturn, Union

from ..times import Timespan as NativeTimespan
from ..times import Timestamp as NativeTimestamp
from ..values import Count as NativeCount
from ..values import EnumValue, Table
from ..values import Port as NativePort
from ..values import Subnet as NativeSubnet
from .values import Count, Enum, Port


class HashableReadOnlyDict(dict):  # type: ignore[type-arg]
    """A ``dict`` that can be a set member; changing it raises ``TypeError``."""

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def _refuse(self, *args: object, **named: object) -> NoReturn:
        raise TypeError("this dict cannot be changed; dict(x) gives a copy to change")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return HashableReadOnlyDict, (dict(self),)


def _text(x: bytes) -> Union[str, bytes]:
    try:
        return x.decode()
    except UnicodeDecodeError:
        return x


Converter = Callable[[Any], Any]


def _make_converter(make_set: Converter, make_table: Converter) -> Converter:
    """A function over values of the library, and over whatever holds one behind ``to_data()``."""

    def convert(x: Any) -> Any:
        converter = converters.get(type(x))
        if converter is not None:
            return converter(x)
        return convert(x.to_data()) if hasattr(x, "to_data") else x

    def members(x: Any) -> Any:
        return map(convert, x)

    converters: dict[type, Converter] = {
        **dict.fromkeys((type(None), bool, int, float, str, Count, Enum, Port), lambda x: x),
        bytes: _text,
        NativeCount: Count,
        EnumValue: lambda x: Enum(str(x)),
        NativePort: lambda x: Port(x.number, Port.Protocol(NativePort.PROTOCOLS.index(x.protocol))),
        NativeSubnet: NativeSubnet.to_network,
        NativeTimestamp: NativeTimestamp.to_datetime,
        NativeTimespan: NativeTimespan.to_timedelta,
        tuple: lambda x: tuple(members(x)),
        frozenset: lambda x: make_set(members(x)),
        Table: lambda x: make_table((convert(key), convert(value)) for key, value in x.items()),
        dict: lambda x: make_table((convert(key), convert(value)) for key, value in x.items()),
    }
    return convert


to_py = _make_converter(set, dict)
"""Raises ``TypeError`` for a set member or table key that Python cannot hash, such as a table, and
``ValueError`` for a subnet that is no network."""

to_frozen_py = _make_converter(frozenset, HashableReadOnlyDict)
"""Everything it returns is immutable and hashable."""
