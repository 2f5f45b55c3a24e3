"""`pubsub node` as a client of a Zeek cluster's WebSocket server, which is made with the library websockets."""
# SPDX-License-Identifier: BSD-3-Clause

import contextlib
import json
import re
import ssl
import subprocess
import threading

import pytest
from certificates import Authority
from cluster_member import Member
from conftest import DEADLINE, ROOT, wait_until
from zeek_websocket import BROKER, ZEROMQ, Server, event_text, plain

from libpubsub import Count, to_json
from libpubsub.zeek import Event, publish_event

WORKERS, MANAGER = "zeek/cluster/worker", "zeek/cluster/manager"


@pytest.fixture
def member(pubsub_command):
    """Starts a node that has joined the cluster at each address."""
    with contextlib.ExitStack() as stack:
        def start(*uris, options=(), connected=True):
            started = stack.enter_context(Member(pubsub_command, *uris, options=options))
            for _ in uris if connected else ():
                started.wait_for("peer_added")
            return started
        yield start


@pytest.fixture
def server():
    with Server() as result:
        yield result


def joined(endpoint, node):
    endpoint.peer(node.address)
    return endpoint


def next_event(subscriber, patience=DEADLINE):
    message = subscriber.get(patience)
    assert message is not None, "no event came"
    return message.topic, Event.from_data(message.data)


def client_of(server, topic):
    """The connection whose subscriptions have the topic, and all before it."""
    before = [server.client()]
    while topic not in before[-1].subscriptions:
        before.append(server.client())
    return before[-1], before[:-1]


def test_events_go_both_ways(server, member, endpoint):
    joined(endpoint, member(server.uri()))
    first = server.client()
    assert first.subscriptions == []
    assert first.headers["X-Application-Name"] == "libpubsub"
    assert "Authorization" not in first.headers
    subscriber = endpoint.make_subscriber([MANAGER, "my/other"])
    second = server.client()
    assert sorted(second.subscriptions) == ["my/other", MANAGER]
    second.publish(MANAGER, "Test::ping", 1, "text")
    assert next_event(subscriber) == (MANAGER, Event("Test::ping", Count(1), "text"))
    assert endpoint.wait_for_subscribers(WORKERS, 1, DEADLINE)
    publish_event(endpoint, WORKERS, "Test::pong", Count(3), "text")
    assert first.receive() == (WORKERS, "Test::pong", (("count", 3), "text"))
    publish_event(endpoint, "my/other", "Test::pong")
    assert second.receive() == ("my/other", "Test::pong", ())  # where the server does not send it back


def test_fixed_topics_take_one_connection_and_only_what_is_to_be_sent_is(server, member, endpoint):
    node = member(server.uri("?topics=a/b,c%2Cd&send=out/&application=my-tool/1.0"))
    joined(endpoint, node)
    client = server.client()
    assert client.subscriptions == ["a/b", "c,d"]
    assert client.headers["X-Application-Name"] == "my-tool/1.0"
    subscriber = endpoint.make_subscriber("")
    assert subscriber.wait_ready(DEADLINE)
    assert endpoint.wait_for_subscribers("out/x", 2, DEADLINE)  # the one here, and the server
    assert endpoint.subscribers("other") == 1
    client.publish("c,d/e", "e")
    assert next_event(subscriber) == ("c,d/e", Event("e"))
    said = node.end()
    assert "1 connections" in said
    assert "extended" not in said


@pytest.mark.parametrize("options, node, topic", [
    ("", ZEROMQ, MANAGER.replace("/", ".")), ("", BROKER, MANAGER), ("?names=mapped", BROKER, MANAGER.replace("/", ".")),
    ("?names=as-they-are", ZEROMQ, MANAGER)])
def test_topics_of_nodes_have_the_names_of_the_servers_cluster(member, endpoint, options, node, topic):
    with Server(node=node) as server:
        joined(endpoint, member(server.uri(options)))
        subscriber = endpoint.make_subscriber(MANAGER)
        client, before = client_of(server, topic)
        client.publish(topic, "e")
        assert next_event(subscriber) == (MANAGER, Event("e"))
        assert endpoint.wait_for_subscribers("zeek/cluster/node/worker-1/", 1, DEADLINE)
        publish_event(endpoint, "zeek/cluster/node/worker-1/", "e")
        name = "zeek.cluster.node.worker-1." if "." in topic else "zeek/cluster/node/worker-1/"
        assert before[0].receive() == (name, "e", ())


