"""`pubsub node` as a member of a Zeek cluster with the ZeroMQ backend; the nodes are made with pyzmq, and the proxy in their
middle either so, or it is `pubsub zeek-proxy`."""
# SPDX-License-Identifier: BSD-3-Clause

import contextlib
import itertools
import json
import re
import subprocess
import threading

import pytest
from cluster_member import Member
from conftest import DEADLINE, ROOT, wait_until
from zeek_cluster import Keys, Node, Proxy, event_payload, log_batch, log_sender
from zeek_parties import OwnProxy, documented_metrics, free_port, key_folder, metrics_at

import libpubsub
from libpubsub import Count, EnumValue, Timestamp
from libpubsub.zeek import Event, publish_event

WORKERS, MANAGER = "zeek/cluster/worker", "zeek/cluster/manager"
MANAGER_IN_CLUSTER = MANAGER.replace("/", ".")


@pytest.fixture
def member(pubsub_command):
    """Starts a node that has joined the cluster at each address."""
    with contextlib.ExitStack() as stack:
        def start(*uris, options=()):
            started = stack.enter_context(Member(pubsub_command, *uris, options=options))
            for _ in uris:
                started.wait_for("peer_added")
            return started
        yield start


@pytest.fixture(params=["proxy of libzmq", "own proxy"])
def start_proxy(request, pubsub_command, tmp_path):
    """Starts proxies, at any ports unless some are given, with keys where there are some."""
    with contextlib.ExitStack() as stack:
        def start(keys=None, **ports):
            if request.param == "proxy of libzmq":
                return stack.enter_context(Proxy(keys, **ports))
            options = () if keys is None else ("--curve", key_folder(tmp_path / "keys of the proxy", keys))
            return stack.enter_context(OwnProxy(pubsub_command, options, **ports))
        yield start


@pytest.fixture
def proxy(start_proxy):
    return start_proxy()


def joined(endpoint, node):
    endpoint.peer(node.address)
    return endpoint


def events_of(subscriber, n):
    received = []
    while len(received) < n:
        message = subscriber.get(DEADLINE)
        assert message is not None, f"{len(received)} of {n} events came"
        received.append((message.topic, Event.from_data(message.data)))
    return received


def next_event(subscriber, patience):
    """None if none comes in time."""
    message = subscriber.get(patience)
    return None if message is None else Event.from_data(message.data)


def until(last, receive):
    """What is received before `last`, or before nothing comes any more."""
    return list(itertools.takewhile(lambda x: x not in (last, None), iter(receive, object())))


def test_events_go_both_ways_under_the_names_of_each_side(proxy, member, endpoint):
    with Node(proxy, "zeek.cluster.worker", "zeek.cluster.node.worker-1.", "my/topic") as worker:
        joined(endpoint, member(proxy.uri()))
        subscriber = endpoint.make_subscriber([MANAGER, "my/other"])
        worker.wait_for(lambda: {MANAGER_IN_CLUSTER, "my/other"} <= set(worker.subscriptions))
        worker.publish(MANAGER_IN_CLUSTER, "Test::ping", 1, "text")
        worker.publish("my/other", "Test::ping", 2, "text")
        assert events_of(subscriber, 2) == [(MANAGER, Event("Test::ping", Count(1), "text")),
                                            ("my/other", Event("Test::ping", Count(2), "text"))]
        for topic, inside in ((WORKERS, b"zeek.cluster.worker"), ("my/topic", b"my/topic"),
                              ("zeek/cluster/node/worker-1/", b"zeek.cluster.node.worker-1.")):
            assert endpoint.wait_for_subscribers(topic, 1, DEADLINE)
            publish_event(endpoint, topic, "Test::pong", Count(3), "text")
            name, sender, serializer, payload = worker.receive()
            assert (name, serializer) == (inside, b"broker-bin-v1")
            assert sender.startswith(b"libpubsub_")
            assert payload == event_payload("Test::pong", 3, "text")


def test_topics_stay_as_they_are_where_that_is_wanted(proxy, member, endpoint):
    with Node(proxy) as worker:
        joined(endpoint, member(proxy.uri("&names=as-they-are")))
        subscriber = endpoint.make_subscriber(MANAGER_IN_CLUSTER)
        worker.wait_for(lambda: MANAGER_IN_CLUSTER in worker.subscriptions)
        worker.publish(MANAGER_IN_CLUSTER, "e")
        assert events_of(subscriber, 1) == [(MANAGER_IN_CLUSTER, Event("e"))]


