# SPDX-License-Identifier: BSD-3-Clause
"""libpubsub.broker: publishing and receiving, between endpoints of one process."""

import select
import threading
import time
from contextlib import ExitStack
from datetime import datetime, timedelta, timezone
from ipaddress import ip_address, ip_network

import pytest
from conftest import DEADLINE, wait_until

import libpubsub
import libpubsub.broker as broker
from libpubsub.broker import Count, Enum, Port, Topic

HERE = "127.0.0.1"


@pytest.fixture
def pair():
    """Two endpoints; the first is the peer that listens."""
    with broker.Endpoint() as one, broker.Endpoint() as other:
        assert other.peer(HERE, one.listen(HERE, 0), 1.0)
        assert one.await_peer(other.node_id()) and other.await_peer(one.node_id())
        yield one, other


def until_wanted(endpoint, topic):
    """Waits until a peer of `endpoint` subscribes to `topic`."""
    wait_until(lambda: Topic(topic) in endpoint.peer_subscriptions())


EVERY_KIND = (None, True, Count(2**64 - 1), -(2**63), 4.5, "text", b"\xff\x00", ip_address("192.0.2.1"),
              ip_address("2001:db8::1"), ip_network("10.0.0.0/8"), Port(53, Port.UDP),
              datetime(2024, 2, 29, 1, 2, 3, 4, timezone.utc), timedelta(-1, 5, 7), Enum("Conn::LOG"), {1, 2}, {"a": 1},
              (1, (2, ())))


def same_types(received, published):
    assert received == published
    assert [type(x) for x in received] == [type(x) for x in published]


def test_every_type_arrives_as_what_it_was(pair):
    one, other = pair
    with one.make_subscriber("/t") as subscriber:
        until_wanted(other, "/t")
        other.publish("/t/1", EVERY_KIND)
        topic, value = subscriber.get(DEADLINE)
        assert topic == "/t/1"
        same_types(value, EVERY_KIND)


def test_what_python_values_mean_by_themselves_is_converted(pair):
    """A naive time is local; a set of what is equal on the wire has one member; Data and its containers go too."""
    one, other = pair
    naive = datetime(2024, 7, 1, 12)
    with one.make_subscriber("/t") as subscriber:
        until_wanted(other, "/t")
        other.publish("/t", [naive, {"a", b"a"}, broker.Data((1, Count(1))), broker.Set([1]), broker.Vector([None])])
        assert subscriber.get(DEADLINE)[1] == (naive.astimezone(), {"a"}, (1, Count(1)), {1}, (None,))


def test_what_cannot_be_converted_is_refused_and_nothing_is_sent(pair):
    one, other = pair
    with one.make_subscriber("/t") as subscriber, other.make_publisher("/t") as publisher:
        until_wanted(other, "/t")
        for publish in (publisher.publish, lambda x: other.publish("/t", x)):
            with pytest.raises(TypeError, match="unsupported data type"):
                publish([1, object()])
            with pytest.raises(OverflowError):
                publish(2**63)
        other.publish("/t", "the first")
        assert subscriber.get(DEADLINE) == ("/t", "the first")


def test_a_ping_is_answered(pair):
    one, other = pair
    with one.make_subscriber("/test") as here, other.make_subscriber("/test") as there:
        until_wanted(one, "/test")
        until_wanted(other, "/test")
        other.publish("/test", ["ping"])
        topic, value = here.get(DEADLINE)
        one.publish(topic, [*value, "pong"])
        assert there.get(DEADLINE) == ("/test", ("ping", "pong"))
        assert here.get(0.0) is None and here.poll() == []  # nobody receives what the endpoint itself publishes


def test_get_comes_in_four_forms(pair):
    one, other = pair
    with one.make_subscriber("/t") as subscriber:
        until_wanted(other, "/t")
        other.publish_batch(*((f"/t/{n}", n) for n in range(6)))
        assert subscriber.get() == ("/t/0", 0)
        assert subscriber.get(DEADLINE) == ("/t/1", 1)
        assert subscriber.get(2) == [("/t/2", 2), ("/t/3", 3)]
        assert subscriber.get(2, DEADLINE) == [("/t/4", 4), ("/t/5", 5)]
        assert subscriber.get(0.01) is None and subscriber.get(0) == [] and subscriber.get(3, 0.01) == []
        other.publish("/t", 6)
        wait_until(lambda: subscriber.available() == 1)
        start = time.monotonic()
        assert subscriber.get(2, 0.2) == [("/t", 6)] and time.monotonic() - start >= 0.2
        for bad in (("x",), (-1,), (1, 2, 3), (1.0, 2)):
            with pytest.raises(TypeError):
                subscriber.get(*bad)


def test_available_poll_and_fd_agree(pair):
    one, other = pair
    with one.make_subscriber("/t") as subscriber:
        until_wanted(other, "/t")
        assert subscriber.available() == 0 and not select.select([subscriber.fd()], [], [], 0)[0]
        other.publish_batch(("/t", 1), ("/t", 2))
        wait_until(lambda: subscriber.available() == 2)
        assert select.select([subscriber.fd()], [], [], DEADLINE)[0]
        assert subscriber.poll() == [("/t", 1), ("/t", 2)]
        assert subscriber.available() == 0 and not select.select([subscriber.fd()], [], [], 0)[0]


