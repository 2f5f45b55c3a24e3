# SPDX-License-Identifier: BSD-3-Clause
"""`libpubsub.zeek.connect`: a program as a member of a Zeek cluster; the cluster is made with pyzmq."""

import asyncio
import contextlib
import ipaddress
import json
import re
import subprocess
import sys
import threading
from datetime import timedelta

import pytest
from cluster_member import Member
from conftest import DEADLINE, ROOT
from zeek_cluster import Node, Proxy, event_payload, log_batch, log_sender
from zeek_parties import free_port

import libpubsub
from libpubsub import Count, EnumValue, Port, zeek
from libpubsub.zeek import Declarations, Event

WORKERS, MANAGER = "zeek/cluster/worker", "zeek/cluster/manager"
WORKERS_INSIDE, MANAGER_INSIDE = WORKERS.replace("/", "."), MANAGER.replace("/", ".")


@pytest.fixture
def proxy():
    with Proxy() as result:
        yield result


def test_events_go_both_ways(proxy):
    with Node(proxy, WORKERS_INSIDE) as worker, zeek.connect(proxy.uri()) as cluster:
        assert cluster.problem == ""
        with cluster.events(MANAGER) as events:
            worker.wait_for(lambda: MANAGER_INSIDE in worker.subscriptions)
            worker.publish(MANAGER_INSIDE, "Test::ping", 1, "text")
            event = events.get(DEADLINE)
            assert (event.topic, event) == (MANAGER, Event("Test::ping", Count(1), "text"))
            assert events.get(0.05) is None
        assert cluster.wait_for(WORKERS, DEADLINE)
        cluster.declare("global Test::pong: event(n: count, s: string);")
        cluster.publish(WORKERS, "Test::pong", 3, "text")
        assert worker.receive()[3] == event_payload("Test::pong", 3, "text")
        assert cluster.counters["events_received"] == 1
        assert cluster.counters["events_sent"] == 1
        assert [each.state for each in cluster.endpoint.peers()] == ["peered"]


def test_a_task_waits_for_events_without_holding_up_others(proxy):
    async def first_of(events, worker):
        async def publish():
            worker.publish(MANAGER_INSIDE, "e", 1)
            worker.publish(MANAGER_INSIDE, "e", 2)

        first, _ = await asyncio.gather(events.get_async(DEADLINE), publish())  # in this order: one waits before anything comes
        found = [first]
        async for event in events:
            found.append(event)
            break
        return [event.args[0] for event in found]

    with Node(proxy) as worker, zeek.connect(proxy.uri()) as cluster, cluster.events(MANAGER) as events:
        worker.wait_for(lambda: MANAGER_INSIDE in worker.subscriptions)
        assert asyncio.run(first_of(events, worker)) == [1, 2]


def test_what_was_published_before_the_end_arrives(proxy):
    n = 3000
    with Node(proxy, WORKERS_INSIDE) as worker:
        with zeek.connect(proxy.uri()) as cluster:
            assert cluster.wait_for(WORKERS, DEADLINE)
            for i in range(n):
                cluster.publish(WORKERS, "e", Count(i))
        for i in range(n):
            assert worker.receive()[3] == event_payload("e", i)


def test_a_cluster_that_is_not_there_is_said(proxy):
    uri = proxy.uri()
    proxy.close()
    with pytest.raises(libpubsub.PeerUnavailable, match="zeek\\+zmq://.*the cluster has not answered"):
        zeek.connect(uri, timeout=0.2)
    with pytest.raises(libpubsub.InvalidArgument, match="means nothing"):
        zeek.connect("zeek+zmq://a?nonsense=1")
    with libpubsub.Endpoint() as endpoint:
        with pytest.raises(libpubsub.InvalidArgument, match="retry"):
            endpoint.peer(uri, retry=None)
        endpoint.peer_async(uri)
        away, = endpoint.peers()
        assert (away.state, away.network) == ("connecting", (uri, 0))
        endpoint.unpeer(uri)
        assert endpoint.peers() == [] == endpoint.gateways()
        with pytest.raises(libpubsub.NotAPeer):
            endpoint.unpeer(uri)


def test_a_lost_cluster_is_told_and_found_again(proxy):
    ports = {"xsub_port": proxy.xsub_port, "xpub_port": proxy.xpub_port}
    with libpubsub.Endpoint() as endpoint:
        status = endpoint.make_status_subscriber()
        cluster = zeek.connect(proxy.uri(), endpoint=endpoint)
        with cluster.events(MANAGER) as events:
            proxy.close()
            told = next(each for each in status if each.code == "peer_unavailable")
            assert "was lost" in told.message
            with Proxy(**ports) as second, Node(second) as worker:
                worker.wait_for(lambda: MANAGER_INSIDE in worker.subscriptions)
                worker.publish(MANAGER_INSIDE, "e")
                assert events.get(DEADLINE) == Event("e")
        cluster.close()
        assert endpoint.gateways() == []
        assert endpoint.make_publisher("t").publish(1)  # its endpoint goes on


