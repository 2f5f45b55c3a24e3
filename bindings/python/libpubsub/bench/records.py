# SPDX-License-Identifier: BSD-3-Clause
"""A connection record of twenty fields, and how programs without our data model send it typed.

All three ways give the same objects back, or nearly: where a peer has no type of ours, the closest one of Python's.
"""

from __future__ import annotations

import datetime
import functools
import importlib
from ipaddress import IPv4Address
from typing import Any, Callable, NamedTuple

from .. import Count, EnumValue, Port, Timespan, Timestamp

_DAY_NS = 86_400_000_000_000
_ADDRESS = 1  # MessagePack extensions of our own
_SPAN = 2


def make_record(number: int) -> tuple[Any, ...]:
    """Its fields have the types and the variety that real ones have; the second is made of ``number``."""
    i = number % 1_000_000_007
    return (Timestamp(1_700_000_000_000_000_000 + i * 1_000_003), f"C{number:016x}", IPv4Address(0x0A000000 + i % 2000),
            Port(32768 + i % 28000, "tcp"), IPv4Address(0xC0A80000 + i % 500), Port(443, "tcp"), EnumValue("tcp"),
            "ssl", Timespan((1_500_000 + i) % _DAY_NS), Count(i * 37), Count(i * 1499), "SF", True, False, Count(0),
            "ShADadFf", Count(i % 60), Count(i * 41), Count(i % 90), frozenset())


def number_of(record: Any) -> int:
    """The number that ``make_record`` was given; ``record``: the fields in order."""
    return int(record[1][1:], 16)


class PlainPort(NamedTuple):
    """What a port becomes on the way through MessagePack."""

    number: int
    protocol: str


def to_plain(record: tuple[Any, ...]) -> list[Any]:
    """The same fields as objects of the standard library, for encoders that refuse subclasses."""
    return [_plain(field) for field in record]


def _plain(field: Any) -> Any:
    if isinstance(field, Timestamp):
        return datetime.datetime.fromtimestamp(field.ns / 1e9, datetime.timezone.utc)
    if isinstance(field, Timespan):
        return datetime.timedelta(microseconds=field.ns // 1000)
    if isinstance(field, Port):
        return PlainPort(field.number, field.protocol)
    if isinstance(field, EnumValue):
        return str(field)
    if isinstance(field, frozenset):
        return list(field)
    return int(field) if isinstance(field, Count) else field


def with_msgspec(keep_addresses: bool = False) -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
    """Encoder and decoder of msgspec, which is told the type of each field.

    ``keep_addresses``: addresses come again and again, and a program in a hurry keeps their objects, as we do.
    """
    make_address = functools.lru_cache(8192)(IPv4Address) if keep_addresses else IPv4Address
    msgspec = importlib.import_module("msgspec")

    def encode_other(field: Any) -> Any:
        return int(field)

    def decode_other(kind: type, value: Any) -> Any:
        return make_address(value)

    fields = [datetime.datetime, str, IPv4Address, PlainPort, IPv4Address, PlainPort, str, str, datetime.timedelta, int, int,
              str, bool, bool, int, str, int, int, int, frozenset]
    record = msgspec.defstruct("Record", [(f"f{i}", kind) for i, kind in enumerate(fields)], array_like=True)
    encoder = msgspec.msgpack.Encoder(enc_hook=encode_other)
    decoder = msgspec.msgpack.Decoder(record, dec_hook=decode_other)
    return encoder.encode, decoder.decode


def with_msgpack() -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
    """Encoder and decoder of msgpack, whose messages name the types that need it."""
    msgpack = importlib.import_module("msgpack")

    def encode_other(field: Any) -> Any:
        if isinstance(field, IPv4Address):
            return msgpack.ExtType(_ADDRESS, field.packed)
        return msgpack.ExtType(_SPAN, (field // datetime.timedelta(microseconds=1)).to_bytes(8, "big"))

    def decode_other(code: int, data: bytes) -> Any:
        value = int.from_bytes(data, "big")
        return IPv4Address(value) if code == _ADDRESS else datetime.timedelta(microseconds=value)

    encode = functools.partial(msgpack.packb, default=encode_other, datetime=True)
    return encode, functools.partial(msgpack.unpackb, ext_hook=decode_other, timestamp=3, use_list=False)