def test_subscriptions_follow_and_none_looks_like_that_of_a_node(proxy, member, endpoint):
    with Node(proxy) as worker:
        joined(endpoint, member(proxy.uri()))
        before = set(worker.subscriptions)
        subscriber = endpoint.make_subscriber(["zeek/cluster/nodeid/zeromq_a_host_1_x/", "a/b"])
        worker.wait_for(lambda: {"zeek.cluster.nodeid", "a/b"} <= set(worker.subscriptions))
        subscriber.remove_topic("a/b")
        worker.wait_for(lambda: "a/b" in worker.ended)
        subscriber.close()
        worker.wait_for(lambda: "zeek.cluster.nodeid" in worker.ended)
        left = set(worker.subscriptions) - before
        assert not {each for each in left if not each.startswith("libpubsub.members.")}


def test_what_is_sent_to_the_cluster_does_not_come_back(proxy, member, endpoint):
    with Node(proxy, "zeek.cluster.worker") as worker:
        node = member(proxy.uri())
        joined(endpoint, node)
        subscriber = endpoint.make_subscriber(WORKERS)
        worker.wait_for(lambda: worker.subscriptions.count("zeek.cluster.worker") == 2)
        assert endpoint.wait_for_subscribers(WORKERS, 1, DEADLINE)
        for n in range(100):
            publish_event(endpoint, WORKERS, "e", Count(n))
        for n in range(100):
            assert worker.receive()[3] == event_payload("e", n)
        worker.publish("zeek.cluster.worker", "last")
        # Its own 100 from this very endpoint, and nothing else before what the worker sends.
        got = [event for _, event in events_of(subscriber, 101)]
        assert got == [Event("e", Count(n)) for n in range(100)] + [Event("last")]
        assert "100 own" in node.end()


def test_of_two_members_in_one_network_one_does_the_work(proxy, pubsub_command, endpoint):
    with Node(proxy, "x/") as worker, contextlib.ExitStack() as stack:
        first = stack.enter_context(Member(pubsub_command, proxy.uri()))
        second = stack.enter_context(Member(pubsub_command, proxy.uri(), first.address))
        for each in (first, second, second):
            each.wait_for("peer_added")
        joined(endpoint, second)
        subscriber = endpoint.make_subscriber("x/")
        worker.wait_for(lambda: worker.subscriptions.count("x/") == 3)
        assert endpoint.wait_for_subscribers("x/", 1, DEADLINE)

        def once_each_way(n, patience=DEADLINE):
            """Not so while the two do not know of each other, or that the other is gone."""
            worker.publish("x/in", "from the worker", n)
            publish_event(endpoint, "x/out", "from the network", Count(n))
            publish_event(endpoint, "x/out", "last", Count(n))
            in_cluster = until(event_payload("last", n), lambda: (worker.receive(patience) or [None])[-1])
            worker.publish("x/in", "last in", n)
            in_network = until(Event("last in", Count(n)), lambda: next_event(subscriber, patience))
            return (in_cluster.count(event_payload("from the network", n)) == 1
                    and in_network.count(Event("from the worker", Count(n))) == 1)

        numbers = itertools.count()
        wait_until(lambda: once_each_way(next(numbers)))
        for _ in range(100):
            assert once_each_way(next(numbers))
        first.end()
        assert second.wait_for("peer_removed")
        wait_until(lambda: once_each_way(next(numbers), patience=0.2))


def test_a_proxy_that_is_lost_is_a_lost_peer_and_is_found_again(start_proxy, member, endpoint):
    first = start_proxy()
    node = member(first.uri())
    ports = {"xsub_port": first.xsub_port, "xpub_port": first.xpub_port}
    joined(endpoint, node)
    subscriber = endpoint.make_subscriber(MANAGER)
    first.close()
    assert "was lost" in node.wait_for("log")["message"]
    assert node.wait_for("peer_removed")["name"] == "zeek-cluster"
    with Node(start_proxy(**ports), "zeek.cluster.worker") as worker:
        assert node.wait_for("peer_added")["name"] == "zeek-cluster"
        worker.wait_for(lambda: MANAGER_IN_CLUSTER in worker.subscriptions)
        worker.publish(MANAGER_IN_CLUSTER, "e")
        assert events_of(subscriber, 1) == [(MANAGER, Event("e"))]
        assert endpoint.wait_for_subscribers(WORKERS, 1, DEADLINE)
        publish_event(endpoint, WORKERS, "e")
        assert worker.receive()[0] == b"zeek.cluster.worker"
        assert "2 connections" in node.end()


