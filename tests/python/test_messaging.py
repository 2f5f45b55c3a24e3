# SPDX-License-Identifier: BSD-3-Clause
"""Publishing and receiving inside one process."""

import gc
import select
import threading
import time
import weakref

import pytest
from conftest import DEADLINE, wait_until

import libpubsub
from libpubsub import PublishResult


def test_a_message_arrives_with_topic_and_data(endpoint):
    with endpoint.make_subscriber("/topic") as subscriber:
        assert endpoint.publish("/topic/test", [1, "two"]) is PublishResult.TAKEN
        message = subscriber.get(DEADLINE)
        topic, data = message
        assert (topic, data) == (message.topic, message.data) == ("/topic/test", (1, "two"))
        assert message.data is message.data
        assert repr(message) == "Message(topic='/topic/test', data=(1, 'two'))"
        assert libpubsub.decode(message.raw) == data
        assert message.to_json().startswith('{"type":"data-message","topic":"/topic/test"')
        with pytest.raises(TypeError):
            type(message)()


def test_prefixes_select_and_can_change(endpoint):
    subscriber = endpoint.make_subscriber(["/a", "/b/c"])
    assert subscriber.topics == ["/a", "/b/c"]
    subscriber.add_topic("/d")
    subscriber.remove_topic("/a")
    results = [endpoint.publish(topic, 0) for topic in ("/a", "/b", "/b/cd", "/d/x")]
    assert results == [PublishResult.UNWANTED] * 2 + [PublishResult.TAKEN] * 2
    assert [message.topic for message in subscriber.poll()] == ["/b/cd", "/d/x"]


def test_topics_are_bytes_and_survive_as_surrogate_escapes(endpoint):
    subscriber = endpoint.make_subscriber("")
    endpoint.publish("/\udcff/ä", 1)
    assert subscriber.get(DEADLINE).topic == "/\udcff/ä"


def test_batches_come_in_order_and_end_with_the_endpoint():
    with libpubsub.Endpoint() as endpoint:
        subscriber = endpoint.make_subscriber("")
        assert endpoint.publish_batch("t", range(5000)) == 5000
        assert [m.data for m in subscriber.get_batch(10)] == list(range(10))
        assert [m.data for m in subscriber.get_batch(max=3, timeout=0)] == [10, 11, 12]
    assert [message.data for message in subscriber] == list(range(13, 5000))
    assert subscriber.poll() == []
    for read in (subscriber.get, subscriber.get_batch):
        with pytest.raises(libpubsub.Closed):
            read()


def test_batches_of_lists_tuples_and_generators_are_the_same(endpoint):
    publisher = endpoint.make_publisher("t")
    subscriber = endpoint.make_subscriber("t")
    for values in ([1, 2], (1, 2), (x for x in (1, 2)), {1: "a", 2: "b"}):
        assert publisher.publish_batch(values) == 2
        assert [m.data for m in subscriber.get_batch(10, DEADLINE)] == [1, 2]


def test_a_bad_value_in_a_batch_stops_it_after_those_before(endpoint):
    subscriber = endpoint.make_subscriber("t")
    with pytest.raises(libpubsub.EncodeTypeError):
        endpoint.publish_batch("t", [1, 2, object(), 3])
    assert [m.data for m in subscriber.poll()] == [1, 2]


def test_an_iteration_broken_off_loses_nothing(endpoint):
    subscriber = endpoint.make_subscriber("t")
    endpoint.publish_batch("t", range(100))
    for message in subscriber:
        if message.data == 9:
            break
    assert subscriber.available() == 90
    assert subscriber.counters().as_dict()["queued"] == 90 and subscriber.counters().delivered == 10
    assert subscriber.get().data == 10
    assert next(subscriber).data == 11
    assert [m.data for m in subscriber.poll()] == list(range(12, 100))


def test_what_is_taken_ahead_is_counted_as_dropped_on_close(endpoint):
    subscriber = endpoint.make_subscriber("t")
    endpoint.publish_batch("t", range(10))
    next(subscriber)
    subscriber.close()
    counters = subscriber.counters()
    assert (counters.offered, counters.delivered, counters.queued, counters.dropped_closed) == (10, 1, 0, 9)


def test_get_returns_none_on_time_out(endpoint):
    subscriber = endpoint.make_subscriber("t")
    assert subscriber.get(0) is None and subscriber.get(0.01) is None and subscriber.get(-1) is None
    assert subscriber.get_batch(5, 0.01) == []
    for bad in (float("nan"),):
        with pytest.raises(libpubsub.InvalidArgument):
            subscriber.get(bad)


