"""`pubsub zeek-proxy` in the middle of Zeek clusters that are made with pyzmq; test_zeek_cluster.py has it among members, too."""
# SPDX-License-Identifier: BSD-3-Clause

import contextlib
import itertools
import re
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time

import pytest
import zmq
from conftest import DEADLINE, wait_until
from zeek_cluster import Keys, Node, ProxyPorts, event_payload
from zeek_parties import OwnProxy, documented_metrics, key_folder, metrics_at

TOPIC = "zeek.cluster.worker"

READER = f"""
import sys, zmq
socket = zmq.Context().socket(zmq.XSUB)
socket.connect("tcp://127.0.0.1:" + sys.argv[1])
for topic in ("{TOPIC}", "zeek.cluster.node.stuck."):
    socket.send(b"\\x01" + topic.encode())
while True:
    if socket.recv_multipart()[3] == b"last":
        print("last", flush=True)
"""


@pytest.fixture
def start_proxy(pubsub_command):
    with contextlib.ExitStack() as stack:
        def start(*options, **ports):
            return stack.enter_context(OwnProxy(pubsub_command, options, **ports))
        yield start


class ProxyOfLibzmq(ProxyPorts):
    """As Zeek's manager runs it: the proxy function of libzmq, with the options that Zeek sets."""

    def __init__(self):
        self._context = zmq.Context()
        self._xpub, self._xsub = self._context.socket(zmq.XPUB), self._context.socket(zmq.XSUB)
        self._xpub.linger = self._xsub.linger = 0  # once the context is terminated nothing can be set any more
        self._xpub.setsockopt(zmq.XPUB_VERBOSER, 1)
        self._xpub.setsockopt(zmq.XPUB_NODROP, 1)
        self.xsub_port, self.xpub_port = (each.bind_to_random_port("tcp://127.0.0.1") for each in (self._xsub, self._xpub))
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        with contextlib.suppress(zmq.ContextTerminated):
            zmq.proxy(self._xsub, self._xpub)
        for each in (self._xsub, self._xpub):
            each.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._context.term()
        self._thread.join()


@contextlib.contextmanager
def process_that_reads(proxy):
    reader = subprocess.Popen([sys.executable, "-c", READER, str(proxy.xpub_port)], stdout=subprocess.PIPE, text=True)
    try:
        yield reader
    finally:
        reader.kill()
        reader.wait()
        reader.stdout.close()


@contextlib.contextmanager
def sending(node, message, n):
    """Sends a message so many times, but not beyond the end of the block."""
    ended = threading.Event()

    def send_all():
        for _ in range(n):
            if ended.is_set():
                return
            node.send(*message)

    thread = threading.Thread(target=send_all)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class Flood:
    """Publishes as fast as it can until it is stopped."""

    def __init__(self, proxy, payload):
        self._node = Node(proxy)
        self._message = (TOPIC.encode(), b"s", b"broker-bin-v1", payload)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        while not self._stopped.is_set():
            self._node.note_subscriptions()
            self._node.try_send(self._message, 0.1)

    def __enter__(self):
        self._node.wait_for(lambda: self._node.subscriptions.count(TOPIC) == 2)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stopped.set()
        self._thread.join()
        self._node.close()


PAYLOAD = bytes(8_000)
HELD = 5_000
"""More of these than the queue, the kernel and the reader hold of them."""


def rate_of_next(reader, n):
    """Messages a second."""
    begin = time.monotonic()
    for _ in range(n):
        assert reader.receive() is not None
    return n / (time.monotonic() - begin)


def is_held_up_by_a_reader_that_stops(proxy):
    with Node(proxy, TOPIC) as reader, process_that_reads(proxy) as other, Flood(proxy, PAYLOAD):
        rate_of_next(reader, 2 * HELD)
        other.send_signal(signal.SIGSTOP)
        return any(reader.receive(2) is None for _ in range(2 * HELD))


def rates_while_a_reader_stops(proxy):
    """Again and again: what a reader gets a second while the other one reads, and then while that is stopped."""
    n = 8_000
    with Node(proxy, TOPIC) as reader, process_that_reads(proxy) as other, Flood(proxy, PAYLOAD):
        while True:
            before = rate_of_next(reader, n)
            other.send_signal(signal.SIGSTOP)
            rate_of_next(reader, HELD)  # meanwhile the proxy waits for the other one, and gives up
            yield before, rate_of_next(reader, n)
            other.send_signal(signal.SIGCONT)
            rate_of_next(reader, HELD)


