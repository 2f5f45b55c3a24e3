# SPDX-License-Identifier: BSD-3-Clause
"""libpubsub.broker: what becomes of Python values, and the value types themselves."""

import math
import pickle
from datetime import datetime, timedelta, timezone
from ipaddress import IPv4Network, IPv6Address, ip_address, ip_network
from types import MappingProxyType

import pytest

import libpubsub
import libpubsub.broker as broker
from libpubsub.broker import Address, Count, Data, Enum, ImmutableData, Port, Subnet, Timespan, Timestamp

T = Data.Type
NOON = datetime(2024, 2, 29, 12, 0, 0, 250_001, tzinfo=timezone.utc)

# One or more of each of the fifteen types: what goes in, its type, its text, what comes out if not the same.
EVERY_TYPE = [
    (None, T.Nil, "nil"),
    (True, T.Boolean, "T"), (False, T.Boolean, "F"),
    (Count(0), T.Count, "0"), (Count(2**64 - 1), T.Count, "18446744073709551615"),
    (0, T.Integer, "0"), (-(2**63), T.Integer, "-9223372036854775808"), (2**63 - 1, T.Integer, "9223372036854775807"),
    (4.2, T.Real, "4.200000"), (-1e18, T.Real, "-1000000000000000000.000000"), (math.inf, T.Real, "inf"),
    ("", T.String, ""), ("ключ\n", T.String, "ключ\n"), (b"\xff\x00", T.String, "\\xff\0"),
    (b"text", T.String, "text", "text"),
    (ip_address("192.0.2.1"), T.Address, "192.0.2.1"), (ip_address("2001:db8::1"), T.Address, "2001:db8::1"),
    (ip_address("::"), T.Address, "::"),
    (ip_network("10.0.0.0/8"), T.Subnet, "10.0.0.0/8"), (ip_network("0.0.0.0/0"), T.Subnet, "0.0.0.0/0"),
    (ip_network("fc00::/7"), T.Subnet, "fc00::/7"), (ip_network("::1/128"), T.Subnet, "::1/128"),
    (Port(80, Port.TCP), T.Port, "80/tcp"), (Port(53, Port.UDP), T.Port, "53/udp"), (Port(8, Port.ICMP), T.Port, "8/icmp"),
    (Port(0, Port.Unknown), T.Port, "0/?"),
    (NOON, T.Timestamp, "1709208000250001000ns"),
    (datetime(1969, 12, 31, 23, 59, 59, 999_999, timezone.utc), T.Timestamp, "-1000ns"),
    (timedelta(days=1, seconds=2, microseconds=3), T.Timespan, "86402000003000ns"),
    (timedelta(seconds=-42), T.Timespan, "-42000000000ns"),
    (Enum("Conn::LOG"), T.EnumValue, "Conn::LOG"),
    (set(), T.Set, "{}"), ({3, 1, 2}, T.Set, "{1, 2, 3}"), (frozenset({"a"}), T.Set, "{a}", {"a"}),
    ({}, T.Table, "{}"), ({"b": 1, "a": None}, T.Table, "{a -> nil, b -> 1}"),
    (MappingProxyType({"a": 1}), T.Table, "{a -> 1}", {"a": 1}),
    ((), T.Vector, "()"), ((1, "two", (3.0,)), T.Vector, "(1, two, (3.000000))"), ([1, [2]], T.Vector, "(1, (2))", (1, (2,))),
]


@pytest.mark.parametrize("row", EVERY_TYPE, ids=lambda row: f"{row[1].name} {row[2]!r}")
def test_every_type_goes_in_prints_and_comes_out(row):
    given, kind, text = row[:3]
    expected = row[3] if len(row) > 3 else given
    data = Data(given)
    assert (data.get_type(), str(data)) == (kind, text)
    back = Data.to_py(data)
    assert back == expected and type(back) is type(expected)


@pytest.mark.parametrize("row", EVERY_TYPE, ids=lambda row: f"{row[1].name} {row[2]!r}")
def test_every_type_is_the_same_by_data_and_by_the_wire(row):
    """What a peer decodes is what Data holds, whether Data or the Python value is published."""
    data = Data(row[0])
    received = libpubsub.decode(libpubsub.encode(data.to_data()))
    assert Data(received) == data
    assert broker.convert.to_py(received) == Data.to_py(data)


def test_all_fifteen_types_were_tried():
    assert {row[1] for row in EVERY_TYPE} == set(T)


def test_a_naive_datetime_is_local_time():
    naive = datetime(2024, 7, 1, 12)
    assert Data.to_py(Data(naive)) == naive.astimezone()
    assert Data.to_py(Data(naive)).tzinfo is broker.utc


def test_times_are_rounded_down_to_the_microsecond_and_exact_on_the_wire():
    assert Data.to_py(Data(Timespan(1_999))) == timedelta(microseconds=1)
    assert Data.to_py(Data(Timespan(-1))) == timedelta(microseconds=-1)
    assert Data(Timestamp(Timespan(1_700_000_000_123_456_789))).to_data().ns == 1_700_000_000_123_456_789