def test_what_the_node_announces_from_the_start_takes_no_further_connection(server, member):
    node = member(server.uri(), options=["--topic", MANAGER])
    assert MANAGER in server.client().subscriptions
    said = node.end()
    assert "1 connections" in said
    assert "extended" not in said


def test_a_server_that_does_not_acknowledge_is_told(member):
    with Server(acknowledge=False) as server:
        node = member(server.uri(), connected=False)
        client = server.client()
        client.connection.send('{"type":"error","code":"deserialization_failed","message":"subscriptions not an array"}')
        said = node.wait_for("log")["message"]
        assert "the server refuses: deserialization_failed: subscriptions not an array" in said
        server.client().connection.send("nonsense")
        assert "something else than an ack: nonsense" in node.wait_for("log")["message"]
        server.client().connection.close(1008, "Invalid URI - use /v1/messages/json")
        assert "closed the connection with code 1008: Invalid URI" in node.wait_for("log")["message"]


def test_another_path_and_another_token_are_refused(member, tmp_path):
    with Server(token="right") as server:
        assert "the server refuses: HTTP 404 Not Found" in member(
            server.uri("/v2"), connected=False).wait_for("log")["message"]
        assert "the server refuses: HTTP 401 Unauthorized" in member(
            server.uri(), connected=False).wait_for("log")["message"]
        (tmp_path / "token").write_text("right\n")
        member(server.uri(f"?token={tmp_path / 'token'}"))
        assert server.client().headers["Authorization"] == "Bearer right"


def test_errors_of_the_server_are_told_and_counted(server, member, endpoint):
    node = member(server.uri("?topics=x"))
    joined(endpoint, node)
    subscriber = endpoint.make_subscriber("x")
    assert subscriber.wait_ready(DEADLINE)
    client = server.client()
    for _ in range(1000):
        client.connection.send('{"type":"error","code":"deserialization_failed","context":"failed to create Zeek event"}')
    client.publish("x", "e")
    assert next_event(subscriber) == ("x", Event("e"))
    assert "the server says deserialization_failed: failed to create Zeek event" in node.wait_for("log")["message"]
    assert "1000 errors" in node.end()


def test_pings_are_answered(server, member):
    member(server.uri())
    assert server.client().connection.ping().wait(DEADLINE)


def test_malformed_messages_are_counted_and_change_nothing(server, member, endpoint):
    node = member(server.uri("?topics=x"))
    joined(endpoint, node)
    subscriber = endpoint.make_subscriber("x")
    assert subscriber.wait_ready(DEADLINE)
    client = server.client()
    bad = ["", "[]", "5", "nonsense", '{"broken', "{}", event_text("x", "e")[:-1], event_text("x", "e") + "}",
           event_text("x", "e").replace('"topic":"x",', ""), '{"type":"data-message","topic":"x","@data-type":"count","data":1}',
           '{"type":"data-message","topic":"x","@data-type":"vector","data":[]}', event_text("x", "")]
    for each in bad:
        client.connection.send(each)
    client.connection.send(event_text("x", "e", "raw \1 and").encode().replace(b" and", b" \xff\x80"), text=True)
    topic, event = next_event(subscriber)
    assert (topic, event.name, event.args) == ("x", "e", (b"raw \1 \xff\x80",))
    node.end()
    assert node.malformed() == len(bad)


def test_strings_that_are_no_text_reach_the_server_as_they_are(server, member, endpoint):
    joined(endpoint, member(server.uri()))
    client = server.client()
    assert endpoint.wait_for_subscribers("x", 1, DEADLINE)
    publish_event(endpoint, "x", "e", b"\xff\0\"")
    frame = client.connection.recv(DEADLINE)
    assert isinstance(frame, bytes)  # a frame of text would end the connection
    assert b'{"@data-type":"string","data":"\xff\\u0000\\""}' in frame  # Zeek takes no other NUL