def test_a_reader_that_stops_does_not_stop_the_others_as_it_does_with_the_proxy_of_libzmq(start_proxy, capsys):
    with ProxyOfLibzmq() as theirs:
        assert is_held_up_by_a_reader_that_stops(theirs)
    ours = start_proxy()
    ratios = []

    def kept():
        """The part of its rate that a reader keeps: the median of pairs, for on a busy machine each rate is a matter of luck."""
        return statistics.median(ratios)

    with contextlib.closing(rates_while_a_reader_stops(ours)) as pairs:
        for before, after in itertools.islice(pairs, 41):
            ratios.append(after / before)
            if len(ratios) >= 9 and kept() >= 0.95:
                break
    with capsys.disabled():
        print(f"\nof its rate a reader keeps {kept():.2f} ({len(ratios)} pairs, {min(ratios):.2f} to {max(ratios):.2f})")
    assert kept() >= 0.95
    assert "(stuck) does not read" in ours.wait_for("log", "does not read")["message"]
    dropped = re.search(r"dropped (\d+) messages for slow readers", ours.end())
    assert int(dropped[1]) > 0


def test_a_reader_that_reads_again_gets_messages_again(start_proxy):
    proxy = start_proxy("--queue", "10")
    n = 20_000
    with Node(proxy) as publisher, Node(proxy, TOPIC) as reader, process_that_reads(proxy) as other:
        publisher.wait_for(lambda: publisher.subscriptions.count(TOPIC) == 2)
        other.send_signal(signal.SIGSTOP)
        payload = event_payload("e", "x" * 2_000)
        with sending(publisher, (TOPIC.encode(), b"s", b"broker-bin-v1", payload), n):
            for _ in range(n):  # nothing is lost for who reads
                assert reader.receive()[3] == payload
        assert "does not read" in proxy.wait_for("log")["message"]
        other.send_signal(signal.SIGCONT)
        again = proxy.wait_for("log", "reads again; messages that it lost: ")["message"]
        assert 0 < int(again.rsplit(" ", 1)[1]) < n
        publisher.send(TOPIC.encode(), b"s", b"broker-bin-v1", b"last")
        assert other.stdout.readline() == "last\n"


def test_a_million_events_are_counted_and_none_is_lost(start_proxy):
    proxy = start_proxy("--patience", "10000")  # the machine may be busy with something else
    n = 1_000_000
    payload = event_payload("e", 1)
    message = (TOPIC.encode(), b"s", b"broker-bin-v1", payload)
    with Node(proxy) as publisher, Node(proxy, TOPIC) as reader:
        publisher.wait_for(lambda: TOPIC in publisher.subscriptions)
        with sending(publisher, message, n):
            for _ in range(n):
                assert reader.receive() is not None
    assert proxy.end().startswith(f"passed on {n} messages ({n * sum(map(len, message))} bytes)")


def test_it_passes_on_what_is_no_event_and_survives_what_is_no_subscription(start_proxy):
    proxy = start_proxy()
    with Node(proxy, "x") as node, zmq.Context() as context:
        bad = context.socket(zmq.XSUB)
        bad.linger = 0
        bad.connect(f"tcp://127.0.0.1:{proxy.xpub_port}")
        for each in ((b"neither",), (b"\x01of two", b"frames"), (b"",), (b"\x01good",)):
            bad.send_multipart(each)
        node.wait_for(lambda: "good" in node.subscriptions)
        for each in ((b"x",), (b"x", b""), (b"x",) * 100, (b"x" + bytes(1_000_000),)):
            node.send(*each)
            assert node.receive() == list(each)
        bad.close()
    assert "subscriptions that are none ignored" in proxy.wait_for("dropped")["message"]
    assert "passed on 4 messages" in proxy.end()


def test_nodes_find_a_proxy_again_that_was_killed(start_proxy):
    proxy = start_proxy()
    ports = {"xsub_port": proxy.xsub_port, "xpub_port": proxy.xpub_port}
    with Node(proxy) as publisher, Node(proxy, TOPIC) as reader:
        publisher.wait_for(lambda: TOPIC in publisher.subscriptions)
        proxy.process.kill()
        proxy.process.wait()
        start_proxy(**ports)

        def gets_through():
            publisher.publish(TOPIC, "e", 1)
            return reader.receive(0.1) is not None

        wait_until(gets_through)


