# SPDX-License-Identifier: BSD-3-Clause
"""Times are exact to the nanosecond and otherwise behave as datetime and timedelta do."""

import copy
from datetime import datetime, timedelta, timezone

import pytest

from libpubsub import Timespan, Timestamp, decode, encode

EXACT = Timestamp(1_700_000_000_123_456_789)
PLAIN = datetime(2023, 11, 14, 22, 13, 20, 123456, timezone.utc)


def test_a_timestamp_is_a_datetime_in_utc_with_nanoseconds():
    assert isinstance(EXACT, datetime)
    assert EXACT.ns == 1_700_000_000_123_456_789
    assert (EXACT.year, EXACT.microsecond, EXACT.tzinfo) == (2023, 123456, timezone.utc)
    assert EXACT.to_datetime() == PLAIN and type(EXACT.to_datetime()) is datetime
    assert repr(EXACT) == "Timestamp('2023-11-14T22:13:20.123456789Z')"
    assert eval(repr(EXACT)) == EXACT
    assert str(EXACT) == "2023-11-14 22:13:20.123456789+00:00"


@pytest.mark.parametrize("ns", [0, 1, -1, 999, 1000, -1000, 2**63 - 1, -(2**63), 951_868_800_000_000_000,
                                -62_000_000_001, 4_107_542_400_000_000_001])
def test_decoded_times_equal_constructed_ones_in_every_field(ns):
    made, came = Timestamp(ns), decode(encode(Timestamp(ns)))
    assert came.ns == made.ns == ns
    assert came.to_datetime() == came.replace() == made.to_datetime()
    assert came.timetuple() == made.timetuple() and came.microsecond == made.microsecond
    span = decode(encode(Timespan(ns)))
    assert (span.ns, span.days, span.seconds, span.microseconds) == (
        ns, Timespan(ns).days, Timespan(ns).seconds, Timespan(ns).microseconds)


def test_aware_datetimes_of_any_zone_go_in_exactly():
    zone = timezone(timedelta(hours=5, minutes=30))
    assert decode(encode(PLAIN.astimezone(zone))).ns == 1_700_000_000_123_456_000
    assert Timestamp(PLAIN) == PLAIN and hash(Timestamp(PLAIN)) == hash(PLAIN)


def test_comparison_with_datetime_sees_the_nanoseconds():
    assert EXACT > PLAIN and EXACT >= PLAIN and EXACT != PLAIN and PLAIN < EXACT and PLAIN <= EXACT
    assert not (EXACT < PLAIN or EXACT <= PLAIN or PLAIN > EXACT or PLAIN == EXACT)
    later = PLAIN + timedelta(microseconds=1)
    assert EXACT < later and EXACT <= later and later > EXACT
    assert sorted([later, EXACT, PLAIN]) == [PLAIN, EXACT, later]
    assert Timestamp(1) < Timestamp(2) <= Timestamp(2) and Timestamp(1) != Timestamp(2)


def test_naive_datetimes_never_compare_equal_and_are_refused():
    naive = datetime(2023, 11, 14)
    assert Timestamp(0) != naive
    with pytest.raises(TypeError):
        Timestamp(0) < naive
    with pytest.raises(ValueError, match="naive"):
        Timestamp(naive)


def test_sums_and_differences_stay_exact():
    assert EXACT + Timespan(1) == Timestamp(EXACT.ns + 1) == Timespan(1) + EXACT
    assert EXACT - Timespan(790) == Timestamp(EXACT.ns - 790)
    assert EXACT - PLAIN == Timespan(789) and PLAIN - EXACT == Timespan(-789)
    assert EXACT + timedelta(seconds=1) == Timestamp(EXACT.ns + 10**9)
    assert -Timespan(5) == Timespan(-5) and abs(Timespan(-5)) == Timespan(5) and bool(Timespan(1))
    assert timedelta(microseconds=1) - Timespan(1) == Timespan(999)


def test_other_inherited_methods_give_plain_python_types():
    zone = timezone(timedelta(hours=1))
    assert type(EXACT.astimezone(zone)) is datetime and EXACT.astimezone(zone) == PLAIN
    assert type(EXACT.replace(year=2000)) is datetime
    assert type(Timespan(10**9) / 2) is timedelta and Timespan(1500).total_seconds() == 1.5e-6


def test_spans_compare_and_print():
    assert Timespan(1000) == timedelta(microseconds=1) and hash(Timespan(1000)) == hash(timedelta(microseconds=1))
    assert Timespan(1001) > timedelta(microseconds=1) and timedelta(microseconds=1) < Timespan(1001)
    assert isinstance(Timespan(1), timedelta) and repr(Timespan(7)) == "Timespan(7)"
    assert str(Timespan(1_500_000_001)) == "0:00:01.500000001" and str(Timespan(10**9)) == "0:00:01"
    assert Timespan(1) != 1


def test_text_is_parsed_exactly_or_refused():
    assert Timestamp("2023-11-14T22:13:20.5Z").ns == 1_700_000_000_500_000_000
    assert Timestamp("1969-12-31 23:59:59.999999999+00:00").ns == -1
    for text in ("2023-11-14T22:13:20", "2023-11-14", "2023-11-14T22:13:20.1234567890Z", "soon"):
        with pytest.raises(ValueError):
            Timestamp(text)
    for bad in (2**63, -(2**63) - 1):
        with pytest.raises(OverflowError):
            Timestamp(bad)
        with pytest.raises(OverflowError):
            Timespan(bad)


def test_copies_are_equal_and_now_is_now():
    assert copy.deepcopy(EXACT) == EXACT and type(copy.copy(EXACT)) is Timestamp
    assert abs(Timestamp.now() - datetime.now(timezone.utc)) < timedelta(seconds=5)