def test_a_server_that_is_lost_is_a_lost_peer_and_is_found_again(member, endpoint):
    first = Server()
    node = member(first.uri())
    joined(endpoint, node)
    subscriber = endpoint.make_subscriber(MANAGER)
    client_of(first, MANAGER)
    first.close()
    assert "the server has closed the connection with code 100" in node.wait_for("log")["message"]
    assert node.wait_for("peer_removed")["name"].startswith("zeek-cluster@")
    with Server(port=first.port) as second:
        assert node.wait_for("peer_added")["name"].startswith("zeek-cluster@")
        client = second.client()
        assert set(client.subscriptions) == {MANAGER, MANAGER.replace("/", ".")}  # all at once, by both names
        client.publish(MANAGER, "e")
        assert next_event(subscriber) == (MANAGER, Event("e"))
        assert endpoint.wait_for_subscribers(WORKERS, 1, DEADLINE)
        publish_event(endpoint, WORKERS, "e")
        assert client.receive() == (WORKERS, "e", ())
        assert "2 connections" in node.end()
        assert client.close_code() == 1000


def test_subscriptions_that_grow_bring_each_event_once(server, member, endpoint):
    joined(endpoint, member(server.uri()))
    clients = [server.client()]
    subscriber = endpoint.make_subscriber("x/a")
    clients.append(server.client())
    subscriber.add_topic("x/")
    clients.append(server.client())
    subscriber.add_topic("")
    clients.append(server.client())
    assert [each.subscriptions for each in clients] == [[], ["x/a"], ["x/"], [""]]
    marker = 0

    def publish(topic):
        """To everybody who has subscribed, as a server does."""
        for each in clients:
            if any(topic.startswith(prefix) for prefix in each.subscriptions):
                each.publish(topic, "e")

    def settled():
        """Once the last connection is known to be open."""
        nonlocal marker
        marker += 1
        clients[-1].publish("marker", "e", marker)
        message = subscriber.get(0.1)
        while message is not None:
            if Event.from_data(message.data).args == (Count(marker),):
                return True
            message = subscriber.get(0.1)
        return False

    wait_until(settled)
    for topic in ("x/a/1", "x/b", "y"):
        publish(topic)
    assert sorted(next_event(subscriber)[0] for _ in range(3)) == ["x/a/1", "x/b", "y"]
    assert settled()
    for topic, number in (("x/a/2", 1), ("x/c", 2), ("z", 3)):
        publish_event(endpoint, topic, "e")
        assert clients[number].receive() == (topic, "e", ())
        assert next_event(subscriber)[0] == topic  # from here
    subscriber.remove_topic("")
    assert len({each.connection.protocol.state for each in clients}) == 1  # no connection goes for that


def test_of_two_members_in_one_network_one_does_the_work(server, pubsub_command, endpoint):
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(Member(pubsub_command, server.uri("?topics=x/")))
        first.wait_for("peer_added")
        second = stack.enter_context(Member(pubsub_command, first.address, server.uri("?topics=x/")))
        for _ in range(2):
            second.wait_for("peer_added")
        joined(endpoint, second)
        subscriber = endpoint.make_subscriber("x/")
        assert subscriber.wait_ready(DEADLINE)
        clients = [server.client(), server.client()]

        def once_each_way(n):
            for each in clients:
                each.publish("x/in", "in", n)
            came = [Event.from_data(x.data) for x in iter(lambda: subscriber.get(0.2), None)]
            publish_event(endpoint, "out", "out", Count(n))
            got = [x for each in clients for x in iter(lambda client=each: client.receive(0.2), None)]
            return came == [Event("in", Count(n))] and got == [("out", "out", (("count", n),))]

        numbers = iter(range(1000))
        wait_until(lambda: once_each_way(next(numbers)))
        for _ in range(3):
            assert once_each_way(next(numbers))
        first.end()
        clients = [each for each in clients if each.connection.protocol.close_rcvd is None]
        wait_until(lambda: once_each_way(next(numbers)))


def test_nothing_is_lost_either_way(server, member, endpoint):
    n = 100_000
    node = member(server.uri("?topics=in"), options=["--link-queue", str(n)])
    joined(endpoint, node)
    subscriber = endpoint.make_subscriber("in", capacity=n)
    assert subscriber.wait_ready(DEADLINE)
    client = server.client()
    sending = threading.Thread(target=lambda: [client.publish("in", "e", i) for i in range(n)])
    sending.start()
    got = 0
    for message in subscriber:
        assert Event.from_data(message.data).args == (got,)
        got += 1
        if got == n:
            break
    sending.join()
    assert endpoint.wait_for_subscribers("out", 1, DEADLINE)
    publisher = threading.Thread(target=lambda: [publish_event(endpoint, "out", "e", Count(i)) for i in range(n)])
    publisher.start()
    for i in range(n):
        assert f'{{"@data-type":"count","data":{i}}}]'.encode() in client.connection.recv(DEADLINE)
    publisher.join()
    assert f"{n} events received, {n} events sent" in node.end()


