# SPDX-License-Identifier: BSD-3-Clause
"""Values survive the way to the wire and back, and what cannot go is refused in clear words."""

import gc
import json
import pickle
from datetime import datetime, timedelta, timezone
from enum import IntEnum
from ipaddress import IPv6Address, ip_address, ip_interface, ip_network

import pytest
from conftest import ROOT

import libpubsub
from libpubsub import Count, EnumValue, Port, Subnet, Table, Timespan, Timestamp, decode, encode

GOLDEN = json.loads((ROOT / "tests/data/golden/data_bin_v1.json").read_text())

EVERY_TYPE = [
    None, True, False, Count(0), Count(2**64 - 1), 0, -(2**63), 2**63 - 1, 1.5, float("inf"), -0.0,
    "", "text", "ключ\x00", b"\xff\x00", ip_address("192.0.2.1"), ip_address("2001:db8::1"),
    ip_network("10.0.0.0/8"), ip_network("2001:db8::/32"), ip_network("::/0"), Subnet("10.1.2.3", 104),
    Subnet("::1", 255), Port(80, "tcp"), Port(65535), Timestamp(1_700_000_000_123_456_789), Timestamp(-1),
    Timespan(-1), Timespan(2**63 - 1), EnumValue("Conn::LOG"), frozenset(), frozenset({1, 2, 3}), Table(),
    Table({"a": 1, Port(1, "udp"): (1,)}), (), (1, "a", None),
    frozenset({(1, frozenset({Table({"k": (1,)})}))}), Table({Table({1: 2}): frozenset({"x"})}),
]


@pytest.mark.parametrize("value", EVERY_TYPE, ids=repr)
def test_every_value_comes_back_equal_and_of_the_same_type(value):
    back = decode(encode(value))
    assert back == value
    assert type(back) is type(value)
    assert hash(back) == hash(value)


@pytest.mark.parametrize("vector", GOLDEN, ids=lambda v: f"{v['type']} {v['hex'][:24]}")
def test_bytes_of_a_real_broker_decode_and_encode_to_the_same_bytes(vector):
    if vector["type"] == "real" and "nan" in vector["text"]:
        assert decode(bytes.fromhex(vector["hex"])) != 0.0
        return
    data = bytes.fromhex(vector["hex"])
    if vector["type"] == "set" and "T, 1, 1" in vector["text"]:
        with pytest.raises(libpubsub.DecodeError, match="type only"):
            decode(data)  # true, count 1, integer 1 and 1.0 are one member in Python
        return
    assert encode(decode(data)) == data


@pytest.mark.parametrize("values", [
    [(b"a" + b"\0" * n).decode() for n in range(10)],
    [b"\xff" * n for n in range(1, 12)] + [b"abcdefg\xff", "abcdefgh", "abcdefg\u00ff"],
    [Port(80, protocol) for protocol in Port.PROTOCOLS] + [Port(80 + 4096 * n, "tcp") for n in range(5)],
    [ip_address(0x0A000000 + n) for n in range(20_000)],
    [ip_network((0x0A000000 + (n << 8), 24)) for n in range(3000)],
], ids=["strings with zeros", "short strings", "ports", "addresses", "networks"])
def test_values_that_share_a_place_in_a_cache_are_not_mistaken_for_each_other(values):
    for _ in range(2):
        assert decode(encode(values)) == tuple(values)


def test_what_arrives_is_no_work_for_the_garbage_collector():
    value = decode(encode([Timestamp(1), Timespan(1), Port(1), frozenset({(1, 2)}), {"a": (1,)}, ()]))
    assert not any(map(gc.is_tracked, (value, *value, *value[3])))


def test_python_types_map_to_their_wire_types():
    def tag(value):
        return encode(value)[0]

    assert [tag(x) for x in (None, True, Count(1), 1, 1.0, "a", b"a", bytearray(b"a"), memoryview(b"a"))] == [
        0, 1, 2, 3, 4, 5, 5, 5, 5]
    assert [tag(x) for x in (ip_address("::1"), ip_network("::/0"), Port(1), Timestamp(0), Timespan(0),
                             EnumValue("A"), set(), {}, [], ())] == [6, 7, 8, 9, 10, 11, 12, 13, 14, 14]
    assert tag(datetime.now(timezone.utc)) == 9 and tag(timedelta(1)) == 10


def test_subclasses_count_as_what_they_derive_from():
    class Colour(IntEnum):
        RED = 3

    class Name(str):
        pass

    assert decode(encode([Colour.RED, Name("x")])) == (3, "x")