def test_two_addresses_are_two_clusters(proxy):
    with Proxy() as other, Node(proxy) as here, Node(other, WORKERS_INSIDE) as there, libpubsub.Endpoint(forwarding=True) as endpoint:
        endpoint.peer(proxy.uri())
        endpoint.peer(other.uri())
        here.wait_for(lambda: WORKERS_INSIDE in here.subscriptions)
        here.publish(WORKERS_INSIDE, "e", 1)
        assert there.receive()[3] == event_payload("e", 1)


# -- declarations ------------------------------------------------------------------------------------------------------

SCRIPT = """
@load base/frameworks/cluster   # passed over, like all that is no declaration
module Site;
export {
    redef enum Notice::Type += { Weird };
    type Info: record {
        who: addr &log;
        ports: set[port] &optional;
        note: string &default="none, really";
        level: Level &optional;
    };
    type Level: enum { LOW, HIGH };
    ## An alarm.
    global alarm: event(n: count, why: Info, factors: vector of double);
    global block: event(net: subnet, how_long: interval, flags: table[string] of bool, pairs: set[count, string]);
    const threshold = 10 &redef;
}
event Site::seen(c: count, i: int, t: time) &priority=5
    {
    if ( c > threshold )
        Cluster::publish("x", Site::alarm, c, [$who=1.2.3.4], vector(1.0));
    }
event zeek_init() { event Site::seen(1, 2, network_time()); }
"""


@pytest.fixture
def declared():
    result = Declarations()
    result.add(SCRIPT)
    return result


def typed(args):
    return [(type(each), each) for each in args]


def test_arguments_become_what_is_declared(declared):
    args = declared.convert("Site::alarm", (1, {"who": "192.0.2.1", "ports": ["80/tcp"], "level": "Site::HIGH"}, [1, 2.5]))
    count, info, factors = args
    assert typed([count, *factors]) == [(Count, 1), (float, 1.0), (float, 2.5)]
    assert info == (ipaddress.ip_address("192.0.2.1"), frozenset({Port(80, "tcp")}), None, "Site::HIGH")
    assert isinstance(info[3], EnumValue)
    net, how_long, flags, pairs = declared.convert("Site::block", ("10.0.0.0/8", 1.5, {"x": True}, {(1, "a")}))
    assert net == ipaddress.ip_network("10.0.0.0/8")
    assert how_long == timedelta(seconds=1.5)
    assert flags == {"x": True}
    assert typed(next(iter(pairs))) == [(Count, 1), (str, "a")]
    seen = declared.convert("Site::seen", (Count(1), Count(2), 1.5))
    assert [type(each) for each in seen[:2]] == [Count, int]
    assert seen[2].ns == 1_500_000_000


def test_what_is_not_declared_stays_as_it_is(declared):
    args = (1, ["x"])
    assert declared.convert("Other::event", args) is args


@pytest.mark.parametrize("args, problem", [
    ((1,), "Site::alarm has 3 parameters, not 1"),
    ((-1, {"who": "::1"}, []), "Site::alarm: n: a Count is 0"),
    (("1", {"who": "::1"}, []), "Site::alarm: n: '1' is no count"),
    ((True, {"who": "::1"}, []), "Site::alarm: n: True is no count"),
    ((1, {}, []), "Site::alarm: why: the field 'who' is missing"),
    ((1, {"who": "::1", "whom": 1}, []), "Site::alarm: why: no field 'whom'"),
    ((1, {"who": "nobody"}, []), "Site::alarm: why: .*nobody"),
    ((1, {"who": "::1"}, "text"), "Site::alarm: factors: 'text' is no vector"),
])
def test_what_does_not_fit_is_said(declared, args, problem):
    with pytest.raises(libpubsub.InvalidArgument, match=problem):
        declared.convert("Site::alarm", args)


@pytest.mark.parametrize("script, problem", [
    ("global e: event(n count);", "line 1: 'count' where ':' should be"),
    ("\n\nglobal e: event(n: count", "line 3: the text ends within a declaration|line 3: the end where"),
    ("type T: record { a: set[; };", "line 1: ';' where a type should be"),
])
def test_a_declaration_that_is_not_understood_is_said_with_its_line(script, problem):
    with pytest.raises(libpubsub.InvalidArgument, match=problem):
        Declarations().add(script)


def test_events_that_do_not_fit_are_not_published():
    with libpubsub.Endpoint() as endpoint, endpoint.make_subscriber("t") as subscriber:
        cluster = zeek.Cluster(endpoint, "tcp://nowhere:1", False)
        cluster.declare("global e: event(n: count);")
        with pytest.raises(libpubsub.InvalidArgument):
            cluster.publish("t", "e", "x")
        with pytest.raises(libpubsub.InvalidArgument, match="has its arguments"):
            cluster.publish("t", Event("e", 1), 1)
        cluster.publish("t", Event("e", 1))
        message = subscriber.get(DEADLINE)
        assert typed(Event.from_data(message.data).args) == [(Count, 1)]
        with contextlib.suppress(libpubsub.NotAPeer):
            cluster.close()


