# SPDX-License-Identifier: BSD-3-Clause
"""Bridges to a real Redis and a real NATS server, which the tests start, and to Kafka's own stand-in for brokers."""

import dataclasses
import doctest
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from datetime import datetime, timedelta, timezone
from ipaddress import IPv4Address, IPv4Network, IPv6Address

import pytest
from conftest import DEADLINE, ctrl_c_ends, wait_until

import libpubsub
from libpubsub import (Closed, Count, EnumValue, Exchange, InvalidArgument, NotSupported, Port, Table, TaskQueue,
                       Timespan, Timestamp, bridge)

ADDRESSES = [IPv4Address("192.0.2.1"), IPv6Address("2001:db8::1")]
# JSON has times to the millisecond.
VALUES = [None, True, Count(7), -7, 2.5, "two\u00e9", *ADDRESSES, IPv4Network("10.0.0.0/8"), Port(53, "udp"),
          Timestamp(1_700_000_000_001_000_000), Timespan(-5), EnumValue("tcp"), frozenset({"a", "b"}),
          Table({"k": Count(1), "l": (1, "two")}), (1, (2.0, ()))]


def unused_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def answers(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def serve(program, arguments):
    """Runs a server until the test ends."""
    where = shutil.which(program) or shutil.which(program, path="/usr/sbin:/usr/local/sbin")
    if where is None:
        pytest.skip(f"{program} is not installed")
    port = unused_port()
    process = subprocess.Popen([where, *arguments(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: answers(port))
        yield port
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def redis_port(tmp_path):
    yield from serve("redis-server", lambda port: ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--dir", tmp_path])


@pytest.fixture
def nats_port(tmp_path):
    yield from serve("nats-server", lambda port: ["-a", "127.0.0.1", "-p", str(port), "-js", "-sd", tmp_path / "nats"])


@pytest.fixture
def redis(redis_port):
    return bridge.Redis(f"redis://127.0.0.1:{redis_port}")


@pytest.fixture(params=["redis", "jetstream"])
def engine(request):
    """An engine, and what a source says to read what a sink has written to `zeek.things`."""
    if request.param == "redis":
        return request.getfixturevalue("redis"), ["zeek.things"]
    return bridge.JetStream(f"nats://127.0.0.1:{request.getfixturevalue('nats_port')}", stream="ZEEK", subjects="zeek.>"), []


def nobody():
    """An engine that does not answer."""
    return bridge.Redis(f"redis://127.0.0.1:{unused_port()}")


def tell_redis(port, *words):
    """Sends Redis a command; returns the first line of the answer."""
    parts = [word.encode() for word in words]
    with socket.create_connection(("127.0.0.1", port), DEADLINE) as s, s.makefile("rb") as answer:
        s.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts))
        return answer.readline().decode().strip()


def adds_up(counters):
    return counters.consumed == counters.delivered + sum(counters.rejected.values()) + counters.in_flight


def write(endpoint, to, values, **options):
    options = {"topics": "things/", "to": "zeek.things", "format": "binary", **options}
    with bridge.Sink(endpoint, to, **options) as sink:
        for value in values:
            endpoint.publish("things/one", value)
        assert sink.drain(DEADLINE) == 0
        return sink.counters()


def read(source, subscriber, n):
    """A source ends once its messages were taken, which are `n`."""
    messages = [subscriber.get(DEADLINE) for _ in range(n)]
    assert source.wait_end(DEADLINE)
    assert source.failure is None and source.counters().delivered == n
    return messages


@pytest.mark.parametrize("form", ["binary", "json"])
def test_values_of_every_type_come_back_from_an_engine_as_they_were(endpoint, engine, form):
    to, names = engine
    counters = write(endpoint, to, VALUES, format=form)
    assert counters.delivered == len(VALUES) and counters.bytes > 0 and adds_up(counters)
    subscriber = endpoint.make_subscriber("again/")
    with bridge.Source(endpoint, to, from_=names, publish="again/{origin-topic}", until_end=True, returned=True) as source:
        messages = read(source, subscriber, len(VALUES))
    assert [message.topic for message in messages] == ["again/things/one"] * len(VALUES)
    assert [message.data for message in messages] == [libpubsub.decode(libpubsub.encode(value)) for value in VALUES]
    assert adds_up(source.counters()) and source.counters().lag == 0


def test_lines_of_suricata_are_read_from_redis_as_tables(endpoint, redis, redis_port):
    eve = {"timestamp": "2026-11-28T01:00:00.000000+0000", "event_type": "alert", "src_port": 51234, "flow": {"pkts": 3},
           "ratio": 0.5, "tags": ["a", None, True]}
    assert tell_redis(redis_port, "XADD", "suricata", "*", "eve", json.dumps(eve)).startswith("$")
    subscriber = endpoint.make_subscriber("suricata/events")
    with bridge.Source(endpoint, redis, from_="suricata", group="hunters", publish="{topic}/events") as source:
        data = subscriber.get(DEADLINE).data
        assert data == {**eve, "tags": ("a", None, True)}
        wait_until(lambda: source.counters().delivered == 1)
    assert tell_redis(redis_port, "XPENDING", "suricata", "hunters") == "*4"


@pytest.mark.parametrize("push", ["rpush", "lpush"])
def test_lists_are_written_and_read_and_what_was_taken_is_removed(endpoint, redis, redis_port, push):
    lists = dataclasses.replace(redis, list=push)
    with bridge.Sink(endpoint, lists, topics="numbers", to="l", format="json") as sink:
        for number in range(100):
            endpoint.publish("numbers", number)
        assert sink.drain(DEADLINE) == 0
    assert tell_redis(redis_port, "LLEN", "l") == ":100"
    subscriber = endpoint.make_subscriber("again")
    with bridge.Source(endpoint, lists, from_="l", publish="again", format="json", until_end=True) as source:
        assert [subscriber.get(DEADLINE).data for _ in range(100)] == list(range(100))
        assert source.wait_end(DEADLINE)
    assert tell_redis(redis_port, "EXISTS", "l") == ":0"


def test_what_is_no_json_is_rejected_and_kept_as_a_dead_letter(endpoint, redis, redis_port):
    tell_redis(redis_port, "XADD", "suricata", "*", "eve", "{]")
    subscriber = endpoint.make_subscriber("dead")
    with bridge.Source(endpoint, redis, from_=["suricata"], dead_letters="dead", until_end=True) as source:
        assert subscriber.get(DEADLINE).data == ("bad_payload", "suricata", "", "{]")
        assert source.wait_end(DEADLINE)
        counters = source.counters()
    assert (counters.consumed, counters.delivered, counters.dead_letters) == (1, 0, 1)
    assert {reason: n for reason, n in counters.rejected.items() if n} == {"bad_payload": 1}
    assert adds_up(counters)


def test_a_group_goes_on_where_it_was_and_a_time_says_where_to_start(endpoint, redis):
    before = datetime.now(timezone.utc) - timedelta(hours=1)
    write(endpoint, redis, [1, 2, 3])
    subscriber = endpoint.make_subscriber("again")

    def values(n, **options):
        with bridge.Source(endpoint, redis, from_="zeek.things", publish="again", until_end=True, returned=True,
                           **options) as source:
            return [message.data for message in read(source, subscriber, n)]

    assert values(3, group="g") == [1, 2, 3]
    write(endpoint, redis, [4])
    assert values(1, group="g") == [4]
    assert values(4) == [1, 2, 3, 4]
    assert values(4, start=before) == [1, 2, 3, 4]
    assert values(0, start=before + timedelta(hours=2)) == []
    with pytest.raises(libpubsub.EncodeError, match="naive"):
        values(0, start=datetime(2026, 1, 1))


def test_what_has_come_from_the_same_network_does_not_come_back(endpoint, redis):
    write(endpoint, redis, [1, 2])
    with bridge.Source(endpoint, redis, from_="zeek.things", publish="again", until_end=True) as source:
        assert source.wait_end(DEADLINE)
    counters = source.counters()
    assert (counters.consumed, counters.delivered, counters.rejected["returned"]) == (2, 0, 2)


@pytest.mark.parametrize("where", ["@topic == \"things/1\"", libpubsub.TOPIC == "things/1"])
def test_a_sink_takes_what_fulfils_its_condition(endpoint, redis, where):
    with bridge.Sink(endpoint, redis, topics=["things/"], where=where, format="binary") as sink:
        assert sink.wait_ready(DEADLINE)
        for i in range(3):
            endpoint.publish(f"things/{i}", i)
        assert sink.drain(DEADLINE) == 0
        assert sink.counters().delivered == 1
        assert repr(sink) == "<Sink Redis(max_length=0, field='payload', list=None): 1 consumed, 1 delivered>"
    assert "closed" in repr(sink)


def test_records_of_logs_are_written_as_zeek_writes_them_and_the_rest_is_rejected(endpoint, redis, redis_port):
    with bridge.Sink(endpoint, redis, topics="zeek/", to="zeek.{path}", dead_letters="rejected") as sink:
        libpubsub.zeek.publish_event(endpoint, "zeek/records/dns", "log_fields", "dns", [["ts", "time"], ["query", "string"]])
        libpubsub.zeek.publish_event(endpoint, "zeek/records/dns", "log_dns", [Timestamp(1_700_000_000_000_000_000), "a.example"])
        endpoint.publish("zeek/other", 7)
        assert sink.drain(DEADLINE) == 0
        counters = sink.counters()
    assert (counters.consumed, counters.delivered, counters.dead_letters) == (3, 1, 1)
    assert {reason: n for reason, n in counters.rejected.items() if n} == {"announcement": 1, "not_a_record": 1}
    assert adds_up(counters)
    assert tell_redis(redis_port, "XLEN", "zeek.dns") == ":1" and tell_redis(redis_port, "XLEN", "rejected") == ":1"
    subscriber = endpoint.make_subscriber("again")
    with bridge.Source(endpoint, redis, from_="zeek.dns", format="plain-json", publish="again", returned=True,
                       until_end=True) as source:
        message, = read(source, subscriber, 1)
    assert message.data == {"ts": 1_700_000_000.0, "query": "a.example"}


def test_tasks_of_a_pipeline_are_done_once_the_engine_has_them_and_become_tasks_again(endpoint, redis):
    out = Exchange(endpoint, "jobs")
    with bridge.Sink(endpoint, redis, pipeline="jobs", format="binary") as sink:
        assert sink.wait_ready(DEADLINE)
        for i in range(100):
            assert out.send(i, DEADLINE)
        assert out.drain(DEADLINE) == 0
        assert out.counters()["done"] == 100 and sink.counters().delivered == 100
    queue = TaskQueue(endpoint, "again")
    with bridge.Source(endpoint, redis, from_="jobs", group="g", pipeline="again", returned=True) as source:
        got = set()
        while len(got) < 100:
            task = queue.get(DEADLINE)
            got.add(task.value)
            task.done()
        assert got == set(range(100))
        wait_until(lambda: source.counters().delivered == 100)
        assert adds_up(source.counters())


def test_messages_of_another_endpoint_reach_a_sink_that_is_ready(relaying, redis):
    port = relaying.listen("tcp://127.0.0.1:0")
    with libpubsub.Endpoint() as far:
        far.peer(f"tcp://127.0.0.1:{port}")
        with bridge.Sink(relaying, redis, topics="things/", format="json") as sink:
            assert sink.wait_ready(DEADLINE)
            far.publish("things/far", [1])
            wait_until(lambda: sink.counters().delivered == 1)


def test_a_sink_of_kafka_delivers_to_brokers_and_takes_settings(endpoint):
    kafka = bridge.Kafka(settings={"test.mock.num.brokers": "1", "compression.type": "lz4"})
    with bridge.Sink(endpoint, kafka, topics="", to="all", key="topic", format="json") as sink:
        for value in VALUES:
            endpoint.publish("things", value)
        assert sink.drain(DEADLINE) == 0
        assert sink.counters().delivered == len(VALUES)


@pytest.mark.parametrize("options, message", [
    ({}, "topics, pipeline: one of the two"),
    ({"topics": "a", "pipeline": "b"}, "topics, pipeline: one of the two"),
    ({"pipeline": "b", "where": "@topic == \"a\""}, "where: tasks of a pipeline are not chosen"),
    ({"topics": "a", "to": "{nothing}"}, "to: "),
    ({"topics": "a", "key": "colour"}, "key"),
    ({"topics": "a", "format": "string"}, "plain-json and string are for sources"),
    ({"topics": "a", "format": "arrow"}, "a format is zeek-json, json, .* not arrow"),
    ({"topics": "a", "policy": "wait"}, "a queue policy is block"),
    ({"topics": "a", "capacity": 0}, "at least one message"),
    ({"topics": "a", "close_timeout": -1}, "close_timeout: not negative"),
    ({"topics": "a", "close_timeout": float("nan")}, "not nan"),
])
def test_a_sink_says_what_is_wrong_with_its_options(endpoint, options, message):
    with pytest.raises(InvalidArgument, match=message):
        bridge.Sink(endpoint, bridge.Redis(), **options)


@pytest.mark.parametrize("options, message", [
    ({}, "from: says what to read"),
    ({"from_": [""]}, "from: a name is not empty"),
    ({"from_": "a", "start": "stored"}, "start: of what is stored there is a group"),
    ({"from_": "a", "start": "yesterday"}, "start 'yesterday' is none of"),
    ({"from_": "a", "start": 5}, "start '5' is none of"),
    ({"from_": "a", "rate": -1}, "rate: not negative"),
    ({"from_": "a", "commit_interval": 0.001}, "commit_interval: at least 10 ms"),
    ({"from_": "a", "publish": "{nothing}"}, "publish: "),
    ({"from_": "a", "format": "xml"}, "not xml"),
])
def test_a_source_says_what_is_wrong_with_its_options(endpoint, options, message):
    with pytest.raises(InvalidArgument, match=message):
        bridge.Source(endpoint, bridge.Redis(), **options)


def test_engines_say_what_is_wrong_with_theirs_and_keep_passwords_to_themselves(endpoint):
    for engine in (bridge.Kafka(settings={"no.such.setting": "1"}), bridge.Redis("http://127.0.0.1"),
                   bridge.JetStream("127.0.0.1:x")):
        with pytest.raises(InvalidArgument):
            bridge.Sink(endpoint, engine, topics="a")
    with pytest.raises(InvalidArgument, match="rpush or lpush, not sideways"):
        bridge.Sink(endpoint, bridge.Redis(list="sideways"), topics="a")
    with pytest.raises(TypeError, match="an engine is a Kafka, JetStream or Redis"):
        bridge.Sink(endpoint, "redis://127.0.0.1", topics="a")
    for engine in (bridge.Kafka(settings={"sasl.password": "secret"}), bridge.Redis("redis://:secret@host"),
                   bridge.JetStream("nats://me:secret@host")):
        assert "secret" not in repr(engine)


def test_bridges_of_a_closed_endpoint_come_to_their_end(redis):
    endpoint = libpubsub.Endpoint()
    sink = bridge.Sink(endpoint, redis, topics="a", format="binary")
    source = bridge.Source(endpoint, redis, from_="s", publish="b")
    endpoint.close()
    wait_until(lambda: sink.closed)
    sink.close()
    source.close()
    assert source.closed
    for make in (lambda: bridge.Sink(endpoint, redis, topics="a"), lambda: bridge.Source(endpoint, redis, from_="s")):
        with pytest.raises(Closed):
            make()


def test_closing_ends_calls_that_wait_in_other_threads(endpoint):
    sink = bridge.Sink(endpoint, nobody(), topics="a", format="binary", close_timeout=0.1)
    source = bridge.Source(endpoint, nobody(), from_="s", close_timeout=0.1)
    endpoint.publish("a", 1)
    results, begun = [], threading.Barrier(3)

    def wait(call):
        begun.wait(DEADLINE)
        results.append(call())

    threads = [threading.Thread(target=wait, args=[call]) for call in (sink.drain, source.wait_end)]
    for thread in threads:
        thread.start()
    begun.wait(DEADLINE)
    wait_until(lambda: sink.last_problem and source.last_problem)
    assert not sink.closed and not source.closed
    assert sink.drain(0.01) == 1 and not source.wait_end(0.01)
    sink.close()
    source.close()
    source.close()
    for thread in threads:
        thread.join(DEADLINE)
        assert not thread.is_alive()
    assert sorted(results) == [1, True]
    assert sink.closed and source.closed
    assert sink.failure is None and source.failure is None


@pytest.mark.parametrize("wait", ["sink.drain()", "source.wait_end()", "sink.close()"])
def test_ctrl_c_ends_a_wait(wait):
    assert ctrl_c_ends(f"""
        import os
        import libpubsub
        from libpubsub import bridge
        nobody = bridge.Redis("redis://127.0.0.1:{unused_port()}")
        endpoint = libpubsub.Endpoint()
        sink = bridge.Sink(endpoint, nobody, topics="a", format="binary", close_timeout={60 if "close" in wait else 0})
        source = bridge.Source(endpoint, nobody, from_="s", close_timeout=0)
        endpoint.publish("a", 1)
        try:
            print("waiting", flush=True)
            {wait}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        os._exit(0)  # what was interrupted goes on, for a minute
    """)


def test_an_engine_that_cannot_be_read_is_the_reason_of_the_end(endpoint, redis, redis_port):
    tell_redis(redis_port, "SET", "s", "no stream")
    with bridge.Source(endpoint, redis, from_="s") as source:
        assert source.wait_end(DEADLINE)
        assert isinstance(source.failure, libpubsub.PubsubError) and "WRONGTYPE" in str(source.failure)


def test_a_forked_child_is_told_that_bridges_are_its_parents(endpoint, redis):
    with bridge.Sink(endpoint, redis, topics="things/", format="binary") as sink, bridge.Source(endpoint, redis, from_="s"):
        child = os.fork()
        if child == 0:
            try:
                with sink, pytest.raises(libpubsub.ForkError):
                    sink.counters()
                os._exit(0 if repr(sink) == "<Sink of a parent process>" else 1)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        endpoint.publish("things/one", 1)
        assert sink.drain(DEADLINE) == 0 and sink.counters().delivered == 1


def test_a_table_of_clickhouse_has_the_columns_of_a_log():
    columns = [("ts", "time"), ("id.orig_h", "addr"), ("names", "set[string]")]
    text = bridge.clickhouse_ddl("conn", columns)
    assert text.startswith("CREATE DATABASE IF NOT EXISTS") and text.count(";") == 2
    assert "ORDER BY" in text and "Array(String)" in text and "Kafka" not in text
    text = bridge.clickhouse_ddl("conn", iter(columns), database="d", table="t", brokers="k:9092", topic="zeek.conn", group="g")
    assert text.count(";") == 4
    for part in ("'k:9092'", "'zeek.conn'", "'g'", "ENGINE = Kafka", "MATERIALIZED VIEW"):
        assert part in text
    assert bridge.clickhouse_type("set[string]") == "Array(String)"
    with pytest.raises(InvalidArgument, match="no columns"):
        bridge.clickhouse_ddl("conn", [])
    with pytest.raises(NotSupported, match="column a"):
        bridge.clickhouse_ddl("conn", [("a", "record")])


def test_the_examples_of_the_module_do_what_they_show(redis_port):
    program = doctest.DocTestParser().get_doctest(bridge.__doc__.replace("6379", str(redis_port)).replace("# doctest: +SKIP", ""),
                                                  {}, "bridge", None, 0)
    assert doctest.DocTestRunner().run(program).failed == 0
    assert doctest.testmod(bridge).failed == 0


def test_a_package_without_bridges_says_so_in_one_sentence():
    done = subprocess.run([sys.executable, "-c", "import libpubsub\ndel libpubsub._core.BridgeEngine\nimport libpubsub.bridge"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == ("ImportError: this libpubsub was built without the libraries of engines, which "
                                            "bridges need (Debian: librdkafka-dev libnats-dev libhiredis-dev)")
