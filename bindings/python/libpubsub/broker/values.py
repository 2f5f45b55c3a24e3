# SPDX-License-Identifier: BSD-3-Clause
"""The value types of Zeek's module ``broker``: Address, Count, Enum, Port, Subnet, Timespan, Timestamp.

They compare, order and hash with their own kind only: ``Count(1) == 1`` is false, as in Broker, so a set
may hold both. ``to_data()`` gives the library's own value.
"""

from __future__ import annotations

import enum
import operator
import time
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Union, overload

from ..times import Timespan as NativeTimespan
from ..times import Timestamp as NativeTimestamp
from ..values import Count as NativeCount
from ..values import EnumValue
from ..values import Port as NativePort
from ..values import Subnet as NativeSubnet

_V4_MAPPED = bytes(10) + b"\xff\xff"
Bytes = bytes  # Address has a method of that name
_SECOND = 1_000_000_000  # nanoseconds


class _Ordered:
    """Comparison and hash by ``_key()``, within one class."""

    __slots__ = ()

    def _key(self) -> Any:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, type(self)) else NotImplemented

    def __lt__(self, other: Any) -> bool:
        return self._key() < other._key() if isinstance(other, type(self)) else NotImplemented

    def __le__(self, other: Any) -> bool:
        return self._key() <= other._key() if isinstance(other, type(self)) else NotImplemented

    def __gt__(self, other: Any) -> bool:
        return self._key() > other._key() if isinstance(other, type(self)) else NotImplemented

    def __ge__(self, other: Any) -> bool:
        return self._key() >= other._key() if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), self._key()))


class Count(_Ordered):
    """An unsigned 64-bit number, in ``value``. Raises ``OverflowError`` outside 0..2**64-1."""

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = int(NativeCount(operator.index(value)))

    def _key(self) -> int:
        return self.value

    def __index__(self) -> int:
        return self.value

    __int__ = __index__

    def to_data(self) -> NativeCount:
        return NativeCount(self.value)

    def __str__(self) -> str:
        return str(self.value)

    def __repr__(self) -> str:
        return f"Count({self.value})"


