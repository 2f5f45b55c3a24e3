# SPDX-License-Identifier: BSD-3-Clause
"""`pubsub status`: the counters of a running node, for people and for programs."""

import json
import os
import signal
import socket
import unittest
import urllib.request

from command import NO_JSON, CommandTest


class StatusTest(CommandTest):
    def node(self, *options):
        return self.start("node", "--listen", "127.0.0.1:0", *options).port()

    def status(self, port, *options):
        code, out, err = self.run_command("status", f"127.0.0.1:{port}", *options)
        self.assertEqual(code, 0, err)
        return out

    def wait_for_status(self, port, holds):
        """The first status for which `holds(status)` is true."""
        for _ in range(2000):
            shown = json.loads(self.status(port, "--json"))
            if holds(shown):
                return shown
        self.fail(f"not reached: {shown}")

    def test_shows_what_went_through_a_node(self):
        port = self.node()
        sub = self.start("sub", "--peer", f"127.0.0.1:{port}", "--topic", "/t", "--text", "--count", "3")
        code, _, err = self.run_command("pub", "--peer", f"127.0.0.1:{port}", "--topic", "/t", "--text",
                                        stdin="a\nb\nc\n")
        self.assertEqual(code, 0, err)
        self.assertEqual(sub.finish(), 0)
        shown = self.wait_for_status(port, lambda x: x["counters"]["forwarded"] == 3)
        self.assertEqual(shown["schema"], 1)
        self.assertEqual(shown["counters"]["received"], 3)
        self.assertEqual(shown["subscribers"], [])
        self.assertEqual(shown["left_out"], {"peers": 0, "subscribers": 0})
        self.assertGreaterEqual(shown["uptime_s"], 0)

    def test_lists_peers_with_address_state_topics_and_counters(self):
        port = self.node()
        self.start("sub", "--peer", f"127.0.0.1:{port}", "--topic", "/t")
        shown = self.wait_for_status(port, lambda x: any(p["topics"] == ["/t"] for p in x["peers"]))
        peer = next(p for p in shown["peers"] if p["topics"] == ["/t"])
        self.assertEqual((peer["state"], peer["wire_version"]), ("peered", 2))
        self.assertTrue(peer["address"].startswith("127.0.0.1:"))
        self.assertEqual(peer["counters"]["offered"], 0)

    @unittest.skipIf(NO_JSON, "text needs the JSON reader")
    def test_text_names_the_node_and_its_peers_but_not_who_asks(self):
        port = self.node()
        self.start("sub", "--peer", f"127.0.0.1:{port}", "--topic", "/t")
        shown = self.wait_for_status(port, lambda x: any(p["topics"] == ["/t"] for p in x["peers"]))
        text = self.status(port)
        self.assertTrue(text.startswith(f"{shown['name']} {shown['id']}: version {shown['version']}, up "), text)
        self.assertRegex(text, r"(?m)^peer \S+ 127\.0\.0\.1:\d+ \S+: peered, version 2, a client, wants /t$")
        self.assertEqual(text.count("\npeer "), 1, text)

    @unittest.skipIf(NO_JSON, "text needs the JSON reader")
    def test_watch_repeats_with_rates_until_ctrl_c(self):
        port = self.node()
        self.start("sub", "--peer", f"127.0.0.1:{port}", "--topic", "/t")
        self.wait_for_status(port, lambda x: any(p["topics"] == ["/t"] for p in x["peers"]))
        self.start("ping", "--peer", f"127.0.0.1:{port}", "--echo")
        self.start("ping", "--peer", f"127.0.0.1:{port}", "--count", "100000000")
        watch = self.start("status", f"127.0.0.1:{port}", "--watch", "0.05")
        watch.wait_for_line(r"received \d+ \(\+[1-9]\d*/s\)")
        os.kill(watch.child.pid, signal.SIGINT)
        self.assertEqual(watch.finish(), 0)

    def test_watching_a_node_that_goes_away_is_status_2(self):
        node = self.start("node", "--listen", "127.0.0.1:0")
        watch = self.start("status", f"127.0.0.1:{node.port()}", "--watch", "0.05", "--json")
        watch.wait_for_line(r'^{"schema":1')
        node.kill()
        self.assertEqual(watch.finish(), 2)

    def test_nobody_there_is_status_2(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        code, out, err = self.run_command("status", f"127.0.0.1:{port}")
        self.assertEqual((code, out), (2, ""))
        self.assertIn(str(port), err)

    def test_somebody_else_there_is_status_2(self):
        with socket.create_server(("127.0.0.1", 0)) as mute:
            code, _, err = self.run_command("status", f"127.0.0.1:{mute.getsockname()[1]}", "--timeout", "0.2")
        self.assertEqual(code, 2, err)

    def test_a_node_that_does_not_answer_in_time_is_status_4(self):
        node = self.start("node", "--listen", "127.0.0.1:0")
        watch = self.start("status", f"127.0.0.1:{node.port()}", "--watch", "0.05", "--json", "--timeout", "5")
        watch.wait_for_line(r'^{"schema":1')
        os.kill(node.child.pid, signal.SIGSTOP)
        self.assertEqual(watch.finish(), 4)

    def test_a_node_may_refuse_and_an_old_one_cannot_tell(self):
        for options, why in ((["--no-status"], "does not tell of itself"), (["--wire-version", "1"], "version 1")):
            port = self.node(*options)
            code, out, err = self.run_command("status", f"127.0.0.1:{port}")
            self.assertEqual((code, out), (2, ""))
            self.assertIn(why, err)

    def test_metrics_are_served_where_the_node_says_and_a_taken_port_is_status_2(self):
        node = self.start("node", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--json")
        address = node.wait_for_line(r'"event":"metrics","address":"(http://127\.0\.0\.1:\d+/)"')[1]
        with urllib.request.urlopen(address + "metrics", timeout=60) as answer:
            self.assertIn(b"\npubsub_peers{state=\"peered\"} 0\n", answer.read())
        for metrics, status, why in ((address, 2, "in use"), ("nonsense", 1, "no port"), ("127.0.0.1:x", 1, "port")):
            code, _, err = self.run_command("node", "--listen", "127.0.0.1:0", "--metrics", metrics)
            self.assertEqual(code, status, err)
            self.assertIn(why, err)

    def test_wrong_use_is_status_1(self):
        for arguments in ([], ["127.0.0.1:1", "--watch", "0"], ["nonsense"]):
            code, _, _ = self.run_command("status", *arguments)
            self.assertEqual(code, 1, arguments)


if __name__ == "__main__":
    unittest.main()
