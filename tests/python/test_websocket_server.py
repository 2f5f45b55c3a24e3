"""`pubsub node --websocket`: Zeek's WebSocket API, with the library `websockets` as the client."""
# SPDX-License-Identifier: BSD-3-Clause

import contextlib
import hashlib
import json
import queue
import re
import signal
import ssl
import subprocess
import threading

import pytest
from certificates import Authority
from conftest import DEADLINE, ROOT
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

import libpubsub
from libpubsub.zeek import Event, publish_event

PATH = "/v1/messages/json"
RECORD = "x" * 200


class Node:
    """A running `pubsub node`: where it listens, and the events of its log."""

    def __init__(self, command, *options, websocket="ws://127.0.0.1:0"):
        self._process = subprocess.Popen(
            [command, "node", "--listen", "127.0.0.1:0", "--websocket", websocket, "--json", *options],
            stdout=subprocess.PIPE, text=True)
        self._events = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self.address = self.wait_for("listening")["address"]
        self.uri = self.wait_for("listening")["address"]

    def _read(self):
        for line in self._process.stdout:
            self._events.put(json.loads(line))

    def wait_for(self, event):
        while True:
            found = self._events.get(timeout=DEADLINE)
            if found["event"] == event:
                return found

    def reload(self):
        self._process.send_signal(signal.SIGHUP)
        self.wait_for("reloaded")

    def end(self):
        """What it says about its WebSockets."""
        self._process.terminate()
        assert self._process.wait(DEADLINE) == 0
        return self.wait_for("websocket")["message"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        self._reader.join()


@pytest.fixture
def start(pubsub_command):
    with contextlib.ExitStack() as stack:
        yield lambda *options, **more: stack.enter_context(Node(pubsub_command, *options, **more))


@pytest.fixture
def join(start):
    """Connects a client, and subscribes it."""
    with contextlib.ExitStack() as stack:
        def connected(node, topics, **more):
            client = stack.enter_context(connect(node.uri, max_size=None, close_timeout=1, **more))
            client.send(json.dumps(topics))
            assert json.loads(client.recv(DEADLINE))["type"] == "ack"
            return client
        yield connected


def value(kind, content):
    return {"@data-type": kind, "data": content}


def event(topic, name, *args):
    return json.dumps({"type": "data-message", "topic": topic, "@data-type": "vector", "data": [
        value("count", 1), value("count", 1),
        value("vector", [value("string", name), value("vector", list(args))])]})


def name_of(text):
    message = json.loads(text)
    assert message["type"] == "data-message", message
    return message["data"][2]["data"][0]["data"]


def count_in(text):
    return json.loads(text)["data"][2]["data"][1]["data"][0]["data"]


def bearer(token):
    return {"additional_headers": {"Authorization": f"Bearer {token}"}}


def digest(token):
    return "sha256:" + hashlib.sha256(token.encode()).hexdigest()


def peered(endpoint, node):
    endpoint.peer(node.address)
    return endpoint


def conversations():
    """Those with a real Zeek that got through the handshake."""
    sessions = json.loads((ROOT / "tests/data/golden/zeek_websocket_sessions.json").read_text(encoding="utf-8"))
    return [(backend, case) for backend, cases in sessions.items() for case in cases if case.get("frames")]


ZEEKS_ERRORS = ("nosuch", '"string", "data": "ping"')  # Zeek knows the declaration of each event, and this server none


def is_refused_by_zeek_only(case, sent, answer):
    """An event that Zeek does not know, or not with these arguments; and a carriage return between values."""
    return (case["case"] == "events that are refused" and "failed to create" in answer
            and any(each in sent for each in ZEEKS_ERRORS)) or "\r" in sent


@pytest.mark.parametrize(("backend", "case"), conversations(), ids=lambda x: x["case"] if isinstance(x, dict) else x)
def test_a_conversation_with_a_real_zeek_goes_the_same_way_here(backend, case, start, join):
    node = start()
    observer = join(node, [""])
    uri = case["url"].replace("ws://127.0.0.1:PORT", node.uri.removesuffix(PATH))
    with connect(uri, additional_headers=case["headers"], max_size=None) as client:
        frames = [(side, bytes.fromhex(text[7:]) if text.startswith("binary:") else text)
                  for side, text, *_ in case["frames"]]
        for number, (side, text) in enumerate(frames):
            answers = [answer for other, answer in frames[number + 1:number + 2] if other == "server"]
            if side == "server":
                continue
            try:
                client.send(text)
            except ConnectionClosed as closed:  # after subscriptions that are none; Zeek leaves such a client alone
                assert closed.rcvd.code == 1008
                break
            answer = answers[0] if answers else ""
            if '"ack"' in answer:
                assert json.loads(client.recv(DEADLINE)).keys() == {"type", "endpoint", "version"}
            elif '"error"' in answer and not is_refused_by_zeek_only(case, str(text), answer):
                assert json.loads(client.recv(DEADLINE)) == json.loads(answer)
            elif number == 0 or "<$>" in str(text):
                continue  # nothing is answered, and nothing published
            else:  # what Zeek has answered here, or done, begins with the event: others get it
                sent = json.loads(text.replace("0x1", "1").replace("\r", "")) if isinstance(text, str) else json.loads(text)
                published = json.loads(observer.recv(DEADLINE))
                assert published["topic"] == sent["topic"]
                assert published["data"][2]["data"][0] == sent["data"][2]["data"][0]


def test_events_go_between_clients_and_the_network(start, join, endpoint):
    node = start()
    subscriber = peered(endpoint, node).make_subscriber(["in/"])
    assert subscriber.wait_ready(DEADLINE)
    one, other = join(node, ["out/", "in/"]), join(node, ["in/"])
    one.send(event("in/x", "asked", value("count", 42)))
    message = subscriber.get(DEADLINE)
    assert (message.topic, Event.from_data(message.data)) == ("in/x", Event("asked", libpubsub.Count(42)))
    assert name_of(other.recv(DEADLINE)) == "asked"
    publish_event(endpoint, "out/x", "answered", "\u00e4 \x01 \n")
    answer = one.recv(DEADLINE)  # none of its own came before
    assert name_of(answer) == "answered"
    assert json.loads(answer)["data"][2]["data"][1]["data"] == [value("string", "\u00e4 \x01 \n")]


def test_rights_are_those_of_the_token(start, join, endpoint, tmp_path):
    rules = tmp_path / "access.toml"
    rule = """[[rule]]
name = "{0}"
tokens = ["{1}"]
publish = ["{0}/"]
subscribe = ["out/"]
"""
    local = '[[rule]]\nname = "local"\nanonymous = true\npublish = ["out/"]\nrole = "client"\n'
    rules.write_text(rule.format("sensor", digest("s3cret")) + rule.format("desk", digest("other")) + local)
    node = start("--access", str(rules))
    subscriber = peered(endpoint, node).make_subscriber(["sensor/", "desk/"])
    assert subscriber.wait_ready(DEADLINE)
    sensor, desk = join(node, [""], **bearer("s3cret")), join(node, [""], **bearer("other"))
    guest = join(node, [])
    sensor.send(event("desk/x", "not_allowed"))
    assert json.loads(sensor.recv(DEADLINE))["code"] == "denied"
    sensor.send(event("sensor/x", "allowed"))
    assert Event.from_data(subscriber.get(DEADLINE).data).name == "allowed"
    publish_event(endpoint, "out/x", "for_all")
    assert [name_of(each.recv(DEADLINE)) for each in (sensor, desk)] == ["for_all", "for_all"]
    with pytest.raises(InvalidStatus) as refused:
        join(node, [], **bearer("wrong"))
    assert refused.value.response.status_code == 401
    # A rule that is gone closes its clients, and no others.
    rules.write_text(rule.format("sensor", digest("s3cret")) + local)
    node.reload()
    with pytest.raises(ConnectionClosed, match="access rules have changed"):
        desk.recv(DEADLINE)
    sensor.send(event("sensor/x", "still_here"))
    assert Event.from_data(subscriber.get(DEADLINE).data).name == "still_here"
    guest.close()


def test_web_pages_show_tokens_in_other_ways(start, join, tmp_path):
    rules = tmp_path / "access.toml"
    rules.write_text(f'[[rule]]\nname = "page"\ntokens = ["{digest("s3cret")}"]\n')
    node = start("--access", str(rules), "--websocket-origin", "https://desk.example.org")
    page = join(node, [], subprotocols=["zeek", "bearer.s3cret"], origin="https://desk.example.org")
    assert page.subprotocol == "zeek"
    with connect(node.uri + "?token=s3cret") as client:
        client.send("[]")
        assert json.loads(client.recv(DEADLINE))["type"] == "ack"
    for wrong in ({}, {"subprotocols": ["bearer.wrong"]}, {"origin": "https://evil.example.org", **bearer("s3cret")}):
        with pytest.raises(InvalidStatus):
            join(node, [], **wrong)


def test_encrypted_with_and_without_certificates_of_clients(start, join, tmp_path):
    authority = Authority(tmp_path / "ca")
    server, client = authority.issue("localhost"), authority.issue("sensor-7")
    rules = tmp_path / "access.toml"
    rules.write_text('[[rule]]\nname = "sensors"\ncertificates = ["sensor-7"]\n')
    files = [f"--{name.replace('_', '-')}={path}" for name, path in server.items() if name in ("certificate", "key")]
    trusting = ssl.create_default_context(cafile=str(authority.ca_file))
    trusting.check_hostname = False
    node = start(*files, websocket="wss://127.0.0.1:0")
    assert node.uri.startswith("wss://")
    join(node, [], ssl=trusting)
    node = start(*files, f"--ca-file={authority.ca_file}", "--access", str(rules), websocket="wss://127.0.0.1:0")
    with pytest.raises(InvalidStatus) as refused:
        join(node, [], ssl=trusting)
    assert refused.value.response.status_code == 403
    trusting.load_cert_chain(client["certificate"], client["key"])
    one, other = join(node, [], ssl=trusting), join(node, ["in/"], ssl=trusting)
    one.send(event("in/x", "encrypted", value("string", "x" * 300_000)))
    assert name_of(other.recv(DEADLINE)) == "encrypted"


def test_a_client_that_does_not_read_delays_nobody(start, join, endpoint):
    node = start()
    join(node, ["out/"])  # it takes a few messages out of its socket, and no more
    reads = join(node, ["out/"])
    publisher = peered(endpoint, node).make_publisher("out/x")
    assert publisher.wait_for_subscribers(2, DEADLINE)
    messages = 20_000
    for number in range(messages):
        publisher.publish(Event("e", libpubsub.Count(number), RECORD))
    assert [count_in(reads.recv(DEADLINE)) for _ in range(messages)] == list(range(messages))


def test_200_clients(start, join, endpoint):
    node = start()
    clients = [join(node, ["all/", f"one/{number}/"]) for number in range(200)]
    subscriber = peered(endpoint, node).make_subscriber(["in/"])
    assert subscriber.wait_ready(DEADLINE)
    publish_event(endpoint, "all/x", "hello")
    for number in range(200):
        publish_event(endpoint, f"one/{number}/x", "only_one", libpubsub.Count(number))
    for number, client in enumerate(clients):
        assert name_of(client.recv(DEADLINE)) == "hello"
        assert count_in(client.recv(DEADLINE)) == number
        client.send(event("in/x", "from", value("count", number)))
    received = [Event.from_data(subscriber.get(DEADLINE).data).args[0] for _ in clients]
    assert sorted(received) == list(range(200))
    for client in clients:
        client.close()
    assert "accepted 200 clients, received 200 events and 0 unwanted, sent 400 events" in node.end()


def test_100_000_events_each_way(start, join, endpoint):
    messages = 100_000
    node = start("--link-queue", str(2 * messages))
    subscriber = peered(endpoint, node).make_subscriber(["in/"])
    assert subscriber.wait_ready(DEADLINE)
    client = join(node, ["out/"])
    sent = [event("in/x", "e", value("count", number), value("string", RECORD)) for number in range(messages)]
    writer = threading.Thread(target=lambda: [client.send(each) for each in sent])
    writer.start()
    for number in range(messages):
        assert Event.from_data(subscriber.get(DEADLINE).data).args[0] == number
    writer.join()
    publisher = endpoint.make_publisher("out/x")
    assert publisher.wait_for_subscribers(1, DEADLINE)
    for number in range(messages):
        publisher.publish(Event("e", libpubsub.Count(number), RECORD))
    for number in range(messages):
        assert count_in(client.recv(DEADLINE)) == number
    client.close()
    assert f"received {messages} events and 0 unwanted, sent {messages} events" in node.end()


def test_the_programs_of_the_page_talk_to_each_other(start, python):
    page = (ROOT / "docs/how-to/zeek-websocket-server.md").read_text(encoding="utf-8")
    watch, answer = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    folder = ROOT / "docs/examples/how_to/zeek_websocket_server"
    assert [watch, answer] == [(folder / f"{name}.py").read_text(encoding="utf-8") for name in ("watch", "answer")]
    node = start()
    programs = [text.replace("tcp://127.0.0.1:9999", node.address).replace("ws://127.0.0.1:27759" + PATH, node.uri)
                for text in (answer, watch)]
    answering = subprocess.Popen([python, "-c", programs[0]], stdout=subprocess.PIPE, text=True)
    node.wait_for("peer_added")
    asked = subprocess.run([python, "-c", programs[1]], capture_output=True, text=True, timeout=DEADLINE, check=True)
    assert asked.stdout == "ack\nmy/answers My::hello_back\n"
    assert answering.communicate(timeout=DEADLINE)[0] == "My::hello Joe\n"


@pytest.mark.parametrize(("options", "said"), [
    (["--websocket", "http://127.0.0.1:1"], "expected ws://HOST:PORT or wss://HOST:PORT"),
    (["--websocket", "wss://127.0.0.1:0"], "needs a certificate and its key"),
    (["--websocket", "ws://127.0.0.1:0", "--certificate", "a", "--key", "b"], "no address begins with tls:// or wss://"),
])
def test_addresses_that_cannot_be_served_are_refused(pubsub_command, options, said):
    done = subprocess.run([pubsub_command, "node", *options], capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert done.returncode != 0
    assert said in done.stderr
