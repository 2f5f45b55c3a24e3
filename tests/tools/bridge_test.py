# SPDX-License-Identifier: BSD-3-Clause
"""`pubsub bridge`, and bridges in a node's configuration: with a real Redis server, where there is one."""

import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.request

from command import CONN_LOG, LIMIT_S, CommandTest

OK, USAGE, LOSS = 0, 1, 3
SERVER = shutil.which("redis-server", path="/usr/bin:/usr/local/bin") or shutil.which("redis-server")


def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def eventually(holds):
    end = time.monotonic() + LIMIT_S
    while not holds():
        if time.monotonic() > end:
            raise AssertionError("it does not come true")
        time.sleep(0.02)


class Redis:
    """A server of its own, and the few commands that the tests need."""

    def __init__(self, folder, port):
        self.port = port
        self.process = subprocess.Popen([SERVER, "--port", str(port), "--dir", folder, "--save", ""], stdout=subprocess.DEVNULL)

    def command(self, *words):
        """The reply as it comes over the wire."""
        request = f"*{len(words)}\r\n" + "".join(f"${len(x)}\r\n{x}\r\n" for x in words)
        with socket.create_connection(("127.0.0.1", self.port), LIMIT_S) as link:
            link.sendall(request.encode() + b"*1\r\n$4\r\nQUIT\r\n")
            with link.makefile("rb") as answer:
                return answer.read().decode()

    def wait(self):
        def answers():
            try:
                return "+PONG" in self.command("PING")
            except OSError:
                return False
        eventually(answers)


