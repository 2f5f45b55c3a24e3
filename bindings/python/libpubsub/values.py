# SPDX-License-Identifier: BSD-3-Clause
"""The types of the data model that Python lacks: Count, EnumValue, Port, Subnet, Table.

Times are in :mod:`libpubsub.times`. All are immutable and hashable.
"""

from __future__ import annotations

import enum
import functools
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, NoReturn, SupportsInt, Union


class Count(int):
    """An unsigned 64-bit number, Zeek's ``count``; a plain ``int`` is Zeek's ``int``.

    Compares and hashes like the ``int`` it is; arithmetic gives plain ``int``.
    Raises ``OverflowError`` outside 0..2**64-1.
    """

    __slots__ = ()

    def __new__(cls, value: SupportsInt | str = 0) -> Count:
        self = super().__new__(cls, value)
        if not 0 <= self < 1 << 64:
            raise OverflowError(f"a Count is 0..2**64-1, not {int(self)}")
        return self

    def __repr__(self) -> str:
        return f"Count({int(self)})"

    __str__ = int.__repr__


class EnumValue(str):
    """The label of a Zeek enum, such as ``Conn::LOG``; compares and hashes like the ``str`` it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"EnumValue({str(self)!r})"


class _Frozen:
    """Base of value types: attributes are set once, by ``__new__``."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable")


@functools.total_ordering
class Port(_Frozen):
    """A transport port: ``Port(80, "tcp")``. Ordered by number, then by protocol as on the wire.

    ``number`` is 0..65535, ``protocol`` one of ``"unknown"``, ``"tcp"``, ``"udp"``, ``"icmp"``;
    anything else raises ``ValueError``.
    """

    __slots__ = ("number", "protocol", "_code")
    number: int
    protocol: str
    _code: int

    PROTOCOLS = ("unknown", "tcp", "udp", "icmp")

    def __new__(cls, number: int, protocol: str = "unknown") -> Port:
        if not 0 <= number <= 0xFFFF:
            raise ValueError(f"a port number is 0..65535, not {number}")
        if protocol not in cls.PROTOCOLS:
            raise ValueError(f"a port protocol is one of {', '.join(cls.PROTOCOLS)}, not {protocol!r}")
        self = super().__new__(cls)
        object.__setattr__(self, "number", int(number))
        object.__setattr__(self, "protocol", protocol)
        object.__setattr__(self, "_code", cls.PROTOCOLS.index(protocol))
        return self

    @classmethod
    def parse(cls, text: str) -> Port:
        """``80/tcp``, ``53/udp``, ``8/icmp``, ``0/?`` or ``0/unknown``. Raises ``ValueError``."""
        number, slash, protocol = text.partition("/")
        if not slash or not (number.isascii() and number.isdigit()):
            raise ValueError(f"not a port such as 80/tcp: {text!r}")
        return cls(int(number), "unknown" if protocol == "?" else protocol)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Port):
            return NotImplemented
        return self.number == other.number and self._code == other._code

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Port):
            return NotImplemented
        return (self.number, self._code) < (other.number, other._code)

    def __hash__(self) -> int:
        return hash((Port, self.number, self._code))

    def __reduce__(self) -> tuple[Any, ...]:
        return Port, (self.number, self.protocol)

    def __str__(self) -> str:
        return f"{self.number}/{'?' if self._code == 0 else self.protocol}"

    def __repr__(self) -> str:
        return f"Port({self.number}, {self.protocol!r})"


class Subnet(_Frozen):
    """A subnet that :mod:`ipaddress` cannot hold: host bits set, or a length beyond its family.

    Peers may send such subnets. Well-formed ones arrive as ``IPv4Network`` and ``IPv6Network``.
    ``raw_length`` is the prefix length as on the wire, 0..255: in 128-bit terms, so /24 of IPv4 is 120.
    """

    __slots__ = ("address", "raw_length")
    address: Union[IPv4Address, IPv6Address]
    raw_length: int

    def __new__(cls, address: Union[str, IPv4Address, IPv6Address], raw_length: int) -> Subnet:
        if not 0 <= raw_length <= 0xFF:
            raise ValueError(f"a raw prefix length is 0..255, not {raw_length}")
        self = super().__new__(cls)
        object.__setattr__(self, "address", ip_address(address))
        object.__setattr__(self, "raw_length", int(raw_length))
        return self

    def to_network(self) -> Union[IPv4Network, IPv6Network]:
        """The network with host bits cleared. Raises ``ValueError`` if the length fits no network."""
        offset = 96 if self.address.version == 4 else 0
        return ip_network((self.address, self.raw_length - offset), strict=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Subnet):
            return NotImplemented
        return self.address == other.address and self.raw_length == other.raw_length

    def __hash__(self) -> int:
        return hash((Subnet, self.address, self.raw_length))

    def __reduce__(self) -> tuple[Any, ...]:
        return Subnet, (self.address, self.raw_length)

    def __repr__(self) -> str:
        return f"Subnet({str(self.address)!r}, {self.raw_length})"


class Table(dict):  # type: ignore[type-arg]
    """An immutable, hashable ``dict``: how tables arrive. ``dict(table)`` gives a copy to change.

    Equal to a ``dict`` with the same items. As a key or set member all its values must be hashable.
    """

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def _immutable(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("a Table is immutable; dict(table) gives a copy to change")

    __setitem__ = __delitem__ = __ior__ = _immutable
    clear = pop = popitem = setdefault = update = _immutable

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (dict(self),)

    def __repr__(self) -> str:
        return f"Table({dict.__repr__(self)})"


class PublishResult(enum.Enum):
    """What became of a published message."""

    TAKEN = "taken"
    """Every matching subscriber and link took it."""
    UNWANTED = "unwanted"
    """Nobody has subscribed to this topic."""
    DROPPED = "dropped"
    """At least one queue was full and its policy dropped a message, which is counted there."""
    WOULD_BLOCK = "would_block"
    """``try_publish`` only: a queue with policy ``block`` is full; nobody got it."""