def test_sets_and_tables_are_written_in_the_order_of_the_model():
    numbers = encode({300, -1, 2})
    assert numbers == encode(frozenset({-1, 2, 300}))
    assert numbers[2:11] == encode(-1)
    assert encode({"b": 1, "aa": 2, "a": 3})[2:5] == encode("a")


def test_ipv4_mapped_addresses_are_ipv4_on_the_wire():
    assert decode(encode(IPv6Address("::ffff:192.0.2.1"))) == ip_address("192.0.2.1")


@pytest.mark.parametrize("value, words", [
    (2**63, "Count"),
    (-(2**63) - 1, "64 bits"),
    (datetime(2024, 1, 1), "naive"),
    (timedelta(days=200_000), "64 bits"),
    ("\ud800", "surrogates"),
    ({"a", b"a"}, "same value"),
    ({"a": 1, b"a": 2}, "same value"),
    (IPv6Address("fe80::1%eth0"), "zone"),
])
def test_values_out_of_range_are_refused(value, words):
    with pytest.raises(libpubsub.EncodeError, match=words) as info:
        encode(value)
    assert isinstance(info.value, ValueError)


@pytest.mark.parametrize("value", [object(), 1j, ip_interface("10.0.0.1/8"), len, int, [1, {2: [object()]}]])
def test_types_without_a_counterpart_are_type_errors(value):
    with pytest.raises(TypeError) as info:
        encode(value)
    assert isinstance(info.value, libpubsub.EncodeTypeError)


def nested(depth):
    value = ()
    for _ in range(depth - 1):
        value = (value,)
    return value


def test_sixty_four_containers_inside_each_other_are_the_limit_both_ways():
    assert decode(encode(nested(64))) == nested(64)
    with pytest.raises(libpubsub.EncodeError, match="nested"):
        encode(nested(65))
    with pytest.raises(libpubsub.LimitExceeded):
        decode(b"\x0e\x01" * 65 + b"\x0e\x00")
    endless = []
    endless.append(endless)
    with pytest.raises(libpubsub.EncodeError, match="nested"):
        encode(endless)


@pytest.mark.parametrize("data", [b"", b"\x02\x00", b"\x0f", b"\x00\x00", b"\x08\x00\x50\x04",
                                  b"\x0c\x02\x01\x00\x01\x00", b"\x05\xff\xff\xff\xff\x0f"])
def test_bad_bytes_are_decode_errors(data):
    with pytest.raises(libpubsub.DecodeError):
        decode(data)


def test_members_equal_in_python_only_are_not_lost_in_silence():
    count_and_int = b"\x0c\x02" + encode(Count(1)) + encode(1)
    with pytest.raises(libpubsub.DecodeError, match="type only"):
        decode(count_and_int)


def test_a_container_that_changes_while_it_is_encoded_is_refused():
    class Shrinking:
        def to_data(self):
            victim.clear()
            return 1

    victim = [Shrinking(), 2, 3]
    with pytest.raises(libpubsub.EncodeError, match="changed"):
        encode(victim)


@pytest.mark.parametrize("value", EVERY_TYPE, ids=repr)
def test_values_survive_pickling(value):
    back = pickle.loads(pickle.dumps(value))
    assert back == value and type(back) is type(value)


def test_value_types_are_immutable():
    port = Port(80, "tcp")
    with pytest.raises(AttributeError):
        port.number = 81
    table = Table({1: 2})
    for change in (lambda: table.update({3: 4}), table.clear, lambda: table.__setitem__(1, 3), table.popitem):
        with pytest.raises(TypeError):
            change()
    assert table == {1: 2} and dict(table) == {1: 2}


def test_ports_order_parse_and_print():
    assert sorted([Port(80, "udp"), Port(80, "tcp"), Port(22)]) == [Port(22), Port(80, "tcp"), Port(80, "udp")]
    assert Port.parse("80/tcp") == Port(80, "tcp") and str(Port(8, "icmp")) == "8/icmp"
    assert str(Port(0)) == "0/?" and Port.parse("0/?") == Port(0)
    for text in ("80", "x/tcp", "70000/tcp", "80/sctp", "-1/tcp"):
        with pytest.raises(ValueError):
            Port.parse(text)


def test_counts_are_ints_within_64_bits():
    assert Count(3) == 3 and Count(3) + 1 == 4 and f"{Count(3)}" == "3" and repr(Count(3)) == "Count(3)"
    for bad in (-1, 2**64):
        with pytest.raises(OverflowError):
            Count(bad)


def test_an_odd_subnet_becomes_a_network_on_request():
    assert Subnet("10.1.2.3", 104).to_network() == ip_network("10.0.0.0/8")
    with pytest.raises(ValueError):
        Subnet("::1", 255).to_network()
