"""`pubsub node` as a sender of logs, and as a logger, in Zeek clusters with the ZeroMQ backend; the cluster is made with pyzmq."""
# SPDX-License-Identifier: BSD-3-Clause

import contextlib

import pytest
from conftest import DEADLINE, wait_until
from zeek_cluster import Keys, Logger, Proxy, log_batch, log_sender
from cluster_member import Member
from zeek_parties import free_port, key_folder, metrics_at

import libpubsub
from libpubsub import Count, Timestamp
from libpubsub.zeek import Event, publish_event

COLUMNS = Event("log_fields", "flows", (("ts", "time"), ("n", "count")))
TOPIC = "zeek/records/flows"


@pytest.fixture
def member(pubsub_command):
    """Starts a node that has joined the cluster at this address."""
    with contextlib.ExitStack() as stack:
        def start(uri, *peers, options=()):
            started = stack.enter_context(Member(pubsub_command, uri, *peers, options=options))
            started.wait_for("peer_added")
            return started
        yield start


@pytest.fixture
def proxy():
    with Proxy() as result:
        yield result


def publish_records(endpoint, numbers, columns=COLUMNS):
    publish_event(endpoint, TOPIC, columns.name, *columns.args)
    for n in numbers:
        publish_event(endpoint, TOPIC, "log_flows", (Timestamp(n * 1_000_000_000), Count(n)))


def records_in(payload):
    return int.from_bytes(payload[len(log_batch("flows", [], stream="Flows::LOG")) - 4:][:4], "big")


def sent_as_flows(records):
    return log_batch("flows", records, stream="Flows::LOG", optional=(1, 1))


def joined(endpoint, node):
    endpoint.peer(node.address)
    assert endpoint.wait_for_subscribers(TOPIC, 1, DEADLINE)


def test_records_of_the_network_reach_loggers_in_batches(proxy, member, endpoint):
    with Logger() as logger:
        uri = proxy.uri(f"&log-to=127.0.0.1:{logger.port}")
        node = member(uri, options=["--metrics", "127.0.0.1:0"])
        joined(endpoint, node)
        publish_records(endpoint, range(1_002))
        kind, sender, serializer, payload = logger.receive()
        assert (kind, serializer) == (b"log-write", b"zeek-bin-serializer")
        assert sender.startswith(b"libpubsub_")
        assert payload == sent_as_flows([(n, n) for n in range(1_000)])
        assert logger.receive()[3] == sent_as_flows([(n, n) for n in (1_000, 1_001)])
        page = node.page()
        wait_until(lambda: metrics_at(page)[f'pubsub_gateway_log_records_sent_total{{gateway="{uri}"}}'] == "1002")


def test_a_log_has_the_name_that_is_given_for_its_path(proxy, member, endpoint):
    with Logger() as logger:
        joined(endpoint, member(proxy.uri(f"&log-to=127.0.0.1:{logger.port}&stream=flows:My::FLOWS")))
        publish_records(endpoint, [1])
        assert logger.receive()[3] == log_batch("flows", [(1, 1)], stream="My::FLOWS", optional=(1, 1))


def test_columns_that_change_begin_a_batch_and_what_does_not_fit_goes_alone(proxy, member, endpoint):
    with Logger() as logger:
        node = member(proxy.uri(f"&log-to=127.0.0.1:{logger.port}"))
        joined(endpoint, node)
        publish_event(endpoint, TOPIC, "log_flows", (Timestamp(0), Count(0)))  # its columns are not known yet
        publish_records(endpoint, [1])
        publish_event(endpoint, TOPIC, "log_flows", (Timestamp(0), "no count"))
        publish_event(endpoint, TOPIC, "log_flows", (Timestamp(0),))
        publish_event(endpoint, TOPIC, "log_other", (Timestamp(0), Count(0)))
        endpoint.publish(TOPIC, "no event")
        publish_records(endpoint, [2])
        publish_event(endpoint, TOPIC, "log_fields", "flows", (("when", "time"), ("n", "count")))
        publish_event(endpoint, TOPIC, "log_flows", (Timestamp(3_000_000_000), Count(3)))
        assert logger.receive()[3] == sent_as_flows([(1, 1), (2, 2)])
        assert b"when" in logger.receive()[3]
        assert "5 log records unreadable" in node.wait_for("gateway_dropped")["message"]
        assert "3 log records sent" in node.end()


def test_loggers_share_and_one_that_is_away_gets_none(proxy, member, endpoint):
    with Logger() as one, Logger() as other:
        away = free_port()
        uri = proxy.uri("".join(f"&log-to=127.0.0.1:{port}" for port in (one.port, away, other.port)))
        node = member(uri)
        joined(endpoint, node)
        publish_records(endpoint, range(10_000))
        got = {logger: 0 for logger in (one, other)}

        def all_came():
            for logger in got:
                while batch := logger.receive(0):
                    got[logger] += records_in(batch[3])
            return sum(got.values()) == 10_000

        wait_until(all_came)
        assert all(got.values())