def is_ready(proxy, keys):
    """Whether a node with these keys, or none, gets through to the proxy soon."""
    with zmq.Context() as context:
        node = Node.__new__(Node)
        node._context = context
        xpub, xsub = node._connected(zmq.XPUB, proxy.xsub_port, keys), node._connected(zmq.XSUB, proxy.xpub_port, keys)
        xpub.linger = xsub.linger = 0
        xsub.send(b"\x01own")
        ready = bool(xpub.poll(1_000))
        xpub.close()
        xsub.close()
        return ready


def test_who_has_no_key_is_refused_and_a_key_of_its_own_admits(start_proxy, pubsub_command, tmp_path):
    keys, own, other_server = Keys(), Keys(), Keys()
    own.server_public = keys.server_public
    listed = tmp_path / "clients"
    listed.write_text("# the sensor\n" + own.client_public.decode() + "\n", encoding="utf-8")
    proxy = start_proxy("--curve", str(key_folder(tmp_path / "keys", keys)), "--clients", str(listed))
    unknown = Keys()
    unknown.server_public = keys.server_public
    for refused in (None, unknown, other_server):
        assert not is_ready(proxy, refused)
        assert "connections refused" in proxy.wait_for("dropped")["message"]
    for admitted in (keys, own):
        with Node(proxy, "x", keys=admitted) as node:
            node.publish("x", "e", 1)
            assert node.receive()[3] == event_payload("e", 1)


def test_new_keys_work_and_are_not_replaced(start_proxy, pubsub_command, tmp_path):
    folder = tmp_path / "curve"
    make = [pubsub_command, "zeek-proxy", "--make-keys", str(folder)]
    assert subprocess.run(make, timeout=DEADLINE, check=False, capture_output=True).returncode == 0
    assert {each.stat().st_mode & 0o777 for each in folder.iterdir()} == {0o600}
    again = subprocess.run(make, timeout=DEADLINE, check=False, capture_output=True, text=True)
    assert again.returncode != 0
    assert "is there already" in again.stderr
    keys = Keys.__new__(Keys)
    for name in ("server_public", "client_public", "client_secret"):
        setattr(keys, name, (folder / f"{name}key").read_bytes().strip())
    with Node(start_proxy("--curve", str(folder)), "x", keys=keys) as node:
        node.publish("x", "e", 1)
        assert node.receive()[3] == event_payload("e", 1)


def test_metrics_count_what_passes(start_proxy):
    proxy = start_proxy("--metrics", "127.0.0.1:0")
    page = proxy.wait_for("metrics")["address"]

    def metrics():
        return metrics_at(page)

    with Node(proxy, "x", "y") as node:
        node.publish("x", "e", 1)
        node.receive()
        wait_until(lambda: metrics()["pubsub_cluster_proxy_messages_total"] == "1")
        found = metrics()
        assert found["pubsub_cluster_proxy_readers"] == found["pubsub_cluster_proxy_publishers"] == "1"
        assert found["pubsub_cluster_proxy_subscriptions"] == "2"
        assert found.keys() == documented_metrics("pubsub_cluster_proxy_")
    wait_until(lambda: metrics()["pubsub_cluster_proxy_subscriptions"] == "0")


def test_a_service_manager_is_told_when_it_is_ready_and_when_it_ends(pubsub_command, tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.settimeout(DEADLINE)
        manager.bind(str(tmp_path / "notify"))
        proxy = subprocess.Popen([pubsub_command, "zeek-proxy", "--listen-xsub", "127.0.0.1:0", "--listen-xpub", "127.0.0.1:0"],
                                 env={"NOTIFY_SOCKET": str(tmp_path / "notify")}, stderr=subprocess.DEVNULL)
        try:
            assert manager.recv(100) == b"READY=1"
            proxy.terminate()
            while manager.recv(100) != b"STOPPING=1":
                pass
            assert proxy.wait(DEADLINE) == 0
        finally:
            proxy.kill()
            proxy.wait()


def test_a_port_that_is_taken_and_keys_that_are_none_are_refused(start_proxy, pubsub_command, tmp_path):
    proxy = start_proxy()
    for options, status, why in ((["--listen-xpub", f"127.0.0.1:{proxy.xpub_port}", "--listen-xsub", "127.0.0.1:0"], 2, "in use"),
                                 (["--curve", str(tmp_path)], 1, "server_secretkey cannot be read"),
                                 (["--listen-xsub", "nonsense"], 1, "nonsense"),
                                 (["--clients", "/dev/null"], 1, "--curve")):
        done = subprocess.run([pubsub_command, "zeek-proxy", *options], capture_output=True, text=True, timeout=DEADLINE, check=False)
        assert why in done.stderr
        assert done.returncode == status
    assert proxy.end().startswith("passed on 0 messages")