def test_nothing_is_lost_either_way(proxy, member, endpoint):
    n = 30_000  # what the queue towards the network holds
    with Node(proxy, "zeek.cluster.worker") as worker:
        node = member(proxy.uri())
        joined(endpoint, node)
        subscriber = endpoint.make_subscriber(MANAGER)
        worker.wait_for(lambda: MANAGER_IN_CLUSTER in worker.subscriptions)
        for i in range(n):
            worker.publish(MANAGER_IN_CLUSTER, "e", i)
        assert [event.args[0] for _, event in events_of(subscriber, n)] == list(range(n))
        assert endpoint.wait_for_subscribers(WORKERS, 1, DEADLINE)
        publisher = threading.Thread(target=lambda: [publish_event(endpoint, WORKERS, "e", Count(i)) for i in range(n)])
        publisher.start()
        for i in range(n):
            assert worker.receive()[3] == event_payload("e", i)
        publisher.join()
        assert f"{n} events received, {n} events sent" in node.end()


def test_a_subscriber_that_does_not_read_holds_up_nobody_in_the_cluster(proxy, member, endpoint):
    n = 50_000  # more than all queues on the way hold
    with Node(proxy) as publisher, Node(proxy, MANAGER_IN_CLUSTER) as reader:
        node = member(proxy.uri(), options=["--link-queue", "100"])
        joined(endpoint, node)
        stuck = endpoint.make_subscriber(MANAGER, capacity=10)
        publisher.wait_for(lambda: publisher.subscriptions.count(MANAGER_IN_CLUSTER) == 2)
        sending = threading.Thread(target=lambda: [publisher.publish(MANAGER_IN_CLUSTER, "e", i) for i in range(n)])
        sending.start()
        for i in range(n):
            assert reader.receive()[3] == event_payload("e", i)
        sending.join()
        assert "dropped" in node.wait_for("gateway_dropped")["message"]
        assert stuck.get(DEADLINE) is not None


def test_logs_become_records_with_names(proxy, member, endpoint):
    port = free_port()
    node = member(proxy.uri(f"&logs={port}"))
    joined(endpoint, node)
    subscriber = endpoint.make_subscriber("zeek/records/")
    assert subscriber.wait_ready(DEADLINE)
    with log_sender(port) as send:
        send(b"nonsense")
        send(log_batch("test", [(1.5, 3), (2.5, None)]))
        received = events_of(subscriber, 3)
    assert {topic for topic, _ in received} == {"zeek/records/test"}
    assert [event for _, event in received] == [
        Event("log_fields", "test", (("ts", "time"), ("n", "count"))),
        Event("log_test", (Timestamp(1_500_000_000), Count(3))),
        Event("log_test", (Timestamp(2_500_000_000), None))]
    node.end()
    assert node.malformed() == 1


def test_malformed_messages_are_counted_and_change_nothing(proxy, member, endpoint):
    good = event_payload("e", 1)
    bad = [(b"x",), (b"x", b"s", b"broker-bin-v1"), (b"x", b"s", b"broker-bin-v1", good, b"more"),
           (b"x", b"s", b"nonsense", good), (b"x", b"s", b"broker-bin-v1", b""), (b"x", b"s", b"broker-bin-v1", good[:-1]),
           (b"x", b"s", b"broker-bin-v1", good + b"x"), (b"x", b"s", b"broker-json-v1", b'{"@data-type":'),
           (b"x", b"s", b"broker-bin-v1", b"\x02" + bytes(8)), (b"x\0", b"s", b"broker-bin-v1", good)]
    with Node(proxy) as worker:
        node = member(proxy.uri())
        joined(endpoint, node)
        subscriber = endpoint.make_subscriber("x")
        worker.wait_for(lambda: "x" in worker.subscriptions)
        for each in bad:
            worker.send(*each)
        worker.send(b"x", b"s", b"broker-json-v1",
                    b'{"@data-type":"vector","data":[{"@data-type":"count","data":1},{"@data-type":"count","data":1},'
                    b'{"@data-type":"vector","data":[{"@data-type":"string","data":"e"},'
                    b'{"@data-type":"vector","data":[{"@data-type":"enum-value","data":"A::B"}]}]}]}')
        assert events_of(subscriber, 1) == [("x", Event("e", EnumValue("A::B")))]
        node.end()
        assert node.malformed() == len(bad)