def test_without_a_logger_records_wait_and_then_are_dropped_and_counted(proxy, member, endpoint):
    port = free_port()
    n = 30_000
    node = member(proxy.uri(f"&log-to=127.0.0.1:{port}"), options=["--link-queue", "2000"])  # has room for the first batch at once
    joined(endpoint, node)
    publish_records(endpoint, range(n))
    assert "log records unsent" in node.wait_for("gateway_dropped")["message"]
    with Logger(port) as logger:
        first = logger.receive()[3]
        assert first == sent_as_flows([(i, i) for i in range(1_000)])


def test_what_one_member_sends_another_receives(proxy, member, endpoint):
    port = free_port()
    receiver = member(proxy.uri(f"&logs={port}"))
    sender = member(proxy.uri(f"&log-to=127.0.0.1:{port}"))
    joined(endpoint, sender)
    with libpubsub.Endpoint() as reader:
        reader.peer(receiver.address)
        subscriber = reader.make_subscriber("zeek/records/")
        assert subscriber.wait_ready(DEADLINE)
        publish_records(endpoint, range(2_500))
        received = []
        while Event("log_flows", (Timestamp(2_499 * 1_000_000_000), Count(2_499))) not in received[-1:]:
            received.append(Event.from_data(subscriber.get(DEADLINE).data))
    assert received[0] == COLUMNS
    assert [each for each in received if each.name == "log_flows"] == [
        Event("log_flows", (Timestamp(n * 1_000_000_000), Count(n))) for n in range(2_500)]
    assert "2500 log records sent" in sender.end()  # although the receiver wants them as events, too


def test_what_a_member_sends_while_it_leaves_is_in_its_totals(proxy, member, endpoint):
    with Logger() as logger, libpubsub.Endpoint() as reader:
        node = member(proxy.uri(f"&log-to=127.0.0.1:{logger.port}"))
        joined(endpoint, node)
        reader.peer(node.address)
        subscriber = reader.make_subscriber(TOPIC)
        assert subscriber.wait_ready(DEADLINE)
        publish_records(endpoint, range(7))  # a batch that would be sent in a second
        for _ in range(8):
            assert subscriber.get(DEADLINE) is not None
        assert "7 log records sent" in node.end()
        assert logger.receive()[3] == sent_as_flows([(n, n) for n in range(7)])


def test_what_came_from_the_cluster_is_not_sent_back(proxy, member, endpoint):
    port = free_port()
    with Logger() as logger, log_sender(port) as send:
        node = member(proxy.uri(f"&logs={port}&log-to=127.0.0.1:{logger.port}"))
        joined(endpoint, node)
        subscriber = endpoint.make_subscriber("zeek/records/")
        assert subscriber.wait_ready(DEADLINE)
        send(log_batch("cluster", [(1.5, 3)]))
        assert [Event.from_data(subscriber.get(DEADLINE).data).name for _ in range(2)] == ["log_fields", "log_cluster"]
        publish_records(endpoint, [7])
        assert logger.receive()[3] == sent_as_flows([(7, 7)])
        assert logger.receive(0) is None
        assert "1 log records sent" in node.end()


def test_logs_are_encrypted_either_way_in_a_cluster_with_keys(member, endpoint, tmp_path):
    keys, others = Keys(), Keys()
    others.server_public = keys.server_public
    folder = key_folder(tmp_path / "keys", keys)
    port = free_port()
    with Proxy(keys) as proxy, Logger(keys=keys) as logger:
        node = member(proxy.uri(f"&curve={folder}&logs={port}&log-to=127.0.0.1:{logger.port}"))
        joined(endpoint, node)
        subscriber = endpoint.make_subscriber("zeek/records/test")
        assert subscriber.wait_ready(DEADLINE)
        with log_sender(port, others) as send_with_other_keys, log_sender(port) as send_without, log_sender(port, keys) as send:
            send_with_other_keys(log_batch("test", [(1, 1)]))
            send_without(log_batch("test", [(2, 2)]))
            send(log_batch("test", [(3, 3)]))
            names = [Event.from_data(subscriber.get(DEADLINE).data) for _ in range(2)]
        assert names[1] == Event("log_test", (Timestamp(3_000_000_000), Count(3)))
        publish_records(endpoint, [4])
        assert logger.receive()[3] == sent_as_flows([(4, 4)])
        assert "1 log records, 1 log records sent" in node.end()
