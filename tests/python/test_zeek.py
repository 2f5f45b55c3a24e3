# SPDX-License-Identifier: BSD-3-Clause
"""Zeek events and log records."""

import json
from pathlib import Path

import pytest
from conftest import DEADLINE

import libpubsub
from libpubsub import Count, EnumValue, Timestamp, decode, encode
from libpubsub.zeek import (Event, Field, IdentifierUpdate, LogCreate, LogReader, LogWrite, Record, RecordReader,
                            parse_messages, publish_event)

GOLDEN = Path(__file__).parent.parent / "data/golden/zeek_messages.json"
NAMES = (EnumValue("Conn::LOG"), EnumValue("Log::WRITER_ASCII"))
INFO = ("conn", 0.0, 0.0, 1.5, {}, "")
COLUMNS = (("ts", None, Count(5), Count(22), False), ("seen", None, Count(14), Count(7), True))
# The time 1.0 and an unset set
WRITTEN = bytes.fromhex("00000002" "00000005" "00000016" "01" "3ff0000000000000" "0000000e" "00000007" "00")

# Supervisor::node_status("TEST", 42) with timestamp 0
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


PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACEPARENT, TRACESTATE = Count(0x7470), Count(0x7473)


def test_an_event_says_which_trace_it_belongs_to():
    event = Event("e", 1, timestamp=Timestamp(0), traceparent=PARENT, tracestate="vendor=1")
    again = Event.from_data(decode(encode(event)))
    assert again == event != Event("e", 1, timestamp=Timestamp(0), traceparent=PARENT)
    assert (again.traceparent, again.tracestate) == (PARENT, "vendor=1")
    assert repr(again) == f"Event('e', 1, timestamp={Timestamp(0)!r}, traceparent={PARENT!r}, tracestate='vendor=1')"
    assert Event("e", tracestate="vendor=1").to_data() == Event("e").to_data()
    again.traceparent = None
    assert again.to_data() == Event("e", 1, timestamp=Timestamp(0)).to_data()


@pytest.mark.parametrize("wrong", ["", PARENT + "0", PARENT + "\n", PARENT[1:], PARENT.upper(), "01" + PARENT[2:], PARENT.replace("-", "_"),
                                   "00-" + "0" * 32 + PARENT[35:], PARENT[:36] + "0" * 16 + "-01", PARENT[:-1] + "g", 5])
def test_a_traceparent_that_is_none_is_refused_and_not_read(wrong):
    with pytest.raises(libpubsub.InvalidArgument, match="no traceparent"):
        Event("e", traceparent=wrong)
    event = Event.parse((1, 1, ("e", (), ((TRACEPARENT, wrong), (TRACESTATE, "a=1"), (TRACEPARENT, PARENT)))))
    assert (event.traceparent, event.tracestate) == (None, None)


@pytest.mark.parametrize("wrong", ["", "a" * 513, "a=\n", "ä=1", 5])
def test_a_tracestate_that_is_none_is_refused_and_not_read(wrong):
    with pytest.raises(libpubsub.InvalidArgument, match="no tracestate"):
        Event("e", traceparent=PARENT, tracestate=wrong)
    event = Event.parse((1, 1, ("e", (), ((TRACEPARENT, PARENT), (TRACESTATE, wrong)))))
    assert (event.traceparent, event.tracestate) == (PARENT, None)


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


def message(kind, *content):
    return decode(encode((Count(1), Count(kind), content)))


def test_every_message_a_real_broker_writes_is_read():
    kinds = []
    for each in json.loads(GOLDEN.read_text()):
        kinds += [type(x).__name__ for x in parse_messages(decode(bytes.fromhex(each["hex"])))]
    assert kinds == ["Event"] * 6 + ["LogCreate", "LogWrite", "IdentifierUpdate", "Event", "Event", "LogWrite"]


def test_logs_and_batches_become_values():
    event = Event("e", Count(1), timestamp=Timestamp(0))
    batch = message(5, event, message(5, message(3, *NAMES, "conn", WRITTEN), message(4, "Site::name", "x")))
    write = LogWrite(*NAMES, "conn", WRITTEN)
    assert parse_messages(batch) == [event, write, IdentifierUpdate("Site::name", "x")]
    assert write.values() == (Timestamp(1_000_000_000), None)
    assert parse_messages(message(2, *NAMES, INFO, COLUMNS)) == [
        LogCreate(*NAMES, "conn", (Field("ts", "time"), Field("seen", "set[string]")))]


