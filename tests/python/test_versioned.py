# SPDX-License-Identifier: BSD-3-Clause
"""Versioned delivery: replicas in this process, and in others that are killed."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import DEADLINE, ctrl_c_ends, run_the_programs_of, wait_until

import libpubsub
from libpubsub import MessageVersion, Replica, VersionedGroup

SCHEMES = ["none", "version_request", "message_returns_version", "one_hop", "one_hop_ack_client", "tagged"]

# Reports what it hands out, a line each; tells when it is a member, and when it has become the sequencer.
SERVER = """
import sys, threading, libpubsub
from libpubsub import Replica
me, *others = sys.argv[1:]
endpoint = libpubsub.Endpoint()
print("port", endpoint.listen("tcp://127.0.0.1:0"), flush=True)
for uri in others:
    endpoint.peer_async(uri, retry=0.05)
with Replica(endpoint, "flows", id=me, liveness_timeout=2) as replica:
    assert replica.wait_ready(60)
    print("member", flush=True)
    sequencer = False
    while True:
        for message in replica.get_batch(1000, timeout=0.05):
            print("message", message.version, message.client_number, message.value, flush=True)
        if replica.is_sequencer and not sequencer:
            sequencer = True
            print("sequencer", flush=True)
"""


def whole_lines(stream):
    """The lines of `stream`; not what a process that was killed in the middle of a line has left of it."""
    return (line.rstrip("\n") for line in stream if line.endswith("\n"))


class Server:
    """A replica in a process of its own, its report read line by line."""

    def __init__(self, me, *others):
        self.me, self.messages, self.said = me, [], {}
        self.process = subprocess.Popen([sys.executable, "-c", SERVER, me, *others], stdout=subprocess.PIPE, text=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.uri = f"tcp://127.0.0.1:{self.wait_for('port')}"

    def _read(self):
        for line in whole_lines(self.process.stdout):
            word, _, rest = line.partition(" ")
            if word == "message":
                self.messages.append(rest)
            else:
                self.said[word] = rest

    def wait_for(self, word):
        wait_until(lambda: word in self.said)
        return self.said[word]

    def kill(self):
        self.process.kill()
        self.process.wait()
        self._reader.join(DEADLINE)
        self.process.stdout.close()


@pytest.fixture
def servers():
    """Three linked replicas, each a process."""
    started = []
    try:
        for i in range(3):
            started.append(Server(f"server {i}", *(each.uri for each in started)))
        for each in started:
            each.wait_for("member")
        yield started
    finally:
        for each in started:
            each.kill()


def connect(endpoint, servers):
    for each in servers:
        endpoint.peer(each.uri, retry=0.05, timeout=DEADLINE)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_replica_hands_out_the_same_messages_under_the_same_versions(endpoint, scheme):
    with Replica(endpoint, "x", id="a", group_size=2) as one, Replica(endpoint, "x", id="b", group_size=2) as two:
        with VersionedGroup(endpoint, "x", scheme, replicas=2) as group:
            assert one.wait_ready(DEADLINE) and two.wait_ready(DEADLINE)
            assert group.wait_for_replicas(2, DEADLINE) and group.replicas == one.replicas == 2
            versions = [group.send(["value", i]) for i in range(20)]
            for replica in (one, two):
                messages = [replica.get(DEADLINE) for _ in range(20)]
                assert [x.value for x in messages] == [("value", i) for i in range(20)]
                assert [x.version for x in messages] == versions
                assert [x.client_number for x in messages] == list(range(1, 21))
                assert {x.client for x in messages} == {group.id}
            if scheme == "none":
                assert set(versions) == {None}
            else:
                assert [x.number for x in versions] == list(range(1, 21))
                assert one.applied == two.applied == versions[-1] <= one.held
                assert one.is_sequencer != two.is_sequencer
            assert group.counters()["acknowledged"] == 20
            assert one.counters()["handed_out"] == 20


def test_what_is_posted_is_completed(endpoint):
    with Replica(endpoint, "x", group_size=1) as replica, VersionedGroup(endpoint, "x", window=50, reports="all") as group:
        assert [group.post(i) for i in range(500)] == list(range(1, 501))
        assert group.drain(DEADLINE) == 0 == group.in_flight
        completions = group.take_completions()
        assert sorted((x.number, x.version.number, x.error) for x in completions) == [(i, i, None) for i in range(1, 501)]
        assert group.take_completions(timeout=0.01) == []
        got = []
        while len(got) < 500:
            got += replica.get_batch(1000, DEADLINE)
        assert [x.value for x in got] == list(range(500))
        assert replica.get_batch(10, timeout=0.01) == []


def test_threads_that_share_a_group_each_get_their_own_versions(endpoint):
    sent = {}

    def send(first):
        for i in range(first, first + 50):
            sent[i] = group.send(i)

    with Replica(endpoint, "x", group_size=1) as replica, VersionedGroup(endpoint, "x") as group:
        threads = [threading.Thread(target=send, args=(i * 50,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE)
        got = []
        while len(got) < 200:
            got += replica.get_batch(1000, DEADLINE)
        assert {x.value: x.version for x in got} == sent


def test_iterating_ends_when_the_replica_is_closed(endpoint):
    replica, values = Replica(endpoint, "x", group_size=1), []

    def read():
        for message in replica:
            values.append(message.value)

    reader = threading.Thread(target=read)
    reader.start()
    with VersionedGroup(endpoint, "x") as group:
        for i in range(10):
            group.send(i)
        wait_until(lambda: len(values) == 10)
    replica.close()
    replica.close()
    reader.join(DEADLINE)
    assert not reader.is_alive() and values == list(range(10))
    assert replica.closed and replica.state == "closed"
    for call in (replica.get, lambda: replica.get_batch(1), replica.wait_ready):
        with pytest.raises(libpubsub.Closed):
            call()


def test_the_torn_last_line_of_a_killed_process_is_no_message():
    with subprocess.Popen([sys.executable, "-c", "print('message 1.1 1 17\\nmessage 1.', end='')"],
                          stdout=subprocess.PIPE, text=True) as process:
        assert list(whole_lines(process.stdout)) == ["message 1.1 1 17"]


def test_the_sequencer_is_killed_and_nothing_acknowledged_is_lost(servers, endpoint):
    connect(endpoint, servers)
    with VersionedGroup(endpoint, "flows", timeout=DEADLINE) as group:
        assert group.wait_for_replicas(3, DEADLINE)
        acknowledged = {i: group.send(i) for i in range(50)}
        wait_until(lambda: any("sequencer" in each.said for each in servers))
        victim = next(each for each in servers if "sequencer" in each.said)
        victim.process.send_signal(signal.SIGKILL)
        acknowledged.update((i, group.send(i)) for i in range(50, 100))
        assert [x.number for x in acknowledged.values()] == list(range(1, 101))
        assert acknowledged[99].epoch > acknowledged[0].epoch
        wanted = [f"{version} {i + 1} {i}" for i, version in acknowledged.items()]
        alive = [each for each in servers if each is not victim]
        for each in alive:
            wait_until(lambda: len(each.messages) >= 100)
            assert each.messages == wanted
        victim.kill()
        assert victim.messages == wanted[:len(victim.messages)]
        late = Server("late", *(each.uri for each in alive))  # catches up, then is a member
        servers.append(late)
        late.wait_for("member")
        wait_until(lambda: len(late.messages) >= 100)
        assert late.messages == wanted


def test_too_few_replicas_are_an_error_in_time_that_says_how_many(endpoint):
    with VersionedGroup(endpoint, "x", replicas=2, timeout=0.3) as group:
        begin = time.monotonic()
        with pytest.raises(libpubsub.PeerUnavailable, match="no replica of 'x' is within reach; it was not sent"):
            group.send(1)
        assert not group.wait_for_replicas(1, 0.01)
        with Replica(endpoint, "x", group_size=1):
            assert group.wait_for_replicas(1, DEADLINE)
            with pytest.raises(libpubsub.PeerUnavailable, match="1 of 2 replicas of 'x' is a member, 2 are needed"):
                group.send(2)
        assert time.monotonic() - begin < DEADLINE
        number = group.post(3)
        completion, = group.take_completions(DEADLINE)
        assert (completion.number, completion.version) == (number, None)
        assert isinstance(completion.error, libpubsub.PeerUnavailable)
        assert group.counters()["failed"] == 3


def test_of_two_replicas_of_an_id_one_is_told(endpoint):
    with Replica(endpoint, "x", id="a", group_size=1) as one, Replica(endpoint, "x", id="a", group_size=1) as other:
        wait_until(lambda: one.closed or other.closed)
        loser = one if one.closed else other
        for call in (loser.get, lambda: next(loser), loser.wait_ready):
            with pytest.raises(libpubsub.InvalidArgument, match="another replica of this group is called 'a'"):
                call()


def test_state_is_taken_over_by_one_that_comes_too_late_for_the_history(endpoint):
    total = {"one": 0, "two": 0}

    def restore(state, version):
        total["two"] = state
        restored.append(version)

    restored = []
    with Replica(endpoint, "x", id="a", group_size=1, history=5, snapshot=lambda: total["one"]) as one:
        with VersionedGroup(endpoint, "x") as group:
            for i in range(100):
                group.send(i)
            for message in [one.get(DEADLINE) for _ in range(100)]:
                total["one"] += message.value
            with Replica(endpoint, "x", id="b", group_size=1, restore=restore) as two:
                end = time.monotonic() + DEADLINE
                while two.state != "member":
                    assert one.get(0.01) is None and two.get(0.01) is None and time.monotonic() < end
                version = group.send(1000)
                total["two"] += two.get(DEADLINE).value
                assert restored == [MessageVersion(version.epoch, 100)]
                assert total["two"] == sum(range(100)) + 1000


def test_a_state_function_that_raises_is_raised_by_get(endpoint):
    def snapshot():
        raise RuntimeError("no state today")

    with Replica(endpoint, "x", id="a", group_size=1, history=1, snapshot=snapshot) as one:
        with VersionedGroup(endpoint, "x") as group:
            for i in range(10):
                group.send(i)
        assert len(one.get_batch(10, DEADLINE)) == 10
        with Replica(endpoint, "x", id="b", group_size=1, restore=lambda state, version: None):
            with pytest.raises(RuntimeError, match="no state today"):
                one.get(DEADLINE)
        assert one.closed


def test_bad_options_say_what_is_wrong(endpoint):
    for options in ({"group_size": 0}, {"history": 0}, {"history_bytes": 0}, {"liveness_timeout": 0}):
        with pytest.raises(libpubsub.InvalidArgument):
            Replica(endpoint, "x", **options)
    for options in ({"scheme": "two_hops"}, {"replicas": 0}, {"window": 0}, {"window_bytes": 0}, {"timeout": -1},
                    {"reports": "x"}):
        with pytest.raises(libpubsub.InvalidArgument):
            VersionedGroup(endpoint, "x", **options)
    with Replica(endpoint, "x") as replica, pytest.raises(libpubsub.InvalidArgument):
        replica.get_batch(0)


def test_what_cannot_be_encoded_is_not_sent(endpoint):
    with VersionedGroup(endpoint, "x") as group:
        for call in (group.send, group.post):
            with pytest.raises(libpubsub.EncodeTypeError):
                call(object())
        assert group.counters()["sent"] == 0


def test_a_closed_group_says_so(endpoint):
    group = VersionedGroup(endpoint, "x", timeout=60)
    failures = []

    def send():
        try:
            group.send(1)
        except libpubsub.PubsubError as failure:
            failures.append(failure)

    waiting = threading.Thread(target=send)
    waiting.start()
    wait_until(lambda: group.in_flight == 1)
    group.close()
    waiting.join(DEADLINE)
    assert not waiting.is_alive() and isinstance(failures[0], libpubsub.Closed)
    for call in (lambda: group.send(1), lambda: group.post(1), group.send_pending):
        with pytest.raises(libpubsub.Closed):
            call()


def test_ctrl_c_ends_a_send_that_nobody_answers():
    assert ctrl_c_ends("""
        import libpubsub
        with libpubsub.Endpoint() as endpoint, libpubsub.VersionedGroup(endpoint, "x", timeout=600) as group:
            try:
                print("waiting", flush=True)
                group.send(1)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
    """)


def test_a_forked_child_gets_an_error(endpoint):
    with VersionedGroup(endpoint, "x") as group, Replica(endpoint, "x") as replica:
        child = os.fork()
        if child == 0:
            try:
                group.send(1)
            except libpubsub.ForkError:
                try:
                    replica.get()
                except libpubsub.ForkError:
                    named = "parent process" in repr(group) and "parent process" in repr(replica)
                    os._exit(0 if named else 2)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        assert not group.closed and not replica.closed


def test_repr_tells_the_state(endpoint):
    with Replica(endpoint, "x", id="a", group_size=1) as replica, VersionedGroup(endpoint, "x", "tagged") as group:
        assert replica.wait_ready(DEADLINE)
        assert group.send("v") == (1, 1) == MessageVersion(1, 1)
        message = replica.get(DEADLINE)
        assert repr(replica) == "<Replica 'a' of 'x': member, sequencer, applied 1.1>"
        assert repr(group) == "<VersionedGroup 'x', tagged: 1 replicas, 0 in flight>"
        assert repr(message) == f"<VersionedMessage 1.1: message 1 of {group.id}>"
    assert repr(group) == "<VersionedGroup 'x', tagged: closed>"


def test_the_programs_of_the_manual_run(tmp_path):
    run_the_programs_of("docs/patterns/versioned.md", "docs/examples/versioned/versioned.cpp", tmp_path)