@pytest.mark.parametrize("value", [object(), 1j, len, int, bytearray(b"x"), [1, {2: [object()]}]])
def test_what_has_no_counterpart_is_a_type_error(value):
    with pytest.raises(TypeError, match="unsupported data type"):
        Data(value)


@pytest.mark.parametrize("make, error", [
    (lambda: Data(2**63), OverflowError), (lambda: Data(-(2**63) - 1), OverflowError),
    (lambda: Count(-1), OverflowError), (lambda: Count(2**64), OverflowError), (lambda: Count(1.5), TypeError),
    (lambda: Data(timedelta(days=200_000)), OverflowError), (lambda: Timestamp(1e10), OverflowError),
    (lambda: Data(IPv6Address("fe80::1%eth0")), ValueError), (lambda: Port(65_536, Port.TCP), ValueError),
    (lambda: Address(b"abc", 4), ValueError), (lambda: Data("\ud800"), ValueError),
])
def test_values_out_of_range_are_refused(make, error):
    with pytest.raises(error):
        make()


def test_values_of_the_library_itself_are_taken():
    natives = (libpubsub.Count(3), libpubsub.EnumValue("A::B"), libpubsub.Port(22, "tcp"), libpubsub.Timestamp(1000),
               libpubsub.Timespan(1000), libpubsub.Subnet("10.1.2.3", 104), libpubsub.Table({1: (2,)}))
    assert Data.to_py(Data(natives)) == (
        Count(3), Enum("A::B"), Port(22, Port.TCP), datetime(1970, 1, 1, 0, 0, 0, 1, timezone.utc),
        timedelta(microseconds=1), ip_network("10.0.0.0/8"), {1: (2,)})
    assert Data(libpubsub.zeek.Event("x")) == Data((Count(1), Count(1), ("x", ())))


def test_nested_containers_keep_their_types():
    value = {"t": {Count(1): {(1, frozenset({"a"}))}}, "v": [[], {}, set(), None]}
    assert str(Data(value)) == "{t -> {1 -> {(1, {a})}}, v -> ((), {}, {}, nil)}"
    assert ImmutableData.to_py(Data(value)) == {"t": {Count(1): frozenset({(1, frozenset({"a"}))})},
                                                "v": ((), {}, frozenset(), None)}


def test_members_equal_in_python_only_stay_apart():
    """1, 1.0, True and count 1 are four values on the wire."""
    members = broker.Set([1, 1.0, True, Count(1)])
    assert str(members) == "Set{T, 1, 1, 1.000000}"
    assert len(libpubsub.encode(members)) == len(libpubsub.encode(frozenset())) + 2 + 9 + 9 + 9
    assert len(Data({Count(1), 1}).as_set()) == 2
    assert Data.to_py(Data({Count(1), 1})) == {Count(1), 1}


def test_a_set_of_tables_needs_the_immutable_kind():
    data = Data(broker.Set([{"a": 1}]))
    with pytest.raises(TypeError, match="unhashable"):
        Data.to_py(data)
    frozen = ImmutableData.to_py(data)
    assert frozen == {ImmutableData.HashableReadOnlyDict({"a": 1})} and isinstance(frozen, frozenset)


def test_a_read_only_dict_refuses_changes_and_can_be_pickled():
    table = ImmutableData.to_py(Data({"a": 1}))
    for change in (lambda: table.__setitem__("b", 2), lambda: table.pop("a"), table.clear, table.popitem,
                   lambda: table.update(b=2), lambda: table.setdefault("b"), lambda: table.__delitem__("a")):
        with pytest.raises(TypeError, match="cannot be changed"):
            change()
    assert table == {"a": 1} and pickle.loads(pickle.dumps(table)) == table


def test_data_compares_by_type_then_by_content():
    ordered = [None, False, True, Count(0), Count(9), -1, 0, 1.0, "", "a", "b", ip_address("::1"), ip_address("1.2.3.4"),
               ip_network("::/0"), Port(1, Port.TCP), Port(1, Port.UDP), Port(2), NOON, timedelta(1), Enum("a"), set(), {1},
               {1, 2}, {2}, {}, {1: 1}, {1: 2}, (), (1,), (1, 2), (2,)]
    values = [Data(x) for x in ordered]
    assert sorted(reversed(values)) == values
    assert len(set(values)) == len(values) and values[0] < values[1] and values[1] >= values[0]
    assert Data(1) != Data(1.0) and Data(1) != 1 and Data(Data(1)) == Data(1)
    assert Data(-0.0) == Data(0.0)


def test_data_gives_its_content_by_type():
    assert Data(True).as_boolean() is True and Data(Count(3)).as_count() == 3 and Data(-3).as_integer() == -3
    assert Data(1.5).as_real() == 1.5 and Data("ab").as_string() == b"ab" and Data().as_none() is None
    assert Data(ip_address("1.2.3.4")).as_address().bytes()[-4:] == bytes([1, 2, 3, 4])
    assert Data(ip_network("10.0.0.0/8")).as_subnet().length() == 8
    assert Data(Port(80, Port.TCP)).as_port().number() == 80 and Data(Enum("A")).as_enum_value().name == "A"
    assert Data(timedelta(milliseconds=1500)).as_timespan() == 1.5
    assert Data(datetime(1970, 1, 1, 0, 0, 2, tzinfo=timezone.utc)).as_timestamp() == 2.0
    with pytest.raises(TypeError, match="of type Integer, not Count"):
        Data(1).as_count()