def test_a_thread_that_waits_leaves_the_gil(pair):
    one, other = pair
    with one.make_subscriber("/t") as subscriber:
        until_wanted(other, "/t")
        received = []
        waiting = threading.Thread(target=lambda: received.append(subscriber.get()))
        waiting.start()
        other.publish("/t", "for the thread")  # would never be reached if the thread kept the GIL
        waiting.join(DEADLINE)
        assert received == [("/t", "for the thread")]


def test_topics_are_added_and_removed(pair):
    one, other = pair
    with one.make_subscriber(["/a", Topic("/b")]) as subscriber:
        until_wanted(other, "/b")
        subscriber.add_topic("/c", True)
        subscriber.remove_topic(Topic("/b"))
        until_wanted(other, "/c")
        wait_until(lambda: Topic("/b") not in other.peer_subscriptions())
        other.publish_batch(("/a", 1), ("/b", 2), ("/c/d", 3))
        assert subscriber.get(2, DEADLINE) == [("/a", 1), ("/c/d", 3)]


def test_a_safe_subscriber_gives_immutable_values_however_it_is_read(pair):
    one, other = pair
    value = ({"a": "A"}, {1, 2}, ("x",), broker.Set([{"k": {1}}]))
    with one.make_safe_subscriber("/t") as safe, one.make_subscriber("/t") as plain:
        until_wanted(other, "/t")
        for _ in range(3):
            other.publish("/t", value)
        for received in (safe.get(DEADLINE), safe.get(1, DEADLINE)[0]):
            table, members, vector, nested = received[1]
            with pytest.raises(TypeError):
                table["b"] = "B"
            assert type(members) is frozenset and type(vector) is tuple
            assert nested == {broker.ImmutableData.HashableReadOnlyDict(k=frozenset({1}))}
        wait_until(safe.available)
        assert isinstance(safe.poll()[0][1][3], frozenset)
        with pytest.raises(TypeError, match="unhashable"):
            plain.get(DEADLINE)


def test_a_plain_subscriber_gives_values_to_change(pair):
    one, other = pair
    with one.make_subscriber("/t") as subscriber:
        until_wanted(other, "/t")
        other.publish("/t", [{"a": 1}, {1}])
        table, members = subscriber.get(DEADLINE)[1]
        table["b"] = 2
        members.add(2)
        assert (table, members) == ({"a": 1, "b": 2}, {1, 2})


def test_publishers_publish_one_by_one_and_in_batches(pair):
    one, other = pair
    with one.make_subscriber("/t") as subscriber, other.make_publisher(Topic("/t")) as publisher:
        until_wanted(other, "/t")
        publisher.publish([1, Count(2)])
        publisher.publish_batch(["a"], {"k": True})
        assert subscriber.get(3, DEADLINE) == [("/t", (1, Count(2))), ("/t", ("a",)), ("/t", {"k": True})]
        wait_until(lambda: publisher.buffered() == 0)
        assert publisher.free_capacity() == publisher.demand() == publisher.capacity() > 0
        assert select.select([publisher.fd()], [], [], 0)[0] == [publisher.fd()]
        publisher.drop_all_on_destruction()
    with pytest.raises(libpubsub.Closed):
        publisher.publish(1)


def test_what_was_reset_stays_reset(pair):
    one, other = pair
    with ExitStack() as stack:
        subscriber = stack.enter_context(one.make_subscriber("/t"))
        status = stack.enter_context(one.make_status_subscriber())
        publisher = stack.enter_context(one.make_publisher("/t"))
        for each in (subscriber, status, publisher, subscriber, status, publisher):
            each.reset()
        for use in (subscriber.get, status.get, status.poll, lambda: publisher.publish(1)):
            with pytest.raises(libpubsub.Closed):
                use()


def test_shutting_down_ends_every_wait(pair):
    one, other = pair
    subscriber, status = one.make_subscriber("/t"), one.make_status_subscriber()
    ended = []

    def wait_for(get):
        try:
            get()
        except libpubsub.Closed:
            ended.append(get)

    waits = (subscriber.get, status.get, lambda: subscriber.get(2))
    threads = [threading.Thread(target=wait_for, args=(get,)) for get in waits]
    for thread in threads:
        thread.start()
    one.shutdown()
    one.shutdown()
    for thread in threads:
        thread.join(DEADLINE)
    assert len(ended) == len(waits)
    with pytest.raises(libpubsub.Closed):
        one.publish("/t", 1)


def test_what_came_before_the_end_is_returned(pair):
    one, other = pair
    subscriber = one.make_subscriber("/t")
    until_wanted(other, "/t")
    other.publish("/t", 1)
    wait_until(lambda: subscriber.available() == 1)
    one.shutdown()
    assert subscriber.get(5) == [("/t", 1)]
    with pytest.raises(libpubsub.Closed):
        subscriber.get(5)


def test_an_idle_endpoint_ends_at_once():
    start = time.monotonic()
    with broker.Endpoint() as endpoint, endpoint.make_status_subscriber(), endpoint.make_subscriber("/t"):
        assert repr(endpoint) == endpoint.node_id()
    assert time.monotonic() - start < 2


def test_topics_join_with_one_slash():
    left, right = Topic("/a/"), Topic("/b/c")
    assert (left / right).string() == "/a//b/c" and str(right / left) == "/b/c/a" and repr(Topic("a") / "b") == "a/b"
    right /= left
    assert right == Topic("/b/c/a") and hash(right) == hash(Topic("/b/c/a")) and right != "/b/c/a"
    assert (Topic("") / "a").string() == "a" and (Topic("a") / Topic("")).string() == "a"
    with pytest.raises(TypeError):
        Topic(1)
    with pytest.raises(TypeError):
        Topic("a") / 1
