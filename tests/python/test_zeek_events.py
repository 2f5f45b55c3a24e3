# SPDX-License-Identifier: BSD-3-Clause
"""`libpubsub.zeek.Events`: what the messages of a subscriber say, by every way of reading them."""

import asyncio
import gc
import threading

import pytest
from conftest import DEADLINE

import libpubsub
from libpubsub import Count, EnumValue, Timestamp, zeek
from libpubsub.zeek import Event

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TIME, TRACEPARENT, TRACESTATE, USERS = Count(1), Count(0x7470), Count(0x7473), Count(200)


class Float:
    """Another member of a set than 1, until it has travelled."""

    def to_data(self):
        return 1.0


def envelope(*content, version=Count(1), kind=Count(1), more=()):
    return (version, kind, content, *more)


EVENTS = [
    Event("e"),
    Event("Pkg::a_longer_name", "text", Count(1), -1, 1.5, None, True, b"\xff", EnumValue("E"), (1, "x"), {1: 2}, {1, 2}),
    Event("e", 1, timestamp=Timestamp(1_700_000_000_123_456_789)),
    Event("e", 1, timestamp=Timestamp(0), traceparent=PARENT, tracestate="vendor=1"),
    Event("e", 1, traceparent=PARENT),
    Event("ä" * 20),
    envelope("e", (1,), ()),
    envelope("e", (1,), more=("beyond",)),
    envelope("e", (1,), (), "beyond"),
    envelope("e", (1,), ((USERS, "x"), (TIME, Timestamp(5)), (TIME, Timestamp(6)))),
    envelope("e", (1,), ((TIME, Timestamp(5), "beyond"),)),
    envelope("e", (1,), ((TRACEPARENT, PARENT.upper()), (TRACESTATE, "a=1"))),
    envelope("e", (1,), ((TRACEPARENT, PARENT), (TRACEPARENT, "x"), (TRACESTATE, "a=\n"))),
    envelope("e", (1,), ((TRACEPARENT, 5), (TRACESTATE, b"\xff"))),
    envelope("e", (1,), ((TRACEPARENT, PARENT), (TRACESTATE, ""))),
    # What Zeek does not send, but is read as if it had
    envelope("e", (1,), version=1, kind=1),
    envelope("e", (1,), "no metadata"),
    envelope("e", (1,), (("no count", 5),)),
    envelope("e", (1,), ((TIME, Timestamp(5)), (TIME, 5))),
    envelope(EnumValue("e"), (1,)),
]
OTHERS = [
    None, "text", (), (Count(1), Count(1)), envelope(), envelope("e"), envelope("e", 5), envelope(5, ()),
    envelope(b"\xff", (1,)), envelope("e", (), (5,)), envelope("e", (), ((TIME,),)), envelope("e", (), ((TIME, 5),)),
    envelope("e", (), version=Count(2)), envelope("e", (), kind=Count(2)), envelope("e", (), kind=Count(5)),
    (Count(1), Count(1), "text"), {1: 2},
]
MIXED = [each for pair in zip(OTHERS, EVENTS) for each in pair] + EVENTS[len(OTHERS):] + OTHERS[len(EVENTS):]


def by_iteration(events):
    return list(events)


def by_get(events):
    found = []
    with pytest.raises(libpubsub.Closed):
        while True:
            found.append(events.get(DEADLINE))
    return found


def by_async_iteration(events):
    async def read():
        return [event async for event in events]
    return asyncio.run(read())


def by_get_async(events):
    async def read():
        found = []
        with pytest.raises(libpubsub.Closed):
            while True:
                found.append(await events.get_async(DEADLINE))
        return found
    return asyncio.run(read())


WAYS = pytest.mark.parametrize("read", [by_iteration, by_get, by_async_iteration, by_get_async])


def typed(value):
    """A value in which 1, Count(1) and 1.0 are three."""
    if isinstance(value, (tuple, frozenset)):
        return type(value), *map(typed, sorted(value) if isinstance(value, frozenset) else value)
    return type(value), value


def described(event):
    return (typed((event.name, event.args, event.timestamp)), event.traceparent, event.tracestate, event.topic, repr(event),
            hash(event) if not any(isinstance(each, dict) for each in event.args) else None)


@WAYS
def test_every_way_finds_the_events_that_are_in_the_data_and_counts_the_rest(endpoint, read):
    events = zeek.Events(endpoint.make_subscriber("t/"))
    plain = endpoint.make_subscriber("t/")
    for number, value in enumerate(MIXED):
        endpoint.publish(f"t/{number}", value)
    expected = []
    for message in plain.poll():
        event = Event.parse(message.data)
        if event is not None:
            event.topic = message.topic
            expected.append(event)
    endpoint.close()
    found = read(events)
    assert found == expected
    assert [*map(described, found)] == [*map(described, expected)]
    assert (len(found), events.skipped) == (len(EVENTS), len(OTHERS))
    assert {type(each) for each in found} == {Event}


@WAYS
def test_an_event_without_a_form_in_python_is_said_and_the_next_one_comes(endpoint, read):
    events = zeek.Events(endpoint.make_subscriber("t"))
    endpoint.publish("t", Event("e", {Count(1), Float()}))
    endpoint.publish("t", Event("e", "next"))
    endpoint.close()
    with pytest.raises(libpubsub.DecodeError, match="type only"):
        read(events)
    assert read(events) == [Event("e", "next")]
    assert events.skipped == 0


def test_an_event_that_came_is_like_one_that_was_made(endpoint):
    events = zeek.Events(endpoint.make_subscriber("t"))
    endpoint.publish("t", Event("e", 1))
    event = events.get(DEADLINE)
    event.traceparent = PARENT
    with pytest.raises(libpubsub.InvalidArgument):
        event.tracestate = "\n"
    event.name, event.args, event.timestamp = "other", (event, 2), Timestamp(3)
    endpoint.publish("t", Event(event.name, event.args[1], timestamp=event.timestamp, traceparent=event.traceparent))
    assert events.get(DEADLINE) == Event("other", 2, timestamp=Timestamp(3), traceparent=PARENT)
    gc.collect()
    alive = sum(isinstance(each, Event) for each in gc.get_objects())
    del event  # which holds itself
    gc.collect()
    assert sum(isinstance(each, Event) for each in gc.get_objects()) == alive - 1


def test_each_event_goes_to_one_of_the_threads_that_iterate(endpoint):
    events, count = zeek.Events(endpoint.make_subscriber("t")), 5000
    found = [[], []]
    threads = [threading.Thread(target=lambda to=to: to.extend(event.args[0] for event in events)) for to in found]
    for thread in threads:
        thread.start()
    for number in range(count):
        endpoint.publish("t", Event("e", number))
    assert endpoint.drain(DEADLINE) == 0
    endpoint.close()
    for thread in threads:
        thread.join(DEADLINE)
    assert sorted(found[0] + found[1]) == list(range(count))
    assert [*map(sorted, found)] == found


def test_only_messages_are_read_as_events():
    with pytest.raises(TypeError, match="a Message was expected, not a str"):
        zeek.messages.read_event("text")