class BridgeTest(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def redis(self, port=None):
        if SERVER is None:
            self.skipTest("there is no redis-server")
        server = Redis(folder=self.folder, port=port or unused_port())
        self.addCleanup(server.process.wait)
        self.addCleanup(server.process.kill)
        server.wait()
        return server

    def publish_log(self, peer):
        log = self.folder / "conn.log"
        log.write_text(CONN_LOG)
        code, _, err = self.run_command("pub", "--peer", peer, "--zeek-log", log)
        self.assertEqual(code, OK, err)

    def test_records_go_to_streams_and_come_back(self):
        redis = self.redis()
        url = f"redis://127.0.0.1:{redis.port}"
        out = self.start("bridge", "redis", "--listen", "127.0.0.1:0", "--url", url, "--topic", "zeek/", "--to", "zeek:{path}", "--json")
        self.publish_log(f"127.0.0.1:{out.port()}")
        eventually(lambda: redis.command("XLEN", "zeek:conn").startswith(":3"))
        out.child.send_signal(signal.SIGTERM)
        self.assertEqual(out.finish(), OK, out.err)
        totals = json.loads(out.out[-1])
        self.assertEqual((totals["consumed"], totals["delivered"], totals["rejected"], totals["in_flight"]),
                         (4, 3, {"announcement": 1}, 0))
        entry = redis.command("XRANGE", "zeek:conn", "-", "+", "COUNT", "1")
        self.assertIn('{"ts":1700000000.000001,"uid":"C1","id.orig_h":"192.0.2.1","id.orig_p":53,"proto":"udp","duration":0.25,'
                      '"tags":["a","b"]}', entry)
        self.assertIn("pubsub-topic\r\n$17\r\nzeek/records/conn", entry)

        node = self.start("node", "--listen", "127.0.0.1:0")
        peer = f"127.0.0.1:{node.port()}"
        sub = self.start("sub", "--peer", peer, "--topic", "back/", "--count", "3")
        eventually(lambda: '"back/' in self.run_command("status", "--json", peer)[1])
        back = self.start("bridge", "redis", "--peer", peer, "--url", url, "--from", "zeek:conn", "--publish", "back/{topic}",
                          "--returned", "--group", "g")
        self.assertEqual(sub.finish(), OK, sub.err)
        self.assertEqual(json.loads(sub.out[0])["topic"], "back/zeek:conn")
        back.child.send_signal(signal.SIGTERM)
        self.assertEqual(back.finish(), OK, back.err)
        self.assertIn("consumed 3, delivered 3, rejected 0, in flight 0", back.err)

    def test_what_a_killed_bridge_had_taken_from_a_list_comes_again(self):
        redis = self.redis()
        events = [f'{{"event_type":"alert","flow_id":{n}}}' for n in range(300)]
        redis.command("LPUSH", "suricata", *events)
        node = self.start("node", "--listen", "127.0.0.1:0")
        peer = f"127.0.0.1:{node.port()}"
        bridge = ["bridge", "redis", "--peer", peer, "--url", f"redis://127.0.0.1:{redis.port}", "--list", "lpush",
                  "--from", "suricata", "--publish", "eve", "--json"]
        for end in (signal.SIGKILL, signal.SIGTERM):
            sub = self.start("sub", "--peer", peer, "--topic", "eve", "--count", "300", "--text")
            eventually(lambda: '"eve"' in self.run_command("status", "--json", peer)[1])
            out = self.start(*bridge, "--commit-interval", "2h" if end == signal.SIGKILL else "10ms")
            self.assertEqual(sub.finish(), OK, sub.err)
            self.assertEqual([int(re.search(r"flow_id -> (\d+)", line)[1]) for line in sub.out], list(range(300)))
            out.child.send_signal(end)
            out.finish()
        totals = json.loads(out.out[-1])
        self.assertEqual((totals["consumed"], totals["delivered"], totals["redelivered"]), (300, 300, 300))
        self.assertEqual(redis.command("KEYS", "*").splitlines()[:3:2], ["*1", "suricata:pubsub"])

    def test_what_is_not_confirmed_is_said(self):
        if SERVER is None:
            self.skipTest("there is no redis-server")
        out = self.start("bridge", "redis", "--listen", "127.0.0.1:0", "--url", f"redis://127.0.0.1:{unused_port()}", "--topic", "zeek/")
        self.publish_log(f"127.0.0.1:{out.port()}")
        out.wait_for_line("refused")
        out.child.send_signal(signal.SIGTERM)
        self.assertEqual(out.finish(), LOSS)
        self.assertIn("were not confirmed in time", "\n".join(out.err))

    def test_a_mistake_is_named(self):
        peer = ["--peer", "127.0.0.1:1"]
        for arguments, complaint in {
            ("kafka", "--topic", "t"): "bridge needs at least one --listen or --peer",
            ("kafka", *peer): "bridge needs --topic or --pipeline (to the engine), or --from (from it)",
            ("kafka", *peer, "--topic", "t", "--from", "t", "--group", "g"): "a bridge does one of the two",
            ("kafka", *peer, "--topic", "t", "--to", "{nothing}"): "{nothing} is none of {topic}, {path}, {event}",
            ("kafka", *peer, "--topic", "t", "--set", "no.such=1"): "No such configuration property",
            ("kafka", *peer, "--topic", "t", "--set", "acks"): "--set acks: NAME=VALUE is expected",
            ("kafka", *peer, "--from", "t", "--start", "soon"): "start 'soon' is none of stored, beginning, end",
            ("redis", *peer, "--topic", "t", "--url", "http://x"): "the URL of a",
            ("redis", *peer, "--from", "l", "--list", "sideways"): "rpush",
            ("redis", *peer, "--from", "l", "--list", "rpush", "--group", "g"): "has no groups",
            ("redis", *peer, "--from", "l", "--list", "rpush", "--start", "end"): "from its oldest element",
            ("redis", *peer, "--from", "l", "--from", "m", "--list", "rpush"): "reads one list",
            ("redis", *peer, "--from", "s", "--url", "http://x"): "the URL of a",
            ("jetstream", *peer, "--topic", "t", "--url", "http://x"): "the URL of a",
        }.items():
            code, _, err = self.run_command("bridge", *arguments)
            self.assertEqual(code, USAGE, arguments)
            self.assertIn(complaint, err)

    def test_tables_for_clickhouse_and_schemas_for_avro(self):
        log = self.folder / "conn.log"
        log.write_text(CONN_LOG)
        code, out, err = self.run_command("bridge", "ddl", "clickhouse", log, "--brokers", "k1:9092")
        self.assertEqual(code, OK, err)
        self.assertIn("`id.orig_p` Nullable(UInt16)", out)
        self.assertIn("kafka_topic_list = 'zeek.conn'", out)
        code, out, err = self.run_command("bridge", "ddl", "avro", log)
        self.assertEqual(code, OK, err)
        self.assertEqual([x["name"] for x in json.loads(out)["fields"]],
                         ["ts", "uid", "id_orig_h", "id_orig_p", "proto", "duration", "tags"])
        log.write_text("no log\n")
        code, _, err = self.run_command("bridge", "ddl", "clickhouse", log)
        self.assertNotEqual(code, OK)
        self.assertIn("conn.log", err)

    def configuration(self, port, redis, to, more=""):
        return f"""
            listen = "127.0.0.1:{port}"
            metrics = "127.0.0.1:0"
            [[bridge]]
            name = "logs"
            engine = "redis"
            url = "redis://127.0.0.1:{redis.port}"
            topic = ["zeek/"]
            to = "{to}"
            {more}"""

    def test_a_node_has_bridges_and_changes_them_when_told(self):
        redis = self.redis()
        file = self.folder / "node.toml"
        port = unused_port()
        file.write_text(self.configuration(port, redis, "one:{path}"))
        node = self.start("node", "--config", file)
        page = node.wait_for_line(r"(http://127\.0\.0\.1:\d+/)")[1]
        peer = f"127.0.0.1:{port}"
        self.publish_log(peer)
        eventually(lambda: redis.command("XLEN", "one:conn").startswith(":3"))

        def metrics():
            with urllib.request.urlopen(page + "metrics", timeout=LIMIT_S) as answer:
                return answer.read().decode()
        eventually(lambda: 'pubsub_bridge_delivered_total{bridge="logs",direction="sink"} 3' in metrics())
        self.assertIn('pubsub_bridge_rejected_total{bridge="logs",direction="sink",reason="announcement"} 1', metrics())

        file.write_text(self.configuration(port, redis, "two:{path}", """
            [[bridge]]
            name = "eve"
            engine = "redis"
            url = "redis://127.0.0.1:%d"
            from = ["suricata"]
            group = "g"
            publish = "suricata/{topic}" """ % redis.port))
        node.child.send_signal(signal.SIGHUP)
        node.wait_for_line("reloaded|were read again")
        self.publish_log(peer)
        eventually(lambda: redis.command("XLEN", "two:conn").startswith(":3"))
        self.assertTrue(redis.command("XLEN", "one:conn").startswith(":3"))
        sub = self.start("sub", "--peer", peer, "--topic", "suricata/", "--count", "1")
        eventually(lambda: '"suricata/' in self.run_command("status", "--json", peer)[1])
        redis.command("XADD", "suricata", "*", "eve", '{"event_type":"alert"}')
        self.assertEqual(sub.finish(), OK, sub.err)
        self.assertIn('"alert"', sub.out[0])

        file.write_text(self.configuration(port, redis, "{nothing}"))
        node.child.send_signal(signal.SIGHUP)
        node.wait_for_line("nothing has changed.*bridge 'logs'")
        node.child.send_signal(signal.SIGTERM)
        self.assertEqual(node.finish(), OK, node.err)

    def test_a_mistake_in_the_configuration_is_named_with_file_and_line(self):
        redis = type("Nowhere", (), {"port": 1})
        file = self.folder / "node.toml"
        for more, complaint in {
            'strange = 1': "node.toml:10: there is no key 'strange'",
            'engine2 = "x"\n[[bridge]]\nname = "x"': "there is no key 'engine2'",
            '[[bridge]]\nname = "logs"\nengine = "redis"\ntopic = "x"': "another bridge has the name 'logs'",
            '[[bridge]]\nname = "x"\nengine = "rabbit"': "engine: there is no 'rabbit'",
            '[[bridge]]\nengine = "redis"': "name and engine are missing",
            '[[bridge]]\nname = "x"\nengine = "redis"': "bridge 'x': bridge needs --topic",
        }.items():
            file.write_text(self.configuration(0, redis, "{topic}", more))
            code, _, err = self.run_command("node", "--config", file, "--check")
            self.assertEqual(code, USAGE, more)
            self.assertIn(complaint, err)


if __name__ == "__main__":
    unittest.main()