@pytest.mark.parametrize("data, complaint", [
    (None, "not a Zeek message"), ((1, 1), "not a Zeek message"), (message(6), "unknown type"), (message(0), "unknown type"),
    ((Count(1), Count(2), "x"), "without type or content"), (message(1, "e"), "not a Zeek event"),
    (message(2, *NAMES), "without stream and writer"), (message(2, "s", "w", INFO, COLUMNS), "without stream and writer"),
    (message(2, *NAMES, INFO, "x"), "without fields"), (message(2, *NAMES, INFO, (("ts", None, Count(23), Count(22)),)),
                                                        "malformed"),
    (message(3, *NAMES, 5, ""), "without path or record"), (message(3, *NAMES, "conn", 5), "without path or record"),
    (message(4, "id"), "without a name"), (message(5, message(4, "id", 1), message(4)), "without a name")])
def test_a_message_that_is_none_says_what_is_wrong(data, complaint):
    with pytest.raises(libpubsub.DecodeError, match=complaint):
        parse_messages(data)


@pytest.mark.parametrize("serialized", [b"", b"serial\0data\0", WRITTEN[:-1], WRITTEN + b"x", b"\xff\xff\xff\xff"])
def test_bytes_that_are_no_record_are_refused_with_the_column(serialized):
    with pytest.raises(libpubsub.DecodeError, match="column 0|column 1|column 2"):
        LogWrite(*NAMES, "conn", serialized).values()


def test_records_of_zeek_get_the_names_of_their_columns(endpoint):
    subscriber = endpoint.make_subscriber("zeek/logs/")
    topic = "zeek/logs/Conn::LOG"
    write = message(3, *NAMES, "conn", WRITTEN)
    for each in (write, message(2, *NAMES, INFO, COLUMNS), message(5, write, Event("e"), write), "no message",
                 message(3, *NAMES, "conn", "no record"), message(3, *NAMES, "other", WRITTEN)):
        endpoint.publish(topic, each)
    endpoint.close()
    reader = LogReader(subscriber)
    assert list(reader) == [Record("conn", {"ts": Timestamp(1_000_000_000), "seen": None})] * 2
    assert reader.skipped == 3
    assert reader.schemas == {"conn": (Field("ts", "time"), Field("seen", "set[string]"))}


def test_a_log_reader_reads_records_that_are_events_as_well(endpoint):
    subscriber = endpoint.make_subscriber("zeek/logs/")
    topic = "zeek/logs/conn"
    columns = Event("log_fields", "conn", (("ts", "time"), ("n", "count")))
    record = Event("log_conn", (Timestamp(1), Count(7)))
    for each in (record, columns, record, message(5, record, Event("e")), Event("log_conn", (Timestamp(1),)), Event("log_other", ())):
        endpoint.publish(topic, each)
    endpoint.close()
    reader = LogReader(subscriber)
    assert list(reader) == [Record("conn", {"ts": Timestamp(1), "n": Count(7)})] * 2
    assert reader.skipped == 3
    assert reader.schemas == {"conn": (Field("ts", "time"), Field("n", "count"))}


def test_a_log_that_comes_in_both_forms_has_the_columns_of_each(endpoint):
    reader = LogReader()
    event = Event("log_conn", (Timestamp(1), Count(7))).to_data()
    write = message(3, *NAMES, "conn", WRITTEN)
    assert reader.feed(Event("log_fields", "conn", (("when", "time"), ("n", "count"))).to_data()) == []
    assert reader.feed(message(2, *NAMES, INFO, COLUMNS)) == []
    for _ in range(2):
        assert [each.values.keys() for each in reader.feed(event)] == [{"when", "n"}]
        assert [field.name for field in reader.schemas["conn"]] == ["when", "n"]
        assert [each.values.keys() for each in reader.feed(write)] == [{"ts", "seen"}]
        assert [field.name for field in reader.schemas["conn"]] == ["ts", "seen"]
    assert reader.skipped == 0
