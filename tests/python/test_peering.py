# SPDX-License-Identifier: BSD-3-Clause
"""Peerings between endpoints, here and in other processes, and what is reported about them."""

import json
import os
import socket
import subprocess
import sys
import uuid
from contextlib import ExitStack
from pathlib import Path

import pytest
from conftest import DEADLINE, wait_until

import libpubsub

HERE = "tcp://127.0.0.1:{}"

RELAY = """
import sys, libpubsub
with libpubsub.Endpoint() as relay:
    if sys.argv[1]:
        relay.peer(sys.argv[1])
    print(relay.listen("tcp://127.0.0.1:0"), flush=True)
    sys.stdin.read()
"""


def start_python_relay(upstream):
    return subprocess.Popen([sys.executable, "-c", RELAY, upstream], text=True, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)


def test_a_subscriber_that_is_ready_gets_what_peers_publish(endpoint):
    with libpubsub.Endpoint() as other:
        other.peer(HERE.format(endpoint.listen("tcp://127.0.0.1:0")))
        assert endpoint.wait_for_peer(other.id, DEADLINE)
        for number in range(20):
            with endpoint.make_subscriber(f"/fresh/{number}") as subscriber:
                assert subscriber.wait_ready(DEADLINE)
                other.publish(f"/fresh/{number}", number)
                assert subscriber.get(DEADLINE).data == number
        assert not subscriber.wait_ready(0)


def test_messages_cross_a_peering_both_ways_exactly(endpoint):
    value = (libpubsub.Timestamp(1_700_000_000_123_456_789), libpubsub.Count(3), frozenset({"a"}), b"\xff", None)
    with libpubsub.Endpoint() as other:
        other.peer(HERE.format(endpoint.listen("tcp://127.0.0.1:0")))
        near, far = endpoint.make_subscriber("up"), other.make_subscriber("down")
        assert endpoint.wait_for_subscribers("down", 1, DEADLINE)
        assert other.wait_for_subscribers("up", 1, DEADLINE)
        endpoint.publish("down/x", value)
        other.publish("up/y", [value])
        assert far.get(DEADLINE).data == value and near.get(DEADLINE).data == (value,)


def test_what_is_known_about_a_peer(endpoint):
    name = uuid.uuid4()
    with libpubsub.Endpoint(name) as other:
        assert other.id == str(name)
        other.make_subscriber("kept").add_topic("kept/more")
        keep = other.make_subscriber("b/c")
        port = endpoint.listen("tcp://127.0.0.1:0")
        other.peer(HERE.format(port))
        assert endpoint.wait_for_peer(str(name), DEADLINE) and endpoint.wait_for_peers(1, DEADLINE)
        wait_until(lambda: endpoint.peers() and endpoint.peers()[0].topics == ["b/c"])
        peer = endpoint.peers()[0]
        assert (peer.id, peer.state) == (str(name), "peered") and "peered" in repr(peer)
        assert other.peers()[0].network == ("127.0.0.1", port)
        assert peer.client and not other.peers()[0].client
        endpoint.publish("b/c", 1)
        assert keep.get(DEADLINE).data == 1
        counters = endpoint.peers()[0].counters
        assert counters.offered == 1 and counters.as_dict()["dropped_gone"] == 0
        assert endpoint.flush(DEADLINE) == 0
        other.unpeer(HERE.format(port))
        wait_until(lambda: not any(p.state == "peered" for p in endpoint.peers()))


def test_status_events_tell_of_coming_and_going(endpoint):
    status = endpoint.make_status_subscriber()
    with libpubsub.Endpoint() as other:
        other.peer(HERE.format(endpoint.listen("tcp://127.0.0.1:0")))
        codes = []
        while "peer_added" not in codes:
            event = status.get(DEADLINE)
            codes.append(event.code)
        assert event.peer == other.id and not event.is_error and "peer_added" in repr(event)
    while codes[-1] not in ("peer_lost", "peer_removed"):
        codes.append(status.get(DEADLINE).code)
    assert status.dropped == 0


def test_a_status_subscriber_may_see_errors_only(endpoint):
    errors, both = endpoint.make_status_subscriber(errors_only=True), endpoint.make_status_subscriber()
    with libpubsub.Endpoint() as other:
        endpoint.peer(HERE.format(other.listen("tcp://127.0.0.1:0")), retry=None)
    with pytest.raises(libpubsub.NotAPeer):
        endpoint.unpeer("tcp://127.0.0.1:9")
    assert errors.available() == 1 and errors.get(DEADLINE).code == "peer_invalid" and errors.available() == 0
    wait_until(lambda: both.available() >= 3)  # discovered, added, peer_invalid, and lost by now or later
    assert {"peer_added", "peer_invalid"} <= {event.code for event in both.poll()}


