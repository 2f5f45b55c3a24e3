# SPDX-License-Identifier: BSD-3-Clause
"""`pubsub record`, `pubsub replay`, `pubsub info`: traffic to files and back."""

import json
import os
import signal
import tempfile
import time
import unittest

from command import CONN_LOG, LIMIT_S, NO_JSON, CommandTest

OK, USAGE, CONNECT, LOSS, TIMEOUT = 0, 1, 2, 3, 4


class RecordTest(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.node = self.start("node", "--listen", "127.0.0.1:0")
        self.peer = ("--peer", f"127.0.0.1:{self.node.port()}")

    def path(self, name="a.mcap"):
        return os.path.join(self.folder, name)

    def recorder(self, *options):
        """One that has subscribed."""
        recorder = self.start("record", *self.peer, *options)
        self.node.wait_for_line("peer_added")
        recorder.wait_for_line("^recording ")
        return recorder

    def publish(self, topic, *lines):
        code, _, err = self.run_command("pub", *self.peer, "--topic", topic, "--text", stdin="".join(f"{x}\n" for x in lines))
        self.assertEqual(code, OK, err)

    def info(self, path):
        code, out, err = self.run_command("info", "--json", path)
        self.assertEqual(code, OK, err)
        return json.loads(out)

    def wait_until(self, holds):
        end = time.monotonic() + LIMIT_S
        while not holds():
            self.assertLess(time.monotonic(), end, "it did not happen in time")

    def record(self, *lines, topic="/t", options=()):
        """A file with these lines; the totals."""
        recorder = self.recorder("-o", self.path(), "--count", len(lines), "--json", *options)
        self.publish(topic, *lines)
        self.assertEqual(recorder.finish(), OK, recorder.err)
        return json.loads(recorder.out[0])

    def test_what_was_recorded_is_replayed_in_order(self):
        totals = self.record(*range(500))
        self.assertEqual((totals["messages"], totals["written"], totals["files"], totals["missed"], totals["dropped"]),
                         (500, 500, 1, 0, 0))
        self.assertEqual(totals["file_bytes"], os.path.getsize(self.path()))
        sub = self.start("sub", *self.peer, "--text", "--count", 500)
        self.node.wait_for_line("peer_added")
        code, _, err = self.run_command("replay", self.path(), *self.peer, "--rate", "max")
        self.assertEqual(code, OK, err)
        self.assertRegex(err, r"sent 500 of 500 messages in .*, skipped 0")
        self.assertEqual(sub.finish(), OK)
        self.assertEqual(sub.out, [f"/t -> {i}" for i in range(500)])

    def test_info_tells_topics_time_and_origin(self):
        self.record("a", "b", topic="/some/topic")
        found = self.info(self.path())
        self.assertTrue(found["indexed"])
        self.assertEqual((found["damage"], found["messages"], found["missed"], found["compression"]), ("", 2, 0, "zstd"))
        self.assertEqual(found["topics"], [{"topic": "/some/topic", "encoding": "x-pubsub-bin-v1", "messages": 2, "streams": 1}])
        self.assertEqual(len(found["about"]["recorder_id"]), 36)
        code, out, _ = self.run_command("info", self.path())
        self.assertEqual(code, OK)
        self.assertRegex(out, r"a\.mcap: 2 messages, .* in 1 chunks, zstd, .* times smaller\ntime: \d{4}-")
        self.assertRegex(out, r"\n +2 .* 1  x-pubsub-bin-v1 +/some/topic\n")

    def test_ctrl_c_ends_a_recording_in_good_order(self):
        for stop in (signal.SIGINT, signal.SIGTERM):
            recorder = self.recorder("-o", self.path(), "--replace")
            self.publish("/t", *range(10))
            self.wait_until(lambda: self.info(self.path())["messages"] == 10)
            os.kill(recorder.child.pid, stop)
            self.assertEqual(recorder.finish(), OK)
            self.assertRegex(recorder.err[-1], "^recorded 10 messages in .*: 10 written, .* in 1 file$")
            self.assertTrue(self.info(self.path())["indexed"])

    def test_a_recorder_that_is_killed_leaves_what_it_has_written(self):
        recorder = self.recorder("-o", self.path())
        self.publish("/t", *range(10))
        self.wait_until(lambda: self.info(self.path())["messages"] == 10)
        recorder.kill()
        found = self.info(self.path())
        self.assertEqual((found["messages"], found["indexed"], found["damage"]), (10, False, "the file has no end"))
        code, _, err = self.run_command("replay", self.path(), "--listen", "127.0.0.1:0", "--wait-subscribers", 0)
        self.assertEqual(code, OK)
        self.assertIn("10 wanted by nobody", err)
        self.assertIn("the file has no end", err)

    def test_a_ring_is_written_on_a_signal(self):
        ring = self.recorder("-o", self.path(), "--ring", "1M", "--json")
        self.publish("/t", *range(10))
        for number in ("0001", "0002"):
            # Whether all have come is seen in what is saved.
            self.wait_until(lambda: self.saved(ring) == 10)
        os.kill(ring.child.pid, signal.SIGTERM)
        self.assertEqual(ring.finish(), OK)
        totals = json.loads(ring.out[0])
        self.assertEqual(totals["messages"], 10)
        self.assertGreaterEqual(totals["files"], 2)
        self.assertEqual(self.info(self.path("a-0001.mcap"))["indexed"], True)
        self.assertFalse(os.path.exists(self.path()))

    def saved(self, ring):
        os.kill(ring.child.pid, signal.SIGUSR1)
        return int(ring.wait_for_line(r"^saved (\d+) messages to ")[1])

    def test_a_message_has_the_ring_written_with_what_follows(self):
        ring = self.recorder("-o", self.path(), "--ring", "1M", "--trigger", '$ == "alarm"', "--trigger-after", "250ms")
        self.assertRegex(ring.err[0], r'^recording into memory; .*; so does a message with \$ == "alarm"$')
        for number in ("0001", "0002"):
            self.publish("/t", "before", "alarm")
            self.assertEqual(ring.wait_for_line(r"^triggered by a message on (\S+) at .*; the ring is written in 0\.2")[1], "/t")
            saved = ring.wait_for_line(r"^saved \d+ messages to (\S+), triggered by a message on /t at (\S+), and 0 more since$")
            self.assertEqual(saved[1], self.path(f"a-{number}.mcap"))
            about = self.info(saved[1])["about"]
            self.assertEqual((about["trigger"], about["trigger_topic"], about["trigger_time"], about["trigger_more"]),
                             ('$ == "alarm"', "/t", saved[2], "0"))
        os.kill(ring.child.pid, signal.SIGTERM)
        self.assertEqual(ring.finish(), OK)
        self.assertRegex(ring.err[-1], r"^recorded 4 messages in .* in 2 files, 2 triggers and 0 more within --trigger-after$")
        self.assertEqual(self.info(self.path("a-0002.mcap"))["messages"], 4)

    def test_a_ring_that_waits_to_be_written_is_written_at_the_end(self):
        ring = self.recorder("-o", self.path(), "--ring-time", "2h", "--trigger", '$ == "alarm"', "--trigger-after", "1h", "--json")
        self.publish("/t", "before", "alarm", "after", "alarm", "alarm", "end")
        # The signal writes at once, whatever the trigger waits for.
        self.wait_until(lambda: self.saved(ring) == 6)
        os.kill(ring.child.pid, signal.SIGTERM)
        self.assertEqual(ring.finish(), OK)
        totals = json.loads(ring.out[0])
        self.assertEqual((totals["messages"], totals["triggers"], totals["more_triggers"]), (6, 1, 2))
        files = sorted(os.listdir(self.folder))
        self.assertEqual(len(files), totals["files"])
        triggered = [name for name in files if "trigger" in self.info(self.path(name))["about"]]
        self.assertEqual(triggered, files[-1:])
        last = self.info(self.path(files[-1]))
        self.assertEqual((last["messages"], last["about"]["trigger_more"]), (6, "2"))
        code, out, _ = self.run_command("info", self.path(files[-1]))
        self.assertEqual(code, OK)
        self.assertRegex(out, r'\ntrigger: \$ == "alarm"\ntrigger_more: 2\ntrigger_time: \d{4}-.*Z\ntrigger_topic: /t\n')

    def test_columns_of_a_trigger_are_learnt_from_what_does_not_trigger(self):
        log = self.path("conn.log")
        with open(log, "w", encoding="utf-8") as file:
            file.write(CONN_LOG)
        ring = self.recorder("-o", self.path(), "--ring", "1M", "--trigger", 'uid == "C3"', "--trigger-after", "1h", "--json")
        code, _, err = self.run_command("pub", *self.peer, "--zeek-log", log)
        self.assertEqual(code, OK, err)
        ring.wait_for_line("^triggered by ")
        os.kill(ring.child.pid, signal.SIGTERM)
        self.assertEqual(ring.finish(), OK)
        totals = json.loads(ring.out[0])
        self.assertEqual((totals["triggers"], totals["more_triggers"]), (1, 0))
        about = self.info(self.path("a-0001.mcap"))["about"]
        self.assertEqual((about["trigger"], about["trigger_topic"]), ('uid == "C3"', "zeek/records/conn"))

    def test_a_condition_chooses_what_is_recorded(self):
        recorder = self.recorder("-o", self.path(), "--where", '$ in {"3", "9"}', "--count", 2, "--json")
        self.publish("/t", *range(10))
        self.assertEqual(recorder.finish(), OK, recorder.err)
        totals = json.loads(recorder.out[0])
        self.assertEqual((totals["messages"], totals["written"], totals["missed"], totals["dropped"]), (2, 2, 0, 0))
        # The numbers between the two are no gap.
        found = self.info(self.path())
        self.assertEqual((found["messages"], found["gaps"], found["missed"]), (2, [], 0))
        self.assertEqual(found["about"]["where"], '$ in {"3", "9"}')
        code, out, _ = self.run_command("info", self.path())
        self.assertEqual(code, OK)
        self.assertIn('\nwhere: $ in {"3", "9"}\n', out)
        self.assertIn("gaps on the way: not known", out)
        self.assertNotIn("did not arrive", out)

    def test_what_a_condition_leaves_out_here_is_counted(self):
        # Peers of version 1 are told topics only, so all messages arrive.
        recorder = self.recorder("-o", self.path(), "--where", '$ in {"3", "9"}', "--count", 2, "--wire-version", 1)
        self.publish("/t", *range(10))
        self.assertEqual(recorder.finish(), OK, recorder.err)
        self.assertRegex(recorder.err[-1], r"^recorded 2 messages in .* in 1 file, 8 left out here by --where$")

    def test_a_recording_is_split(self):
        recorder = self.recorder("-o", self.path(), "--count", 2000, "--split-size", "20000", "--chunk-size", "4Ki", "--level", 0)
        self.publish("/t", *range(2000))
        self.assertEqual(recorder.finish(), OK)
        parts = sorted(os.listdir(self.folder))
        self.assertGreater(len(parts), 2)
        self.assertEqual(parts[0], "a-0001.mcap")
        self.assertEqual(sum(self.info(self.path(part))["messages"] for part in parts), 2000)
        sub = self.start("sub", *self.peer, "--text", "--count", 2000)
        self.node.wait_for_line("peer_added")
        # In the order of their times, whatever the order of the names.
        code, _, err = self.run_command("replay", *(self.path(part) for part in reversed(parts)), *self.peer, "--rate", "max")
        self.assertEqual((code, sub.finish()), (OK, OK), err)
        self.assertEqual(sub.out, [f"/t -> {i}" for i in range(2000)])

    @unittest.skipIf(NO_JSON, "without simdjson JSON is not read")
    def test_json_is_replayed_as_well(self):
        self.record("a", "b", options=("--format", "json"))
        self.assertEqual(self.info(self.path())["topics"][0]["encoding"], "json")
        sub = self.start("sub", *self.peer, "--text", "--count", 2)
        self.node.wait_for_line("peer_added")
        code, _, err = self.run_command("replay", self.path(), *self.peer)
        self.assertEqual((code, sub.finish()), (OK, OK), err)
        self.assertEqual(sub.out, ["/t -> a", "/t -> b"])

    def test_a_part_is_replayed_by_topic_and_time(self):
        self.record(*range(10))
        replay = ("replay", self.path(), "--listen", "127.0.0.1:0", "--wait-subscribers", 0, "--json")

        def messages(*options):
            code, out, err = self.run_command(*replay, *options)
            self.assertEqual(code, OK, err)
            return json.loads(out)["messages"]
        self.assertEqual(messages(), 10)
        self.assertEqual(messages("--topic", "/t"), 10)
        self.assertEqual(messages("--from", "+3600"), 0)
        self.assertEqual(messages("--from", "2000-01-01T00:00:00Z", "--to", "+3600"), 10)
        self.assertEqual(messages("--to", "2000-01-01T00:00:00.5"), 0)
        self.assertEqual(messages("--from", "1"), 10)

    def test_a_condition_chooses_what_is_replayed(self):
        self.record(*range(10))
        replay = ("replay", self.path(), "--listen", "127.0.0.1:0", "--wait-subscribers", 0, "--json")
        for where, filtered in (('$ == "5"', 9), ("@size > 0", 0), ('$ in {"1", "2"}', 8), ('@topic == "/other"', 10)):
            code, out, err = self.run_command(*replay, "--where", where)
            self.assertEqual(code, OK, err)
            result = json.loads(out)
            self.assertEqual((result["messages"], result["filtered"], result["skipped"]), (10, filtered, 0))
        code, _, err = self.run_command(*replay, "--where", "$ =")
        self.assertEqual(code, 1)
        self.assertIn("--where: ", err)

    def test_the_pace_is_that_of_the_recording(self):
        recorder = self.recorder("-o", self.path(), "--count", 2)
        self.publish("/t", "first")
        self.wait_until(lambda: self.info(self.path())["messages"] == 1)
        self.publish("/t", "second")
        self.assertEqual(recorder.finish(), OK)
        length = self.info(self.path())["seconds"]
        self.assertGreater(length, 0)

        def seconds(rate):
            code, out, err = self.run_command("replay", self.path(), "--listen", "127.0.0.1:0", "--wait-subscribers", 0, "--json",
                                              "--rate", rate)
            self.assertEqual(code, OK, err)
            return json.loads(out)["seconds"]
        self.assertGreaterEqual(seconds(1), length)
        self.assertGreaterEqual(seconds(0.5), 2 * length)
        self.assertLess(seconds("max"), seconds(0.2))

    def test_a_loop_goes_on_until_it_is_stopped(self):
        self.record("a")
        sub = self.start("sub", *self.peer, "--text", "--count", 5)
        self.node.wait_for_line("peer_added")
        replay = self.start("replay", self.path(), *self.peer, "--loop", "--rate", "max")
        self.assertEqual(sub.finish(), OK)
        os.kill(replay.child.pid, signal.SIGINT)
        self.assertEqual(replay.finish(), OK)
        self.assertEqual(sub.out, ["/t -> a"] * 5)

    def test_help_teaches_with_examples(self):
        for command in ("record", "replay", "info"):
            code, out, _ = self.run_command(command, "--help")
            self.assertEqual(code, OK)
            self.assertIn("Examples:", out)

    def test_what_cannot_be_done_is_said(self):
        def check(status, *arguments):
            code, out, err = self.run_command(*arguments)
            self.assertEqual(code, status, out + err)
            return out + err
        self.record("a")
        listen = ("--listen", "127.0.0.1:0")
        self.assertIn("a.mcap: File exists", check(USAGE, "record", *listen, "-o", self.path()))
        self.assertIn("needs at least one --listen or --peer", check(USAGE, "record", "-o", self.path("b")))
        self.assertIn("needs at least one --listen or --peer", check(USAGE, "replay", self.path()))
        self.assertIn("--output", check(USAGE, "record", *listen))
        self.assertIn("--split-size", check(USAGE, "record", *listen, "-o", "x", "--ring", "1M", "--split-size", "1M"))
        self.assertIn("--trigger needs --ring or --ring-time", check(USAGE, "record", *listen, "-o", "x", "--trigger", "@size > 0"))
        ring = ("record", *listen, "-o", "x", "--ring-time", "5s")
        self.assertIn("--trigger-after must be less than --ring-time", check(USAGE, *ring, "--trigger", "@size > 0"))
        self.assertIn("--trigger-after requires --trigger", check(USAGE, *ring, "--trigger-after", "1s"))
        self.assertIn("--trigger: ", check(USAGE, *ring, "--trigger", "@size >", "--trigger-after", "1s"))
        self.assertIn("--where: ", check(USAGE, "record", *listen, "-o", "x", "--where", "@size >"))
        for length in ("0", "soon", "-1", "1d", "1e300"):
            self.assertIn("--ring-time", check(USAGE, "record", *listen, "-o", "x", "--ring-time", length))
        self.assertIn("/no/such.mcap: No such file", check(USAGE, "info", "/no/such.mcap"))
        self.assertIn("this is no MCAP file", check(USAGE, "info", __file__))
        self.assertIn("there is no message on these topics", check(USAGE, "replay", self.path(), *listen, "--topic", "/other"))
        self.assertIn("--rate", check(USAGE, "replay", self.path(), *listen, "--rate", "fast"))
        self.assertIn("a time is expected", check(USAGE, "replay", self.path(), *listen, "--from", "yesterday"))
        self.assertIn("0 of 1 subscribers", check(TIMEOUT, "replay", self.path(), *listen, "--timeout", "0.1"))
        self.assertIn("0 of 3 messages after", check(TIMEOUT, "record", *listen, "-o", self.path("c"), "--count", "3",
                                                     "--seconds", "0.1"))


if __name__ == "__main__":
    unittest.main()