def test_a_subscriber_that_does_not_read_costs_events_and_not_memory(server, member, endpoint):
    n = 30_000  # more than all queues on the way hold
    node = member(server.uri("?topics=in"), options=["--link-queue", "100"])
    joined(endpoint, node)
    stuck = endpoint.make_subscriber("in", capacity=10)
    assert stuck.wait_ready(DEADLINE)
    client = server.client()
    for i in range(n):
        client.publish("in", "e", i)
    assert client.connection.ping().wait(DEADLINE)  # it reads all the same
    assert "dropped" in node.wait_for("gateway_dropped")["message"]
    assert stuck.get(DEADLINE) is not None


def server_context(authority, name, ask=False):
    issued = authority.issue(name)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(issued["certificate"], issued["key"])
    if ask:
        context.load_verify_locations(authority.ca_file)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def test_tls_checks_the_authority_and_the_name_of_the_host(member, tmp_path):
    ours, theirs = Authority(tmp_path / "ours"), Authority(tmp_path / "theirs")
    with Server(ssl=server_context(ours, "localhost")) as server:
        member(server.uri(f"?ca={ours.ca_file}", host="localhost"))
        for uri, why in ((server.uri(f"?ca={theirs.ca_file}", host="localhost"), "the certificate of the server is not accepted"),
                         (server.uri(host="localhost"), "the certificate of the server is not accepted"),
                         (server.uri(f"?ca={ours.ca_file}"), "TLS failed|the certificate of the server is not accepted")):
            assert re.search(why, member(uri, connected=False).wait_for("log")["message"])


def test_a_server_may_ask_for_a_certificate(member, endpoint, tmp_path):
    authority = Authority(tmp_path / "ours")
    with Server(ssl=server_context(authority, "localhost", ask=True)) as server:
        assert member(server.uri(f"?ca={authority.ca_file}", host="localhost"), connected=False).wait_for("log")
        mine = authority.issue("client")
        node = member(server.uri(f"?topics=x&ca={authority.ca_file}&certificate={mine['certificate']}&key={mine['key']}",
                                 host="localhost"))
        joined(endpoint, node)
        subscriber = endpoint.make_subscriber("x")
        assert subscriber.wait_ready(DEADLINE)
        server.client().publish("x", "e", "over TLS" * 10_000)
        assert next_event(subscriber) == ("x", Event("e", "over TLS" * 10_000))


def recorded_events():
    """What real servers have sent, as bytes."""
    sessions = json.loads((ROOT / "tests/data/golden/zeek_websocket_sessions.json").read_text(encoding="utf-8"))
    for backend in sessions.values():
        for session in backend:
            for side, text, *raw in session.get("frames", ()):
                if side == "server" and text.startswith('{"type":"data-message"'):
                    yield bytes.fromhex(raw[0]) if raw else text.encode()


def test_what_real_servers_have_sent_arrives_as_it_was(server, member, endpoint):
    node = member(server.uri("?topics=/test/,/flood/"))
    joined(endpoint, node)
    subscriber = endpoint.make_subscriber(["/test/", "/flood/"])
    assert subscriber.wait_ready(DEADLINE)
    client = server.client()
    events = list(recorded_events())
    assert len(events) > 40
    for each in events:
        client.connection.send(each, text=True)
        got = subscriber.get(DEADLINE)
        try:
            text = each.decode()
        except UnicodeDecodeError:
            strings = Event.from_data(got.data).args[0]
            assert isinstance(strings, bytes) and b"\xff" in strings
            continue
        assert got.topic == json.loads(text)["topic"]
        assert plain(json.loads(to_json(got.data))) == plain(json.loads(text, strict=False))
    node.end()
    assert node.malformed() == 0


def test_an_address_that_means_nothing_is_refused(pubsub_command):
    done = subprocess.run([pubsub_command, "node", "--peer", "ws://a?nonsense=1"], capture_output=True, text=True,
                          timeout=DEADLINE, check=False)
    assert done.returncode != 0
    assert '"nonsense=1" means nothing; expected ws://HOST' in done.stderr
