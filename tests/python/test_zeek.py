"""Zeek events and log records."""

import pytest
from conftest import DEADLINE

import libpubsub
from libpubsub import Count, Timestamp, decode, encode
from libpubsub.zeek import Event, Field, Record, RecordReader, publish_event

# zeek-event, section 2: Supervisor::node_status("TEST", 42) with timestamp 0
VECTOR = bytes.fromhex("0E03" "020000000000000001" "020000000000000001" "0E03" "0517"
                       + b"Supervisor::node_status".hex() + "0E02" "0504" + b"TEST".hex()
                       + "02000000000000002A" "0E01" "0E02" "020000000000000001" "090000000000000000")


def test_an_event_has_the_bytes_zeek_gives_it():
    event = Event("Supervisor::node_status", "TEST", Count(42), timestamp=Timestamp(0))
    assert encode(event) == VECTOR == encode(event.to_data())
    assert Event.from_data(decode(VECTOR)) == event
    assert repr(event) == ("Event('Supervisor::node_status', 'TEST', Count(42), "
                           "timestamp=Timestamp('1970-01-01T00:00:00Z'))")


def test_metadata_may_be_absent_empty_or_unknown():
    plain = Event("e", 1)
    assert Event.parse(decode(encode(plain))) == plain
    assert Event.parse((1, 1, ("e", (1,), ()))) == plain
    assert Event.parse((1, 1, ("e", (1,), ((Count(200), "x"),)))) == plain
    assert Event.parse((1, 1, ("e", (1,)), "more")) == plain


@pytest.mark.parametrize("data", [None, (), (1, 1), (1, 2, ("e", ())), (2, 1, ("e", ())), (1, 1, ("e",)),
                                  (1, 1, (5, ())), (1, 1, ("e", 5)), (1, 1, ("e", (), (5,))),
                                  (1, 1, ("e", (), ((Count(1), 5),)))])
def test_what_is_no_event_is_not_taken_for_one(data):
    assert Event.parse(data) is None
    with pytest.raises(libpubsub.DecodeError, match="not a Zeek event"):
        Event.from_data(data)


def test_events_are_published_like_values(endpoint):
    subscriber = endpoint.make_subscriber("zeek/events")
    publish_event(endpoint, "zeek/events/a", "Pkg::ping", Count(1))
    endpoint.publish("zeek/events/b", Event("Pkg::ping", Count(1)))
    assert [Event.parse(subscriber.get(DEADLINE).data) for _ in range(2)] == [Event("Pkg::ping", Count(1))] * 2


def test_records_become_dictionaries_once_their_columns_are_known(endpoint):
    subscriber = endpoint.make_subscriber("zeek/records/")
    topic = "zeek/records/dns"
    publish_event(endpoint, topic, "log_dns", ("early", Count(1)))
    publish_event(endpoint, topic, "log_fields", "dns", (("query", "string"), ("hits", "count")))
    publish_event(endpoint, topic, "log_dns", ("a.example", Count(1)))
    publish_event(endpoint, topic, "log_dns", ("too few",))
    endpoint.publish(topic, "no event")
    publish_event(endpoint, topic, "log_fields", "dns", (("query", "string"),))
    publish_event(endpoint, topic, "log_dns", ("b.example",))
    endpoint.close()
    reader = RecordReader(subscriber)
    assert list(reader) == [Record("dns", {"query": "a.example", "hits": 1}), ("dns", {"query": "b.example"})]
    assert reader.skipped == 2
    assert reader.schemas == {"dns": (Field("query", "string"),)}
