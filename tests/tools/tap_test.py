# SPDX-License-Identifier: BSD-3-Clause
"""`pubsub tap`: some of the live messages, and what topics there are."""

import json
import os
import re
import signal
import subprocess
import time
import unittest

from command import COMMAND, LIMIT_S, CommandTest

OK, USAGE, CONNECT, TIMEOUT = 0, 1, 2, 4


class TapTest(CommandTest):
    def setUp(self):
        self.node = self.start("node", "--listen", "127.0.0.1:0", "--name", "relay-1")
        self.peer = ("--peer", f"127.0.0.1:{self.node.port()}")

    def tap(self, *options):
        """One that has subscribed."""
        tap = self.start("tap", *self.peer, *options)
        self.node.wait_for_line("peer_added")
        return tap

    def publish(self, topic, *lines):
        code, _, err = self.run_command("pub", *self.peer, "--topic", topic, "--text", stdin="".join(f"{x}\n" for x in lines))
        self.assertEqual(code, OK, err)

    def sent_by_node(self):
        return json.loads(self.run_command("status", self.peer[1], "--json")[1])["all_links"]["sent"]

    def end(self, tap, status=OK):
        self.assertEqual(tap.finish(), status)
        return "\n".join(tap.out), "\n".join(tap.err)

    def test_a_line_tells_time_topic_size_origin_and_value(self):
        tap = self.tap("/greet", "--count", "1")
        self.publish("/greeting", "hello")
        out, err = self.end(tap)
        self.assertRegex(out, r"^\d{4}-\d\d-\d\dT\S+Z /greeting 7 B from [0-9a-f]{8}: hello$")
        self.assertIn("1 came: 1 shown, 0 passed over, 0 dropped here", err)
        self.assertRegex(err, r"MESSAGES .*\n +1 .* /greeting$")

    def test_as_json_the_origin_is_whole_and_long_values_are_cut(self):
        tap = self.tap("--count", "2", "--json", "--bytes", "5")
        self.publish("/t", "hello", "hello world")
        first, second = map(json.loads, self.end(tap)[0].splitlines())
        self.assertEqual((first["topic"], first["bytes"], first["value"], first["cut"]), ("/t", 7, "hello", False))
        self.assertEqual((second["sequence"], second["value"], second["cut"]), (1, "hello", True))
        self.assertEqual(len(first["origin"]), 36)

    def test_no_more_are_shown_than_asked_for_and_all_are_counted(self):
        begin = time.monotonic()
        tap = self.tap("--rate", "2")
        self.publish("/t", *range(100))
        tap.wait_for_line(": 0$")
        while self.sent_by_node() < 100:
            pass
        os.kill(tap.child.pid, signal.SIGINT)
        out, err = self.end(tap)
        lines = len(out.splitlines())
        self.assertLessEqual(lines, 2 + 2 * (time.monotonic() - begin))
        came, shown, passed = map(int, re.search(r"(\d+) came: (\d+) shown, (\d+) passed over", err).groups())
        self.assertEqual((shown, passed), (lines, came - lines))
        self.assertLessEqual(came, 100)

    def test_a_sample_shows_every_so_many(self):
        tap = self.tap("/t", "--sample", "1/10", "--rate", "1000", "--count", "3")
        self.publish("/t", *range(25))
        self.assertEqual([line.rpartition(" ")[2] for line in self.end(tap)[0].splitlines()], ["0", "10", "20"])

    def test_a_summary_is_a_table_of_topics(self):
        tap = self.tap("--summary", "--count", "4")
        self.publish("/a", "1", "2", "3")
        self.publish("/b", "4")
        out, err = self.end(tap)
        self.assertRegex(out, r"^ +MESSAGES +MSG/s +BYTE/s +TOPIC\n +3 .* /a\n +1 .* /b$")
        self.assertIn("4 came, 0 of them dropped here", err)
        tap = self.tap("/a", "--summary", "--count", "1", "--json")
        self.publish("/a", "1")
        topics = json.loads(self.end(tap)[0])["topics"]
        self.assertEqual([(x["topic"], x["messages"], x["bytes"]) for x in topics], [("/a", 1, 3)])

    def test_topics_and_values_cannot_steer_the_terminal(self):
        tap = self.tap("--count", "1")
        self.publish("/\x1b[2J", "\x1b[31mred")
        out, err = self.end(tap)
        self.assertNotIn("\x1b", out + err)
        self.assertIn("\\x1b[2J", out)

    def test_while_its_output_is_blocked_nobody_is_held_back(self):
        tap = subprocess.Popen([COMMAND, "tap", *self.peer, "--rate", "1000000", "--bytes", "1000000"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(tap.kill)
        self.node.wait_for_line("peer_added")
        self.publish("/t", *["x" * 50_000] * 3000)  # far more than a pipe, and all queues on the way, can hold
        tap.send_signal(signal.SIGINT)
        _, err = tap.communicate(timeout=LIMIT_S)
        self.assertRegex(err, r" [1-9]\d* dropped here")

    def test_too_few_messages_in_time_are_status_4_and_wrong_use_is_status_1(self):
        self.end(self.tap("--count", "1", "--seconds", "0.2"), TIMEOUT)
        self.end(self.tap("--seconds", "0.2"))
        for wrong in (["/t"], ["/t", *self.peer, "--sample", "1/0"], ["/t", *self.peer, "--sample", "x"],
                      ["/t", *self.peer, "--rate", "0"]):
            self.assertEqual(self.run_command("tap", *wrong)[0], USAGE, wrong)
        self.assertEqual(self.run_command("tap", "/t", "--peer", "127.0.0.1:1", "--connect-timeout", "0.2")[0], CONNECT)


if __name__ == "__main__":
    unittest.main()