@pytest.mark.parametrize("policy, kept", [("drop_oldest", [6, 7, 8, 9]), ("drop_newest", [0, 1, 2, 3])])
def test_a_full_queue_drops_by_policy_and_counts(endpoint, policy, kept):
    subscriber = endpoint.make_subscriber("t", capacity=4, policy=policy)
    results = [endpoint.publish("t", i) for i in range(10)]
    assert results == [PublishResult.TAKEN] * 4 + [PublishResult.DROPPED] * 6
    assert [m.data for m in subscriber.poll()] == kept
    assert getattr(subscriber.counters(), "dropped_" + policy[5:]) == 6


def test_a_queue_that_conflates_keeps_the_newest_of_each_topic(endpoint):
    subscriber = endpoint.make_subscriber("t", policy="conflate")
    for i in range(10):
        assert endpoint.publish(f"t/{i % 3}", i) is PublishResult.TAKEN
    assert [(m.topic, m.data) for m in subscriber.poll()] == [("t/1", 7), ("t/2", 8), ("t/0", 9)]
    counters = subscriber.counters()
    assert (counters.offered, counters.delivered, counters.conflated, counters.dropped) == (10, 3, 7, 7)


def test_a_subscriber_that_disconnects_ends_after_what_it_holds(endpoint):
    subscriber = endpoint.make_subscriber("t", capacity=2, policy="disconnect")
    results = [endpoint.publish("t", i) for i in range(4)]
    assert results == [PublishResult.TAKEN] * 2 + [PublishResult.DROPPED, PublishResult.UNWANTED]
    assert [m.data for m in subscriber] == [0, 1]
    assert subscriber.closed and subscriber.counters().dropped_overflow == 1
    with pytest.raises(libpubsub.Closed):
        subscriber.get(0)


def test_publish_waits_for_room_as_long_as_it_is_told(endpoint):
    subscriber = endpoint.make_subscriber("t", capacity=1)
    publisher = endpoint.make_publisher("t")
    assert publisher.publish(1, timeout=DEADLINE) is PublishResult.TAKEN
    for timeout in (0, -1, 0.01, 0.25):  # the last one waits in several steps
        before = time.monotonic()
        assert publisher.publish(2, timeout) is PublishResult.WOULD_BLOCK
        assert time.monotonic() - before >= timeout
    assert endpoint.publish("t", 2, timeout=0) is PublishResult.WOULD_BLOCK
    with pytest.raises(libpubsub.InvalidArgument):
        publisher.publish(2, timeout=float("nan"))
    counters = publisher.counters()
    assert (counters.published, counters.would_block, counters.refused) == (1, 4, 0)
    assert endpoint.counters().subscribers.offered == 1
    thread = threading.Thread(target=publisher.publish, args=(2, DEADLINE))
    thread.start()
    assert [subscriber.get(DEADLINE).data for _ in range(2)] == [1, 2]
    thread.join(DEADLINE)
    assert publisher.counters().as_dict()["published"] == 2


def test_messages_tell_who_published_them(endpoint):
    subscriber = endpoint.make_subscriber("t")
    publisher = endpoint.make_publisher("t")
    publisher.publish_batch(range(3))
    origins = [m.origin for m in subscriber.poll()]
    assert [number for _, _, number in origins] == [0, 1, 2]
    assert {id for id, _, _ in origins} == {endpoint.id} and len({stream for _, stream, _ in origins}) == 1
    assert subscriber.counters().missed == 0 and subscriber.counters().restarts == 0


def test_a_full_queue_that_blocks_says_so_and_lets_the_publisher_wait(endpoint):
    subscriber = endpoint.make_subscriber("t", capacity=2, policy="block")
    assert endpoint.publish_batch("t", [0, 1]) == 2
    assert endpoint.try_publish("t", 2) is PublishResult.WOULD_BLOCK
    thread = threading.Thread(target=endpoint.publish_batch, args=("t", range(2, 500)))
    thread.start()
    assert [subscriber.get(DEADLINE).data for _ in range(500)] == list(range(500))
    thread.join(DEADLINE)
    assert not thread.is_alive() and subscriber.counters().dropped_oldest == 0