def test_nodes_are_known_at_any_distance(relaying):
    endpoint = relaying
    with libpubsub.Endpoint() as middle, libpubsub.Endpoint() as far:
        subscriber = far.make_subscriber(["/x"])
        endpoint.peer(HERE.format(middle.listen("tcp://127.0.0.1:0")))
        middle.peer(HERE.format(far.listen("tcp://127.0.0.1:0")))
        wait_until(lambda: sum(node.next_hop is not None for node in endpoint.nodes()) == 2)
        nodes = {node.id: node for node in endpoint.nodes()}
        assert nodes[far.id].next_hop == nodes[middle.id].next_hop == middle.id
        assert sorted(nodes[middle.id].neighbours) == sorted([endpoint.id, far.id])
        assert nodes[middle.id].relays and nodes[far.id].relays and nodes[far.id].topics == subscriber.topics
        assert repr(nodes[far.id]) == f"<NodeInfo {far.id} through {middle.id}>"
        middle_id = middle.id
    wait_until(lambda: f"<NodeInfo {middle_id}, out of reach>" in map(repr, endpoint.nodes()))


def test_a_client_is_known_to_its_relay_only(endpoint):
    with libpubsub.Endpoint() as relay, libpubsub.Endpoint(forwarding=False) as client:
        uri = HERE.format(relay.listen("tcp://127.0.0.1:0"))
        endpoint.peer(uri)
        client.peer(uri)
        subscriber = client.make_subscriber(["/x"])
        assert subscriber.wait_ready(DEADLINE)
        assert [node.id for node in endpoint.nodes()] == [relay.id]
        assert [node.id for node in client.nodes()] == [relay.id]
        endpoint.publish("/x", 1)
        assert subscriber.get(DEADLINE).data == 1


def test_failures_name_the_address(endpoint):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(libpubsub.ListenError, match=str(port)) as info:
            endpoint.listen(HERE.format(port))
        assert isinstance(info.value, OSError) and info.value.code == "address_in_use"
    with pytest.raises(libpubsub.PeerUnavailable, match=str(port)) as info:
        endpoint.peer(HERE.format(port), retry=None)
    assert isinstance(info.value, ConnectionError)
    with pytest.raises(libpubsub.PeerUnavailable):
        endpoint.peer(HERE.format(port), retry=0.01, timeout=0.1)
    with pytest.raises(libpubsub.InvalidArgument, match="host:port"):
        endpoint.peer("tcp://host:port")
    with pytest.raises(libpubsub.NotSupported, match="nonsense"):
        endpoint.peer("nonsense://x")
    with pytest.raises(libpubsub.NotAPeer):
        endpoint.unpeer("tcp://127.0.0.1:9")
    with pytest.raises(libpubsub.NotAPeer):
        endpoint.unpeer(str(uuid.uuid4()))


def test_a_peer_that_appears_later_is_reached_by_retrying(endpoint):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    endpoint.peer_async(HERE.format(port), retry=0.01)
    with libpubsub.Endpoint() as other:
        other.listen(HERE.format(port))
        assert endpoint.wait_for_peers(1, DEADLINE)


def test_messages_cross_two_relays_in_other_processes(endpoint):
    subscriber = endpoint.make_subscriber("news")
    first = start_python_relay(HERE.format(endpoint.listen("tcp://127.0.0.1:0")))
    second = start_python_relay(HERE.format(int(first.stdout.readline())))
    try:
        with libpubsub.Endpoint() as source:
            source.peer(HERE.format(int(second.stdout.readline())))
            assert source.wait_for_subscribers("news", 1, DEADLINE)
            source.publish_batch("news/today", range(10_000))
            assert [subscriber.get(DEADLINE).data for _ in range(10_000)] == list(range(10_000))
            subscriber.remove_topic("news")
            wait_until(lambda: source.subscribers("news") == 0)
    finally:
        for process in (second, first):
            process.communicate(timeout=DEADLINE)


def test_the_command_relays_for_python(endpoint, pubsub_command):
    subscriber = endpoint.make_subscriber("x")
    port = endpoint.listen("tcp://127.0.0.1:0")
    process = subprocess.run([pubsub_command, "pub", "--peer", HERE.format(port), "--topic", "x/y"],
                             input="hello\n" + json.dumps({"@data-type": "count", "data": 3}) + "\n",
                             text=True, capture_output=True, timeout=DEADLINE)
    assert process.returncode == 0, process.stderr
    assert subscriber.get(DEADLINE) is not None


def test_draining_waits_for_the_peer_and_for_consumers_here():
    with libpubsub.Endpoint() as sender, libpubsub.Endpoint() as receiver:
        sender.peer(f"tcp://127.0.0.1:{receiver.listen('tcp://127.0.0.1:0')}")
        there = receiver.make_subscriber("t")
        here = sender.make_subscriber("t")
        assert sender.wait_for_subscribers("t", 2, DEADLINE)
        sender.publish_batch("t", range(1000))
        assert sender.drain(0.01) >= 1000
        assert len(here.poll()) == 1000
        assert sender.drain(DEADLINE) == 0
        assert there.counters().offered == 1000