class Enum(_Ordered):
    """A label of a Zeek enum, such as ``Conn::LOG``, in ``name``."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def _key(self) -> str:
        return self.name

    def to_data(self) -> EnumValue:
        return EnumValue(self.name)

    def __repr__(self) -> str:
        return self.name


class Address(_Ordered):
    """An IP address: ``Address(packed, 4)`` of 4 bytes, ``Address(packed, 6)`` of 16, ``Address()`` for ``::``.

    Raises ``ValueError`` for another number of bytes or another family.
    """

    __slots__ = ("_bytes",)

    class Family(enum.IntEnum):
        IPv4 = 0
        IPv6 = 1

    class ByteOrder(enum.IntEnum):
        Host = 0
        Network = 1

    def __init__(self, packed: Bytes = Bytes(16), family: int = 6) -> None:
        if (len(packed), family) not in ((4, 4), (16, 6)):
            raise ValueError("an address is 4 bytes of family 4 or 16 of family 6, "
                             f"not {len(packed)} of {family}")
        self._bytes = _V4_MAPPED + packed if family == 4 else Bytes(packed)

    def _key(self) -> Bytes:
        return self._bytes

    def is_v4(self) -> bool:
        return self._bytes.startswith(_V4_MAPPED)

    def is_v6(self) -> bool:
        return not self.is_v4()

    def bytes(self) -> Bytes:
        """The 16 bytes of the IPv6 form."""
        return self._bytes

    def mask(self, top_bits_to_keep: int) -> bool:
        """Clears all but the first bits of the 128, in place. False, and no change, for more than 128."""
        if not 0 <= top_bits_to_keep <= 128:
            return False
        low = (1 << (128 - top_bits_to_keep)) - 1
        self._bytes = (int.from_bytes(self._bytes, "big") & ~low).to_bytes(16, "big")
        return True

    def to_data(self) -> Union[IPv4Address, IPv6Address]:
        return IPv4Address(self._bytes[12:]) if self.is_v4() else IPv6Address(self._bytes)

    def __repr__(self) -> str:
        return str(self.to_data())


class Subnet(_Ordered):
    """A network: ``Subnet(address, length)``; bits of the address beyond ``length`` are cleared.

    A length beyond the family's (32, 128) gives ``::/0``, as in Broker.
    """

    __slots__ = ("_network", "_raw")

    def __init__(self, address: Address = Address(), length: int = 0) -> None:
        if not 0 <= length <= 255:
            raise ValueError(f"a prefix length is 0..255, not {length}")
        raw = length + 96 if address.is_v4() else length
        self._network = Address(address.bytes() if raw <= 128 else bytes(16))
        self._raw = raw if raw <= 128 else 0
        self._network.mask(self._raw)

    def _key(self) -> tuple[bytes, int]:
        return self._network.bytes(), self._raw

    def network(self) -> Address:
        return Address(self._network.bytes())

    def length(self) -> int:
        return self._raw - 96 if self._network.is_v4() else self._raw

    def contains(self, addr: Address) -> bool:
        masked = Address(addr.bytes())
        masked.mask(self._raw)
        return masked == self._network

    def to_data(self) -> Any:
        return NativeSubnet(self._network.to_data(), self._raw)

    def __repr__(self) -> str:
        return f"{self._network!r}/{self.length()}"


class Port(_Ordered):
    """A transport port: ``Port(80, Port.TCP)``. Raises ``ValueError`` for a number outside 0..65535."""

    __slots__ = ("_number", "_protocol")

    class Protocol(enum.IntEnum):
        Unknown = 0
        TCP = 1
        UDP = 2
        ICMP = 3

    Unknown = Protocol.Unknown
    TCP = Protocol.TCP
    UDP = Protocol.UDP
    ICMP = Protocol.ICMP

    def __init__(self, number: int = 0, protocol: Protocol = Protocol.Unknown) -> None:
        if not 0 <= number <= 0xFFFF:
            raise ValueError(f"a port number is 0..65535, not {number}")
        self._number = number
        self._protocol = Port.Protocol(protocol)

    def _key(self) -> tuple[int, int]:
        return self._number, int(self._protocol)

    def number(self) -> int:
        return self._number

    def get_type(self) -> Protocol:
        return self._protocol

    def to_data(self) -> NativePort:
        return NativePort(self._number, NativePort.PROTOCOLS[self._protocol])

    def __repr__(self) -> str:
        return str(self.to_data())


def _cut(ratio: int, divisor: int) -> int:
    """The quotient without its fraction, as C++ divides."""
    quotient = abs(ratio) // abs(divisor)
    return quotient if (ratio < 0) == (divisor < 0) else -quotient


class Timespan(_Ordered):
    """A duration: ``Timespan(nanoseconds)`` from an ``int``, ``Timespan(seconds)`` from a ``float``.

    Raises ``OverflowError`` beyond 64 bits (292 years).
    """

    __slots__ = ("_ns",)

    def __init__(self, value: Union[int, float] = 0) -> None:
        ns = int(value * _SECOND) if isinstance(value, float) else operator.index(value)
        self._ns = NativeTimespan(ns).ns

    def _key(self) -> int:
        return self._ns

    def count(self) -> int:
        """Nanoseconds."""
        return self._ns

    def to_data(self) -> NativeTimespan:
        return NativeTimespan(self._ns)

    def __add__(self, other: Timespan) -> Timespan:
        return Timespan(self._ns + other._ns) if isinstance(other, Timespan) else NotImplemented

    def __sub__(self, other: Timespan) -> Timespan:
        return Timespan(self._ns - other._ns) if isinstance(other, Timespan) else NotImplemented

    def __mul__(self, factor: int) -> Timespan:
        return Timespan(self._ns * factor) if isinstance(factor, int) else NotImplemented

    __rmul__ = __mul__

    @overload
    def __truediv__(self, other: Timespan) -> int: ...
    @overload
    def __truediv__(self, other: int) -> Timespan: ...

    def __truediv__(self, other: Union[Timespan, int]) -> Union[Timespan, int]:
        """How often ``other`` fits, or a part of the duration, both cut off."""
        if isinstance(other, Timespan):
            return _cut(self._ns, other._ns)
        return Timespan(_cut(self._ns, other)) if isinstance(other, int) else NotImplemented

    def __mod__(self, other: Union[Timespan, int]) -> Timespan:
        """What the division leaves, with the sign of this duration."""
        if not isinstance(other, (Timespan, int)):
            return NotImplemented
        divisor = other._ns if isinstance(other, Timespan) else other
        return Timespan(self._ns - _cut(self._ns, divisor) * divisor)

    def __repr__(self) -> str:
        return f"{self._ns}ns"


class Timestamp(_Ordered):
    """A point in time: ``Timestamp(seconds)`` or ``Timestamp(Timespan)`` since the Unix epoch.

    Raises ``OverflowError`` beyond 64 bits of nanoseconds (years 1677 to 2262).
    """

    __slots__ = ("_ns",)

    def __init__(self, since_epoch: Union[Timespan, float] = 0.0) -> None:
        span = since_epoch if isinstance(since_epoch, Timespan) else Timespan(float(since_epoch))
        self._ns = span.count()

    def _key(self) -> int:
        return self._ns

    def time_since_epoch(self) -> Timespan:
        return Timespan(self._ns)

    def to_data(self) -> NativeTimestamp:
        return NativeTimestamp(self._ns)

    def __repr__(self) -> str:
        return self.to_data().isoformat().replace("+00:00", "")


def now() -> Timestamp:
    """The current time."""
    return Timestamp(Timespan(time.time_ns()))
