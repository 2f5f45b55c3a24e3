# SPDX-License-Identifier: BSD-3-Clause
"""libpubsub.broker.zeek: events made, sent, received and refused."""

from datetime import datetime, timezone

import pytest
from conftest import DEADLINE

import libpubsub
import libpubsub.broker as broker
import libpubsub.broker.zeek
from libpubsub.broker import Count, Data
from libpubsub.broker.zeek import Event, MetadataType, SafeEvent

HERE = "127.0.0.1"
MOMENT = datetime(2023, 5, 3, 9, 27, 57, 123_456, timezone.utc)
TIME = MetadataType.NetworkTimestamp
UNSAFE = broker.Set([{"a": 1}])


def test_the_bytes_of_an_event_are_those_in_the_specification():
    zero = datetime(1970, 1, 1, tzinfo=timezone.utc)
    event = Event("Supervisor::node_status", "TEST", Count(42), metadata={TIME: zero})
    assert libpubsub.encode(event) == (
        bytes.fromhex("0e03 020000000000000001 020000000000000001 0e03 0517") + b"Supervisor::node_status"
        + bytes.fromhex("0e02 0504") + b"TEST" + bytes.fromhex("02000000000000002a")
        + bytes.fromhex("0e01 0e02 020000000000000001 090000000000000000"))


def test_an_event_has_a_name_arguments_and_maybe_metadata():
    plain = Event("Pkg::ping", "X", Count(1), [1, {"a"}])
    assert plain.valid() and plain.metadata() is None
    assert (plain.name(), plain.args()) == ("Pkg::ping", ["X", Count(1), (1, {"a"})])
    assert Event("bare").args() == [] and Event("bare").valid()
    for given in ({1: MOMENT, Count(200): "custom"}, [(TIME, MOMENT), (MetadataType.UserMetadataStart, "custom")]):
        assert Event("e", metadata=given).metadata() == [(Count(1), MOMENT), (Count(200), "custom")]
    assert Event("e", metadata={}).metadata() is None and Event("e", metadata=[]).valid()


def test_making_an_event_leaves_the_callers_metadata_alone():
    metadata = [(1, MOMENT)]
    Event("e", metadata=metadata)
    assert metadata == [(1, MOMENT)]


def test_an_event_is_read_from_what_was_received():
    made = Event("e", 1, metadata={1: MOMENT})
    for source in (made, libpubsub.decode(libpubsub.encode(made)), made.as_data(),
                   libpubsub.zeek.Event("e", 1, timestamp=MOMENT)):
        event = Event(source)
        assert event.valid() and (event.name(), event.args(), dict(event.metadata())) == ("e", [1], {TIME: MOMENT})


@pytest.mark.parametrize("data", [
    None, 1, (), (1, 2), {}, {"a": 1}, (Count(1), Count(1)), (Count(1), Count(1), "content"), (Count(1), Count(1), ()),
    (Count(1), Count(1), ("name",)), (Count(1), Count(1), (b"name", "args")), (Count(1), Count(1), (1, ())),
    (Count(2), Count(1), ("name", ())), (Count(1), Count(2), ("name", ())), (1, 1, ("name", ())),
    (Count(1), Count(1), ("name", (), None)), (Count(1), Count(1), ("name", (), "metadata")),
    (Count(1), Count(1), ("name", (), (1,))), (Count(1), Count(1), ("name", (), ((Count(2),),))),
    (Count(1), Count(1), ("name", (), ((2, "not a count"),))), (Count(1), Count(1), ("name", (), ((TIME, 1.5),))),
], ids=repr)
def test_what_is_no_event_is_invalid_and_has_no_parts(data):
    event = Event(data)
    assert not event.valid()
    for part in (event.name, event.args, event.metadata):
        with pytest.raises(ValueError, match="invalid Event data"):
            part()


def test_a_network_time_that_is_no_time_makes_an_event_invalid():
    assert not Event("e", metadata=[(TIME, "yesterday")]).valid() and not Event("e", metadata={1: 1.5}).valid()
    with pytest.raises(TypeError):
        Event()


def test_fields_that_zeek_may_add_are_passed_over():
    assert Event((Count(1), Count(1), ("name", (7,), (), "more"), "and more")).args() == [7]


def test_events_cross_a_peering_whole():
    with broker.Endpoint() as one, broker.Endpoint() as other, one.make_subscriber("/t") as plain, \
            one.make_safe_subscriber("/t") as safe:
        assert other.peer(HERE, one.listen(HERE, 0), 1.0)
        with other.make_publisher("/t") as publisher:
            publisher.publish(Event("ping", "X", metadata={TIME: MOMENT, Count(1234): "custom"}))
        event = Event(plain.get(DEADLINE)[1])
        assert event.name() == "ping" and dict(event.metadata()) == {TIME: MOMENT, Count(1234): "custom"}
        other.publish("/t", Event("hello", UNSAFE))
        with pytest.raises(TypeError, match="unhashable"):
            plain.get(DEADLINE)
        received = safe.get(2, DEADLINE)[1][1]
        with pytest.raises(TypeError, match="unhashable"):
            Event(received).args()
        assert SafeEvent(received).args() == [frozenset({broker.ImmutableData.HashableReadOnlyDict(a=1)})]


def test_the_librarys_own_events_are_the_same_on_the_wire():
    own = libpubsub.zeek.Event("e", libpubsub.Count(1), timestamp=libpubsub.Timestamp(MOMENT))
    encoded = libpubsub.encode(Event("e", Count(1), metadata={TIME: MOMENT}))
    assert encoded == libpubsub.encode(own) and libpubsub.zeek.Event.parse(libpubsub.decode(encoded)) == own


def test_the_module_can_be_imported_and_printed():
    assert libpubsub.broker.zeek.Event is broker.zeek.Event is Event
    assert repr(SafeEvent("e", 1)) == "<SafeEvent (1, 1, (e, (1)))>"
    assert SafeEvent("e").as_data() == Data((Count(1), Count(1), ("e", ())))