# -- the examples of docs/zeek.md --------------------------------------------------------------------------------------

EXAMPLES = ROOT / "docs/examples/zeek"
PAGE = (ROOT / "docs/zeek.md").read_text(encoding="utf-8")


def check_the_page_shows(examples, page):
    shown = re.findall(r"\[`([-\w.]+)`\]\(examples/" + examples.name + r"/\1\)[^\n]*\n\n```\w+\n(.*?)^```$", page, re.M | re.S)
    assert dict(shown) == {path.name: path.read_text(encoding="utf-8") for path in examples.iterdir()}
    assert len(re.findall(r"^```(?!console|sh|text)\w+$", page, re.M)) == len(shown)


def test_the_page_shows_its_programs_as_they_are():
    check_the_page_shows(EXAMPLES, PAGE)


def test_the_page_of_the_plugin_shows_its_programs_as_they_are():
    check_the_page_shows(ROOT / "docs/examples/zeek_plugin", (ROOT / "docs/zeek-plugin.md").read_text(encoding="utf-8"))


def example(name, *arguments, folder=EXAMPLES):
    return subprocess.Popen([sys.executable, str(folder / name), *arguments], stdout=subprocess.PIPE, text=True)


def test_example_to_all_workers(proxy):
    with Node(proxy, WORKERS_INSIDE) as worker:
        running = example("to_all_workers.py", proxy.uri(), "192.0.2.1")
        topic, _, _, payload = worker.receive()
        assert running.wait(DEADLINE) == 0
        assert topic.decode() == WORKERS_INSIDE
        event = Event.from_data(libpubsub.decode(payload))
        assert event == Event("Site::watch", ipaddress.ip_address("192.0.2.1"), timedelta(hours=1))


def test_example_follow_notices(proxy):
    with Node(proxy) as worker:
        running = example("follow_notices.py", proxy.uri())
        worker.wait_for(lambda: "site/notices" in worker.subscriptions)
        worker.publish("site/notices", "Site::noticed", "worker-1", "Weird::Activity", "odd")
        assert running.stdout.readline() == "worker-1: Weird::Activity: odd\n"
        running.kill()
        running.communicate()


def test_example_logs_to_json(proxy):
    port = free_port()
    running = example("logs_to_json.py", proxy.uri(f"&logs={port}"), "test")
    came = threading.Event()
    with log_sender(port) as send:
        def send_until_it_came():  # before the example wants records there are none for it
            while not came.wait(0.1):
                send(log_batch("test", [(1.5, 3)]))

        sending = threading.Thread(target=send_until_it_came)
        sending.start()
        try:
            record = json.loads(running.stdout.readline())
        finally:
            came.set()
            sending.join()
    assert record["_path"] == "test"
    assert 1.5 in record.values()
    running.kill()
    running.communicate()


def test_the_node_of_the_page_joins_an_old_cluster_and_a_new_one(proxy, pubsub_command):
    assert ("\n$ pubsub node --listen 127.0.0.1:9999 --peer 'zeek+zmq://new-manager.example' --no-broker-transit \\\n"
            "    --peer tls://old-manager.example:9999 " in PAGE)
    n = 500
    with Member(pubsub_command, options=("--wire-version", "1")) as old, Node(proxy, WORKERS_INSIDE) as new, \
            Member(pubsub_command, old.address, proxy.uri(), options=("--no-broker-transit",)) as bridge:
        for _ in range(2):
            bridge.wait_for("peer_added")
        with zeek.connect(old.address) as cluster, cluster.events(MANAGER) as events:
            new.wait_for(lambda: MANAGER_INSIDE in new.subscriptions)
            for number in range(n):
                new.publish(MANAGER_INSIDE, "e", number)
            assert [events.get(DEADLINE) for _ in range(n)] == [Event("e", Count(number)) for number in range(n)]
            assert cluster.wait_for(WORKERS, DEADLINE)
            for number in range(n):
                cluster.publish(WORKERS, "e", Count(number))
            assert [new.receive()[3] for _ in range(n)] == [event_payload("e", number) for number in range(n)]
            new.publish(MANAGER_INSIDE, "last")
            cluster.publish(WORKERS, "last")
            assert events.get(DEADLINE) == Event("last")  # and none came twice, nor came back
            assert new.receive()[3] == event_payload("last")


def test_example_follow_logs():
    with libpubsub.Endpoint() as node:
        port = node.listen("tcp://127.0.0.1:0")
        running = example("follow_logs.py", f"tcp://127.0.0.1:{port}", "conn", folder=ROOT / "docs/examples/zeek_plugin")
        assert node.wait_for_subscribers("zeek/logs/conn", 1, timeout=DEADLINE)
        node.publish("zeek/logs/conn", Event("log_fields", "conn", [["uid", "string"], ["id.resp_p", "port"]]))
        node.publish("zeek/logs/conn", Event("log_conn", ["C1", libpubsub.Port(443, "tcp")]))
        line = running.stdout.readline()
        assert line.startswith("conn {'uid': 'C1', 'id.resp_p': ") and "443" in line
        running.kill()
        running.communicate()
