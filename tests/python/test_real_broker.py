# SPDX-License-Identifier: BSD-3-Clause
"""Peerings with a real Broker, wherever its Python module `broker` is installed for this Python.

Broker runs in processes of its own (real_broker_party.py), on the loopback interface only.
"""

import importlib.util
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import DEADLINE, wait_until

import libpubsub
import libpubsub.zeek

pytestmark = [
    pytest.mark.real_broker,
    pytest.mark.skipif(importlib.util.find_spec("broker") is None,
                       reason="Zeek's Python module broker is not installed for this Python"),
]

HERE = "127.0.0.1"
SMALL = "00000000-0000-4000-8000-0000000000{:02x}"
LARGE = "ffffffff-ffff-4fff-bfff-ffffffffff{:02x}"
EVENTS = 100_000
WINDOW = 1000
"""Messages on their way from a Broker at a time: it cuts off a peer that is 2048 behind."""


class RealBroker:
    """One Broker in its own process. Methods are those of Party, and fail the test at the deadline."""

    def __init__(self, encryption="off", **files):
        script = Path(__file__).with_name("real_broker_party.py")
        self._process = subprocess.Popen([sys.executable, str(script), encryption, json.dumps(files)],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._unread = b""
        self.id = self.node_id()

    def __getattr__(self, name):
        def call(*arguments, deadline=3 * DEADLINE):
            self.begin(name, *arguments)
            return self.end(deadline)

        return call

    def begin(self, name, *arguments):
        """Sends a command; `end` returns its result."""
        self._process.stdin.write(json.dumps([name, *arguments]).encode() + b"\n")
        self._process.stdin.flush()

    def end(self, deadline=3 * DEADLINE):
        until = time.monotonic() + deadline
        source = self._process.stdout.fileno()
        while b"\n" not in self._unread:
            assert select.select([source], [], [], max(0.0, until - time.monotonic()))[0], "Broker does not answer"
            piece = os.read(source, 65536)
            assert piece, "Broker has ended"
            self._unread += piece
        line, self._unread = self._unread.split(b"\n", 1)
        kind, result = json.loads(line)
        assert kind == "ok", result
        return result

    def codes(self, count):
        """The names of the next events."""
        return [(self.next_event(DEADLINE) or "nothing").split("(")[0] for _ in range(count)]

    def kill(self):
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(DEADLINE)

    def close(self):
        """In good order if it still obeys, by force if not."""
        if self._process.poll() is None:
            try:
                self.shutdown(deadline=DEADLINE)
                self._process.wait(DEADLINE)
            except (AssertionError, OSError, subprocess.TimeoutExpired):
                self.kill()
        self._process.stdin.close()
        self._process.stdout.close()


@pytest.fixture
def real_broker():
    """A function that starts Brokers, which are ended afterwards."""
    made = []

    def make(encryption="off", **files):
        made.append(RealBroker(encryption, **files))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def ours():
    """A function that makes endpoints of ours, which are closed afterwards."""
    made = []

    def make(**options):
        made.append(libpubsub.Endpoint(**options))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture(params=["off", "anonymous", "certificates"])
def encryption(request, tmp_path):
    """Scheme of our addresses, options of our endpoint, arguments for a RealBroker."""
    if request.param == "off":
        return "tcp", {}, ["off", {}]
    if request.param == "anonymous":
        return "tls", {}, ["on", {}]
    authority = pytest.importorskip("certificates").Authority(tmp_path / "authority")
    theirs = authority.issue("broker", passphrase="secret")
    return "tls", authority.issue("us"), ["on", {
        "openssl_certificate": str(theirs["certificate"]), "openssl_key": str(theirs["key"]),
        "openssl_passphrase": "secret", "openssl_cafile": str(theirs["ca_file"])}]


@pytest.fixture
def free_port():
    with socket.create_server((HERE, 0)) as probe:
        return probe.getsockname()[1]


def uri(port, scheme="tcp"):
    return f"{scheme}://{HERE}:{port}"


def peered(endpoint):
    return [peer.id for peer in endpoint.peers() if peer.state == "peered"]


def events(subscriber, count):
    """The codes of the next events of ours."""
    result = []
    while len(result) < count:
        event = subscriber.get(DEADLINE)
        assert event is not None, result
        result.append(event.code)
    return result


def numbers_in_order(subscriber, first, count):
    """Fails unless exactly the numbers from `first` on come, in order."""
    expected = first
    while expected < first + count:
        message = subscriber.get(DEADLINE)
        assert message is not None, f"{expected - first} of {count} came"
        assert message.data == libpubsub.Count(expected)
        expected += 1


def check_both_ways(endpoint, broker, subscriber):
    """One event each way, once the filters are known on both sides."""
    assert endpoint.wait_for_subscribers("/to/broker", 1, DEADLINE)
    assert subscriber.wait_ready(DEADLINE)
    endpoint.publish("/to/broker", libpubsub.Count(1))
    assert broker.receive(1, 1, DEADLINE) == [1, True]
    broker.publish("/to/us", 7, 1)
    numbers_in_order(subscriber, 7, 1)


def check_one_peering(endpoint, broker):
    """Both sides list each other, once."""
    wait_until(lambda: peered(endpoint) == [broker.id])
    wait_until(lambda: broker.peers() == [[endpoint.id, "PeerStatus.Peered"]])


ADDED = ["endpoint_discovered", "peer_added"]
LOST = ["peer_lost", "endpoint_unreachable"]
REMOVED = ["peer_removed", "endpoint_unreachable"]


@pytest.mark.parametrize("dials", ["we dial", "broker dials"])
@pytest.mark.parametrize("our_id", [SMALL.format(1), LARGE.format(1)], ids=["smaller id", "larger id"])
def test_handshake_whoever_dials_and_whoever_has_the_smaller_id(real_broker, ours, encryption, our_id, dials):
    scheme, options, (encrypted, files) = encryption
    broker, us = real_broker(encrypted, **files), ours(id=our_id, **options)
    here = us.make_status_subscriber()
    subscriber = us.make_subscriber("/to/us")
    broker.subscribe("/to/broker")
    if dials == "we dial":
        us.peer(uri(broker.listen(), scheme), retry=None, timeout=DEADLINE)
    else:
        assert broker.peer(us.listen(uri(0, scheme)), 0)
    check_one_peering(us, broker)
    assert events(here, 2) == ADDED and broker.codes(2) == ADDED
    assert us.peers()[0].wire_version == 1
    check_both_ways(us, broker, subscriber)
    us.publish_batch("/to/broker", (libpubsub.Count(number) for number in range(WINDOW)))
    assert broker.receive(0, WINDOW, DEADLINE) == [WINDOW, True]
    broker.publish("/to/us", 0, WINDOW)
    numbers_in_order(subscriber, 0, WINDOW)
    us.unpeer(broker.id, DEADLINE)
    assert events(here, 2) == REMOVED and broker.codes(2) == LOST


@pytest.mark.parametrize("dials", ["we dial", "broker dials"])
@pytest.mark.parametrize("encrypts", ["we encrypt", "broker encrypts"])
def test_one_side_without_encryption_is_told_so_in_time(real_broker, ours, encrypts, dials):
    broker = real_broker("on" if encrypts == "broker encrypts" else "off")
    us = ours()
    scheme = "tls" if encrypts == "we encrypt" else "tcp"
    begun = time.monotonic()
    if dials == "we dial":
        with pytest.raises(libpubsub.PeerUnavailable, match="TLS"):  # a Broker that encrypts hangs up without a word
            us.peer(uri(broker.listen(), scheme), retry=None, timeout=DEADLINE)
        assert time.monotonic() - begun < 2.0
    else:
        broker.begin("peer", us.listen(uri(0, scheme)), 0)
        assert broker.end() is False
    assert peered(us) == [] and broker.peers() == []


@pytest.mark.timeout(300)
def test_a_hundred_thousand_events_each_way_arrive_in_order(real_broker, ours):
    broker, us = real_broker(), ours()
    broker.subscribe("/to/broker")
    subscriber = us.make_subscriber("/to/us")
    us.peer(uri(broker.listen()), retry=None, timeout=DEADLINE)
    assert us.wait_for_subscribers("/to/broker", 1, DEADLINE)
    assert subscriber.wait_ready(DEADLINE)
    broker.begin("receive", 0, EVENTS, 90.0)
    us.publish_batch("/to/broker", (libpubsub.Count(number) for number in range(EVENTS)))
    assert broker.end(100.0) == [EVENTS, True]
    for first in range(0, EVENTS, WINDOW):
        broker.publish("/to/us", first, WINDOW)
        numbers_in_order(subscriber, first, WINDOW)
    assert broker.waiting() == 0 and subscriber.available() == 0
    assert us.counters().malformed_frames == 0 and us.counters().duplicates == 0
    check_one_peering(us, broker)


def test_we_relay_between_two_brokers(real_broker, ours):
    left, right, us = real_broker(), real_broker(), ours()
    left.subscribe("/left")
    right.subscribe("/right")
    us.peer(uri(left.listen()), retry=None, timeout=DEADLINE)
    assert right.peer(us.listen(uri(0)), 0)
    assert us.wait_for_subscribers("/left", 1, DEADLINE) and us.wait_for_subscribers("/right", 1, DEADLINE)
    assert us.make_subscriber("/unused").wait_ready(DEADLINE)  # they have read what was announced before
    for first in range(0, 10 * WINDOW, WINDOW):
        left.publish("/right", first, WINDOW)
        right.publish("/left", first, WINDOW)
        assert right.receive(first, WINDOW, DEADLINE) == [WINDOW, True]
        assert left.receive(first, WINDOW, DEADLINE) == [WINDOW, True]
    assert left.waiting() == right.waiting() == 0
    assert us.counters().forwarded == 20 * WINDOW


def test_a_broker_relays_between_two_of_us(real_broker, ours):
    broker, one, other = real_broker(), ours(), ours()
    broker.forward("/relayed")
    subscriber = other.make_subscriber("/relayed")
    port = broker.listen()
    one.peer(uri(port), retry=None, timeout=DEADLINE)
    assert broker.peer(other.listen(uri(0)), 0)
    assert subscriber.wait_ready(DEADLINE)
    assert one.wait_for_subscribers("/relayed", 1, DEADLINE)
    for first in range(0, 10 * WINDOW, WINDOW):
        one.publish_batch("/relayed", (libpubsub.Count(number) for number in range(first, first + WINDOW)))
        numbers_in_order(subscriber, first, WINDOW)
    assert subscriber.available() == 0


@pytest.mark.parametrize("places", [1, 2])
def test_what_comes_back_over_linked_brokers_stops_going_round(real_broker, ours, places):
    one, other = real_broker(), real_broker()
    us = [ours(), ours()]
    us[1].peer(uri(us[0].listen(uri(0))), retry=None, timeout=DEADLINE)
    for each in (one, other):
        each.subscribe("/round")
    assert one.peer(other.listen(), 0)
    assert one.peer(us[0].listen(uri(0)), 0) and other.peer(us[places - 1].listen(uri(0)), 0)
    subscribers = [each.make_subscriber("/round") for each in us]
    assert all(each.wait_ready(DEADLINE) for each in subscribers)
    assert us[0].wait_for_subscribers("/round", 5 - places, DEADLINE)  # a node counts once, with its peers
    us[0].publish("/round", libpubsub.Count(0))

    def dropped():
        return sum(each.counters().duplicates for each in us)

    def read_until_quiet(seconds=0.5):
        """Reads what goes round until the circle is found. (A Broker whose subscriber does not read stands still.)"""
        end = time.monotonic() + DEADLINE
        count, since = 0, time.monotonic()
        while time.monotonic() < since + seconds or dropped() == 0:
            assert time.monotonic() < end, "messages still go round"
            for each in subscribers:
                while each.available():
                    each.get(0.1)
            for each in (one, other):
                each.receive(0, each.waiting(), DEADLINE)
            before, count = count, sum(each.counters().received for each in us)
            if count != before:
                since = time.monotonic()

    read_until_quiet()
    before = dropped()
    few = 100  # fewer than make a Broker stand still
    for first in range(0, WINDOW, 2 * few):
        us[0].publish_batch("/round", (libpubsub.Count(number) for number in range(first, first + few)))
        assert [each.receive(first, few, DEADLINE) for each in (one, other)] == 2 * [[few, True]]
        one.publish("/round", first + few, few)
        assert other.receive(first + few, few, DEADLINE) == [few, True]
        for each in subscribers:
            numbers_in_order(each, first, 2 * few)
    wait_until(lambda: dropped() >= before + WINDOW)  # each has come back once, and gone no further
    assert sum(each.available() for each in subscribers) + one.waiting() + other.waiting() == 0


@pytest.mark.parametrize("dials", ["we dial", "broker dials"])
@pytest.mark.parametrize("leaves", ["we leave", "broker leaves"])
def test_unpeering_is_removal_for_who_leaves_and_loss_for_who_is_left(real_broker, ours, dials, leaves):
    broker, us = real_broker(), ours()
    here = us.make_status_subscriber()
    if dials == "we dial":
        port = broker.listen()
        us.peer(uri(port), retry=None, timeout=DEADLINE)
    else:
        port = us.listen(uri(0))
        assert broker.peer(port, 0)
    check_one_peering(us, broker)
    assert events(here, 2) == ADDED and broker.codes(2) == ADDED
    if leaves == "we leave":
        us.unpeer(broker.id, DEADLINE)
    elif dials == "broker dials":
        assert broker.unpeer(port)
    else:  # it knows us by the port we came from
        pytest.skip("Broker's Python module ends only peerings it began")
    assert events(here, 2) == (REMOVED if leaves == "we leave" else LOST)
    assert broker.codes(2) == (LOST if leaves == "we leave" else REMOVED)
    assert peered(us) == [] and broker.peers() == []


def test_what_is_published_before_we_leave_arrives(real_broker, ours):
    broker = real_broker()
    broker.subscribe("/to/broker")
    port = broker.listen()
    for _ in range(10):
        us = ours()
        us.peer(uri(port), retry=None, timeout=DEADLINE)
        assert us.wait_for_subscribers("/to/broker", 1, DEADLINE)
        us.publish_batch("/to/broker", (libpubsub.Count(number) for number in range(WINDOW)))
        us.close()
        assert broker.receive(0, WINDOW, DEADLINE) == [WINDOW, True]


@pytest.mark.parametrize("end", ["killed", "shut down"])
def test_a_broker_that_restarts_is_found_again(real_broker, ours, free_port, end):
    us = ours()
    here = us.make_status_subscriber()
    subscriber = us.make_subscriber("/to/us")
    for life in range(3):
        broker = real_broker()
        broker.subscribe("/to/broker")
        assert broker.listen(free_port) == free_port
        if life == 0:
            us.peer(uri(free_port), retry=0.05, max_retry=0.2, timeout=DEADLINE)
        check_one_peering(us, broker)
        check_both_ways(us, broker, subscriber)
        broker.kill() if end == "killed" else broker.close()
        wait_until(lambda: peered(us) == [])
    codes = [event.code for event in here.poll()]
    assert codes.count("peer_added") == codes.count("peer_lost") == 3


def test_we_restart_and_a_broker_finds_us_again(real_broker, free_port):
    broker = real_broker()
    broker.subscribe("/to/broker")
    for life in range(3):
        with libpubsub.Endpoint() as us:
            subscriber = us.make_subscriber("/to/us")
            us.listen(uri(free_port))
            if life == 0:
                assert broker.peer(free_port, 1)
            check_one_peering(us, broker)
            check_both_ways(us, broker, subscriber)
        wait_until(lambda: broker.peers() == [])


def test_who_is_left_by_its_peer_but_wants_it_comes_back(real_broker, ours):
    broker, us = real_broker(), ours()
    us.peer(uri(broker.listen()), retry=0.1, timeout=DEADLINE)
    check_one_peering(us, broker)
    here = us.make_status_subscriber()
    other = ours()
    assert broker.peer(other.listen(uri(0)), 1)
    assert other.wait_for_peer(broker.id, DEADLINE)
    other.unpeer(broker.id, DEADLINE)  # Broker has begun this one, with retry
    assert other.wait_for_peer(broker.id, DEADLINE)
    assert peered(us) == [broker.id] and here.poll() == []


@pytest.mark.timeout(300)
def test_both_dialing_each_other_at_once_become_one_peering(real_broker):
    broker = real_broker()
    broker.subscribe("/to/broker")
    broker_port = broker.listen()
    dice = random.Random(5)
    for round in range(100):
        with libpubsub.Endpoint(id=(SMALL, LARGE)[round % 2].format(round)) as us:
            subscriber = us.make_subscriber("/to/us")
            port = us.listen(uri(0))
            pause = time.monotonic() + dice.choice([0.0, 0.0, dice.random() * 0.003])
            broker.begin("peer_nosync", port, 0)
            while time.monotonic() < pause:
                pass
            us.peer_async(uri(broker_port), retry=0.05)
            broker.end()
            check_one_peering(us, broker)
            check_both_ways(us, broker, subscriber)
            assert [len(us.peers()), len(broker.peers())] == [1, 1]
            assert subscriber.available() == 0 and broker.waiting() == 0
            broker.forget_events()
        wait_until(lambda: broker.peers() == [])


def test_a_second_connection_to_the_same_peer_is_success_on_both_sides(real_broker, ours):
    for our_id in (SMALL.format(1), LARGE.format(1)):
        broker, us = real_broker(), ours(id=our_id)
        broker.subscribe("/to/broker")
        subscriber = us.make_subscriber("/to/us")
        broker_port, our_port = broker.listen(), us.listen(uri(0))
        us.peer(uri(broker_port), retry=None, timeout=DEADLINE)
        check_one_peering(us, broker)
        assert broker.peer(our_port, 0)
        us.peer(uri(broker_port), retry=None, timeout=DEADLINE)
        check_one_peering(us, broker)
        check_both_ways(us, broker, subscriber)
        assert subscriber.available() == 0 and broker.waiting() == 0


def test_a_topic_subscribed_later_is_told_both_ways(real_broker, ours):
    broker, us = real_broker(), ours()
    us.peer(uri(broker.listen()), retry=None, timeout=DEADLINE)
    check_one_peering(us, broker)
    subscriber = us.make_subscriber("/to/us")
    broker.subscribe("/to/broker")
    check_both_ways(us, broker, subscriber)


def test_a_zeek_event_arrives_as_it_was_sent(real_broker, ours):
    broker, us = real_broker(), ours()
    subscriber = us.make_subscriber("/zeek")
    us.peer(uri(broker.listen()), retry=None, timeout=DEADLINE)
    assert subscriber.wait_ready(DEADLINE)
    broker.publish_event("/zeek/events", "ping", "hello", 42)
    message = subscriber.get(DEADLINE)
    assert message is not None and message.topic == "/zeek/events"
    event = libpubsub.zeek.Event.from_data(message.data)
    assert event == libpubsub.zeek.Event("ping", "hello", 42, timestamp=event.timestamp)