def test_status_is_told_here_and_by_peers():
    with libpubsub.Endpoint() as asker, libpubsub.Endpoint() as node, libpubsub.Endpoint(serve_status=False) as closed:
        asker.peer(f"tcp://127.0.0.1:{node.listen('tcp://127.0.0.1:0')}")
        asker.peer(f"tcp://127.0.0.1:{closed.listen('tcp://127.0.0.1:0')}", max_retry=2.0)
        node.make_subscriber("a\udcff", policy="drop_oldest", capacity=7)
        status = asker.status_of(node.id, DEADLINE)
        assert status["id"] == node.id
        assert status["version"] == libpubsub.__version__
        assert [peer["id"] for peer in status["peers"]] == [asker.id]
        assert node.status()["counters"] == status["counters"] == node.counters().as_dict()
        with pytest.raises(libpubsub.NotSupported):
            asker.status_of(closed.id, DEADLINE)
        with pytest.raises(libpubsub.PeerError):
            asker.status_of("00000000-0000-0000-0000-000000000001", DEADLINE)
        with pytest.raises(libpubsub.DecodeError):
            asker.status_of("nobody")


def test_a_network_is_asked_and_traced_from_a_client():
    options = {"forwarding": True}
    with libpubsub.Endpoint(name="near", **options) as near, libpubsub.Endpoint(name="far", **options) as far, \
            libpubsub.Endpoint(name="client") as client:
        near.peer(f"tcp://127.0.0.1:{far.listen('tcp://127.0.0.1:0')}")
        client.peer(f"tcp://127.0.0.1:{near.listen('tcp://127.0.0.1:0')}")
        subscriber = far.make_subscriber("t")
        assert client.wait_for_subscribers("t", 1, DEADLINE)
        assert client.status_of(far.id, DEADLINE)["name"] == "far"
        assert [node["name"] for node in client.network_of(near.id, DEADLINE)["nodes"]] == ["far"]
        assert [node["name"] for node in near.network()["nodes"]] == ["far"]
        hops = client.trace("t", DEADLINE)
        assert [hop.name for hop in hops] == ["client", "near", "far"]
        assert [hop.previous for hop in hops] == [None, client.id, near.id]
        assert [hop.outcome for hop in hops] == ["reached"] * 3
        assert [hop.subscribers for hop in hops] == [0, 0, 1]
        assert hops[0].round_trip == 0 < hops[1].round_trip < DEADLINE
        assert hops[2].remarks == [] and hops[2].queued == hops[2].waiting == 0
        assert "far" in repr(hops[2])
        assert client.trace("other", DEADLINE)[1].remarks == ["nobody wants this topic, here or behind"]
        subscriber.close()


def test_peers_that_answer_pings_stay():
    with libpubsub.Endpoint(liveness_timeout=1.0) as watching, libpubsub.Endpoint() as other:
        events = watching.make_status_subscriber()
        watching.peer(f"tcp://127.0.0.1:{other.listen('tcp://127.0.0.1:0')}")
        assert watching.peers()[0].wire_version == 2
        wait_until(lambda: watching.peers()[0].counters.bytes_received > 700)  # answers to pings
        assert watching.counters().silent_peers == 0
        assert [event.code for event in events.poll()] == ["endpoint_discovered", "peer_added"]


def test_a_hundred_endpoints_share_io_threads(endpoint):
    def io_threads():
        return [(task / "comm").read_text() for task in Path("/proc/self/task").iterdir()].count("pubsub-io\n")

    where = HERE.format(endpoint.listen("tcp://127.0.0.1:0"))
    wait_until(io_threads)  # that of the endpoint gives itself its name
    before = io_threads()
    with ExitStack() as cleanup:
        clients = [cleanup.enter_context(libpubsub.Endpoint(io_threads=0)) for _ in range(100)]
        subscribers = [each.make_subscriber("/t") for each in clients]
        for each in clients:
            each.peer(where)
        assert io_threads() <= before + os.cpu_count()
        assert endpoint.wait_for_subscribers("/t", len(clients), DEADLINE)
        endpoint.publish("/t", 7)
        assert [each.get(DEADLINE).data for each in subscribers] == [7] * len(clients)


NO_THREAD_LEFT = """
import libpubsub, resource
endpoint = libpubsub.Endpoint()
pages = int(open("/proc/self/statm").read().split()[0])
room = pages * resource.getpagesize() + 1_000_000  # less than the stack of a thread
resource.setrlimit(resource.RLIMIT_AS, (room, resource.getrlimit(resource.RLIMIT_AS)[1]))
try:
    endpoint.listen("tcp://127.0.0.1:0")
except libpubsub.PubsubError as problem:
    print(problem)
"""


def test_a_process_that_may_have_no_more_threads_is_told_so():
    told = subprocess.run([sys.executable, "-c", NO_THREAD_LEFT], text=True, capture_output=True, timeout=DEADLINE)
    assert told.returncode == 0 and "endpoints with io_threads = 0 share them" in told.stdout, told