def test_containers_of_data_can_be_read_and_changed_without_touching_the_data():
    members, table, vector = Data({2, 1}).as_set(), Data({"b": 2, "a": 1}).as_table(), Data([1, "x"]).as_vector()
    assert [str(x) for x in members] == ["1", "2"] and not isinstance(next(iter(members)), Data)
    members.add(3)
    members.remove(Data(1))
    members.remove("no member")
    assert str(members) == "Set{2, 3}" and Data(2) in members and bool(members)
    members.clear()
    assert str(members) == "Set{}" and not members and members == broker.Set()
    table[Data("c")] = (3,)
    del table["b"]
    assert str(table) == "Table{a: 1, c: (3)}" and "a" in table and len(table) == 2
    assert [(str(k), str(v)) for k, v in table.items()] == [("a", "1"), ("c", "(3)")]
    assert [str(x) for x in table.keys()] == ["a", "c"] and [str(x) for x in table.values()] == ["1", "(3)"]
    vector.append(None)
    vector[0] = Count(7)
    vector.insert(1, True)
    vector.extend([1.0])
    assert str(vector) == "Vector[7, T, x, nil, 1.000000]"
    assert str(Data([members, table, vector])) == "({}, {a -> 1, c -> (3)}, (7, T, x, nil, 1.000000))"


def test_counts_and_enums_are_not_numbers_and_strings():
    assert Count(1) != 1 and {Count(1), 1} == {1, Count(1)} and len({Count(1), 1}) == 2
    assert Count(2) > Count(1) and sorted([Count(3), Count(2)]) == [Count(2), Count(3)]
    assert (str(Count(5)), repr(Count(5)), Count(5).value, int(Count(5))) == ("5", "Count(5)", 5, 5)
    with pytest.raises(TypeError):
        Count(1) < 2  # noqa: B015
    assert Enum("a") != "a" and Enum("a") < Enum("b") and repr(Enum("A::B")) == "A::B" and Enum("x").name == "x"


def test_addresses_tell_their_family_and_mask():
    four, six = Address(bytes([10, 1, 2, 3]), 4), Address(bytes(15) + b"\x01", 6)
    assert four.is_v4() and not four.is_v6() and six.is_v6() and repr(four) == "10.1.2.3" and repr(six) == "::1"
    assert four.mask(96 + 8) and repr(four) == "10.0.0.0" and not four.mask(129)
    assert Address() == Address(bytes(16), 6) and hash(Address()) == hash(Address(bytes(16), 6)) and six > Address()


def test_subnets_clear_host_bits_and_contain_addresses():
    subnet = Subnet(Address(bytes([10, 1, 2, 3]), 4), 8)
    assert repr(subnet) == "10.0.0.0/8" and subnet.length() == 8 and repr(subnet.network()) == "10.0.0.0"
    assert subnet.contains(Address(bytes([10, 9, 9, 9]), 4)) and not subnet.contains(Address(bytes([11, 0, 0, 0]), 4))
    assert repr(Subnet(Address(bytes(4), 4), 33)) == repr(Subnet()) == "::/0"
    assert Data.to_py(Data(subnet)) == IPv4Network("10.0.0.0/8")


def test_timespans_calculate_and_cut_as_whole_nanoseconds():
    assert Timespan(1.5) == Timespan(1_500_000_000) and Timespan(5).count() == 5 and Timespan() == Timespan(0)
    assert Timespan(7) + Timespan(3) == Timespan(10) and Timespan(7) - Timespan(9) == Timespan(-2)
    assert Timespan(7) * 2 == 2 * Timespan(7) == Timespan(14)
    assert Timespan(-7) / Timespan(2) == -3 and Timespan(-7) / 2 == Timespan(-3)
    assert Timespan(-7) % Timespan(4) == Timespan(-3) and Timespan(7) % 4 == Timespan(3)
    assert repr(Timespan(-1)) == "-1ns" and Timespan(1) < Timespan(2)


def test_timestamps_count_from_the_epoch():
    assert Timestamp(1.5).time_since_epoch() == Timespan(1.5) and Timestamp(Timespan(3)) > Timestamp()
    assert repr(Timestamp(1_700_000_000.5)) == "2023-11-14T22:13:20.500000"
    before = datetime.now(timezone.utc)
    assert before - timedelta(seconds=1) < Data.to_py(Data(broker.now())) < before + timedelta(seconds=60)


def test_codes_of_types_and_ports_have_names():
    assert str(T.EnumValue) == "Type.EnumValue" and Port.Protocol(1) is Port.TCP
    assert Port(80, Port.TCP).get_type() is Port.Protocol.TCP and Port(80, Port.TCP) < Port(80, Port.UDP)