def test_metrics_of_a_node_have_those_of_its_clusters(proxy, pubsub_command, endpoint):
    uri = proxy.uri()
    with Node(proxy) as worker, Member(pubsub_command, uri, options=["--metrics", "127.0.0.1:0"]) as node:
        page = node.wait_for("metrics")["address"]
        node.wait_for("peer_added")
        joined(endpoint, node)
        subscriber = endpoint.make_subscriber("x")
        worker.wait_for(lambda: "x" in worker.subscriptions)
        worker.publish("x", "e")
        assert events_of(subscriber, 1) == [("x", Event("e"))]
        labels = f'{{gateway="{uri}"}}'
        wait_until(lambda: metrics_at(page)[f"pubsub_gateway_events_received_total{labels}"] == "1")
        of_websockets = {f"pubsub_gateway_{name}_total" for name in ("extended", "replaced", "repeated", "errors")}
        assert metrics_at(page).keys() == {name + labels for name in documented_metrics("pubsub_gateway_") - of_websockets}


def test_what_is_no_event_is_not_sent(proxy, member, endpoint):
    with Node(proxy, "x") as worker:
        joined(endpoint, member(proxy.uri("&format=json")))
        assert endpoint.wait_for_subscribers("x", 1, DEADLINE)
        endpoint.publish("x", "no event")
        publish_event(endpoint, "x", "e", Count(1))
        _, _, serializer, payload = worker.receive()
        assert serializer == b"broker-json-v1"
        assert libpubsub.from_json(payload.decode()) == (Count(1), Count(1), ("e", (Count(1),)))


def test_keys_encrypt_and_other_keys_do_not_get_in(start_proxy, pubsub_command, endpoint, tmp_path):
    keys, others = Keys(), Keys()
    folders = {}
    for name, theirs in (("right", keys), ("wrong", others)):
        folders[name] = tmp_path / name
        folders[name].mkdir()
        (folders[name] / "server_publickey").write_bytes(keys.server_public)
        (folders[name] / "client_publickey").write_bytes(theirs.client_public)
        (folders[name] / "client_secretkey").write_bytes(theirs.client_secret)
    proxy = start_proxy(keys)
    with Node(proxy, keys=keys) as worker:
        for uri in (proxy.uri(), proxy.uri(f"&curve={folders['wrong']}")):
            with Member(pubsub_command, uri) as node:
                assert "does not accept the connection" in node.wait_for("log")["message"]
        with Member(pubsub_command, proxy.uri(f"&curve={folders['right']}")) as node:
            node.wait_for("peer_added")
            joined(endpoint, node)
            subscriber = endpoint.make_subscriber(MANAGER)
            worker.wait_for(lambda: MANAGER_IN_CLUSTER in worker.subscriptions)
            worker.publish(MANAGER_IN_CLUSTER, "e")
            assert events_of(subscriber, 1) == [(MANAGER, Event("e"))]


def test_the_program_of_the_page_asks_the_workers(proxy, member, python):
    page = (ROOT / "docs/how-to/zeek-cluster.md").read_text(encoding="utf-8")
    program, = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    with Node(proxy, "zeek.cluster.worker") as worker:
        address = member(proxy.uri()).address
        asking = subprocess.Popen([python, "-c", program.replace("tcp://127.0.0.1:9999", address)],
                                  stdout=subprocess.PIPE, text=True)
        worker.wait_for(lambda: "my/answers" in worker.subscriptions)
        assert worker.receive()[3] == event_payload("My::question", 42)
        worker.publish("my/answers", "My::answer", "worker-1", 43)
        said, _ = asking.communicate(timeout=DEADLINE)
        assert said == "My::answer worker-1 43\n"


def test_an_address_that_means_nothing_is_refused(pubsub_command):
    done = subprocess.run([pubsub_command, "node", "--peer", "zeek+zmq://a?nonsense=1"], capture_output=True, text=True,
                          timeout=DEADLINE, check=False)
    assert done.returncode != 0
    assert '"nonsense=1" means nothing; expected zeek+zmq://HOST' in done.stderr


def test_every_command_joins_clusters(proxy, pubsub_command):
    with Node(proxy, "zeek.cluster.worker") as worker:
        subscriber = subprocess.Popen([pubsub_command, "sub", "--peer", proxy.uri(), "--topic", MANAGER, "--count", "1"],
                                      stdout=subprocess.PIPE, text=True)
        worker.wait_for(lambda: MANAGER_IN_CLUSTER in worker.subscriptions)
        worker.publish(MANAGER_IN_CLUSTER, "Test::ping", 1)
        out, _ = subscriber.communicate(timeout=DEADLINE)
        assert subscriber.returncode == 0
        assert json.loads(out)["topic"] == MANAGER