def test_options_and_topics_that_cannot_be_used_are_refused(endpoint):
    for make in (lambda: endpoint.make_subscriber("t", capacity=0),
                 lambda: endpoint.make_subscriber("t", policy="maybe"),
                 lambda: libpubsub.Endpoint(link_capacity=0),
                 lambda: endpoint.make_publisher("a<$>b"),
                 lambda: endpoint.publish("x" * 70_000, 1)):
        with pytest.raises(libpubsub.InvalidArgument):
            make()
    with pytest.raises(libpubsub.PubsubError):
        libpubsub.Endpoint("not a uuid")
    with pytest.raises(TypeError):
        endpoint.publish(3, 1)


def test_the_descriptor_is_readable_while_something_is_there(endpoint):
    subscriber = endpoint.make_subscriber("t")

    def readable():
        return bool(select.select([subscriber], [], [], 0)[0])

    assert not readable()
    endpoint.publish_batch("t", [1, 2])
    assert readable() and subscriber.get().data == 1
    assert readable() and subscriber.get().data == 2
    assert not readable()
    subscriber.close()
    assert readable()


def test_own_messages_can_be_switched_off():
    with libpubsub.Endpoint(own_messages=False) as endpoint:
        subscriber = endpoint.make_subscriber("t")
        assert endpoint.publish("t", 1) is PublishResult.UNWANTED
        assert subscriber.get(0) is None


def test_waiting_for_subscribers_ends_when_they_are_there(endpoint):
    publisher = endpoint.make_publisher("t")
    assert not publisher.wait_for_subscribers(timeout=0.01)
    made = []
    thread = threading.Thread(target=lambda: made.append(endpoint.make_subscriber("t")))
    thread.start()
    assert publisher.wait_for_subscribers(1, DEADLINE) and endpoint.wait_for_subscribers("t", 1, DEADLINE)
    thread.join()
    assert publisher.subscribers() == endpoint.subscribers("t") == 1
    assert endpoint.topics == ["t"]


def test_a_stream_calls_back_until_stopped(endpoint):
    seen = []
    with endpoint.subscribe("t", lambda message: seen.append(message.data)) as stream:
        endpoint.publish_batch("t", range(100))
        wait_until(lambda: len(seen) == 100)
        wait_until(lambda: stream.messages == 100)
        assert stream.running
    assert seen == list(range(100)) and not stream.running


def test_an_exception_in_a_callback_reaches_whoever_waits(endpoint):
    def fail(message):
        raise KeyError(message.data)

    stream = endpoint.subscribe("t", fail)
    endpoint.publish("t", "x")
    with pytest.raises(KeyError):
        stream.wait(DEADLINE)
    assert not stream.running


def test_everything_is_usable_and_clear_after_close():
    endpoint = libpubsub.Endpoint()
    subscriber, publisher = endpoint.make_subscriber("t"), endpoint.make_publisher("t")
    status = endpoint.make_status_subscriber()
    endpoint.close()
    endpoint.close()
    for use in (lambda: endpoint.publish("t", 1), lambda: publisher.publish(1), lambda: endpoint.listen("tcp://:0"),
                lambda: endpoint.make_subscriber("t"), lambda: endpoint.make_publisher("t"),
                lambda: endpoint.peer("tcp://127.0.0.1:1"), subscriber.get, status.get,
                endpoint.make_status_subscriber, lambda: publisher.publish_batch([1])):
        with pytest.raises(libpubsub.Closed):
            use()
    assert list(subscriber) == [] and list(status) == [] and status.poll() == []
    subscriber.close()
    assert endpoint.closed and subscriber.closed and "closed" in repr(endpoint) and "closed" in repr(subscriber)
    assert endpoint.counters().published == 0 and endpoint.peers() == []


def test_dropping_the_last_reference_closes_the_endpoint():
    endpoint = libpubsub.Endpoint()
    subscriber = endpoint.make_subscriber("t")
    reference = weakref.ref(endpoint)
    del endpoint
    gc.collect()
    assert reference() is None
    assert list(subscriber) == []


def test_dropping_a_subscriber_ends_its_subscription_at_once(endpoint):
    subscriber = endpoint.make_subscriber("t")
    gc.disable()
    try:
        del subscriber
        assert endpoint.topics == [] and endpoint.subscribers("t") == 0
    finally:
        gc.enable()


def test_every_exception_has_one_root():
    for name in libpubsub.__all__:
        thing = getattr(libpubsub, name)
        if isinstance(thing, type) and issubclass(thing, Exception):
            assert issubclass(thing, libpubsub.PubsubError)
