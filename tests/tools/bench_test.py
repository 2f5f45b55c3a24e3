# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks: their books balance, their files have the promised form, a dead child ends them."""

import json
import os
import select
import signal
import tempfile
import time
import unittest

from command import CONN_LOG, CommandTest

MEMBERS = {"payload_bytes", "msgs_per_s", "published", "delivered", "dropped", "duplicated", "reordered"}
CHAIN_MEMBERS = MEMBERS | {"relays", "relay_user_ns", "relay_system_ns", "relay_cpu_ns", "cpu_ns"}


class Bench(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.report = os.path.join(folder.name, "report.json")

    def read_report(self, benchmark, members):
        with open(self.report, encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(list(report), ["schema", "benchmark", "machine", "params", "results"])
        self.assertEqual((report["schema"], report["benchmark"]), (1, benchmark))
        for result in report["results"]:
            self.assertEqual(set(result), members)
            rate = result["msgs_per_s"]
            self.assertEqual(list(rate), ["median", "min", "max", "samples"])
            self.assertTrue(rate["samples"])
            self.assertTrue(0 < rate["min"] <= rate["median"] <= rate["max"])
            self.assertGreater(result["published"], 0)
            self.assertEqual(result["published"], result["delivered"])
            self.assertEqual((result["dropped"], result["duplicated"], result["reordered"]), (0, 0, 0))
        return report["results"]

    def test_a_chain_loses_nothing_and_reports_it(self):
        status, out, err = self.run_command("bench", "chain", "--relays", "0,2", "--payload", 50, "--duration", 1,
                                            "--json", self.report, limit_s=120)
        self.assertEqual(status, 0, out + err)
        results = self.read_report("chain", CHAIN_MEMBERS)
        self.assertEqual([(x["relays"], x["payload_bytes"]) for x in results], [(0, 50), (2, 50)])
        csv = out[out.index("relays,payload,msgs_per_s"):].splitlines()
        self.assertEqual(len(csv), 3)
        self.assertRegex(csv[2], r"^2,50,\d+$")

    def test_a_chain_says_what_processor_a_message_costs_its_relays(self):
        status, out, err = self.run_command("bench", "chain", "--relays", "0,2", "--duration", 0.5, "--runs", 2, "--json", self.report,
                                            limit_s=120)
        self.assertEqual(status, 0, out + err)
        none, two = self.read_report("chain", CHAIN_MEMBERS)
        self.assertEqual([none[x] for x in ("relay_user_ns", "relay_system_ns", "relay_cpu_ns")], [None] * 3)
        self.assertEqual([len(two[x]["samples"]) for x in ("relay_user_ns", "relay_system_ns", "relay_cpu_ns", "cpu_ns")], [4, 4, 4, 2])
        for user, system, both in zip(*(two[x]["samples"] for x in ("relay_user_ns", "relay_system_ns", "relay_cpu_ns"))):
            self.assertAlmostEqual(user + system, both)
            self.assertTrue(1 < both < 100_000, both)
        for first, second, everybody in zip(two["relay_cpu_ns"]["samples"][::2], two["relay_cpu_ns"]["samples"][1::2],
                                            two["cpu_ns"]["samples"]):
            self.assertLess(first + second, everybody)
        self.assertRegex(out, rf"(?m)^ +2 +{two['relay_cpu_ns']['median']:.1f} ")
        self.assertRegex(out, r"(?m)^ +0 +- +- +- +\d+\.\d$")

    def test_a_chain_runs_over_every_transport(self):
        for transport in ("tcp", "unix", "tls"):
            with self.subTest(transport):
                status, out, err = self.run_command("bench", "chain", "--transport", transport, "--relays", "1", "--duration", 0.3,
                                                    "--json", self.report, limit_s=120)
                self.assertEqual(status, 0, out + err)
                self.read_report("chain", CHAIN_MEMBERS)
                with open(self.report, encoding="utf-8") as file:
                    self.assertEqual(json.load(file)["params"]["transport"], transport)

    def test_a_chain_over_sockets_of_the_host_leaves_none_behind(self):
        bench = self.start("bench", "chain", "--transport", "unix", "--relays", 1, "--duration", 0.3, env={"TMPDIR": self.folder})
        self.assertEqual(bench.finish(), 0, bench.err)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_chain_carries_real_records(self):
        log = os.path.join(self.folder, "conn.log")
        with open(log, "w", encoding="utf-8") as file:
            file.write(CONN_LOG)
        status, out, err = self.run_command("bench", "chain", "--relays", "1", "--input", log, "--duration", 0.3,
                                            "--runs", 2, "--json", self.report, limit_s=120)
        self.assertEqual(status, 0, out + err)
        result, = self.read_report("chain", CHAIN_MEMBERS)
        self.assertEqual(len(result["msgs_per_s"]["samples"]), 2)

    def test_a_chain_carries_values_published_and_read_as_trees(self):
        status, out, err = self.run_command("bench", "chain", "--relays", "1", "--messages", "tree", "--duration", 0.3,
                                            "--json", self.report, limit_s=120)
        self.assertEqual(status, 0, out + err)
        self.read_report("chain", CHAIN_MEMBERS)

    def test_a_killed_relay_ends_the_chain_with_an_error(self):
        bench = self.start("bench", "chain", "--relays", 2, "--duration", 50, "--progress")
        relay = int(bench.wait_for_line(r"relay 1: pid (\d+)")[1])
        bench.wait_for_line(r"2 relays: \d+ msgs/s")
        begin = time.monotonic()
        os.kill(relay, signal.SIGKILL)
        self.assertEqual(bench.finish(), 2)
        self.assertLess(time.monotonic() - begin, 20)
        self.assertIn(f"relay 1 (pid {relay}) ended before its work was done: signal 9", bench.err[-1])

    def test_a_killed_bench_leaves_no_children(self):
        bench = self.start("bench", "chain", "--relays", 1, "--duration", 50, "--progress")
        pids = [int(bench.wait_for_line(rf"{name}: pid (\d+)")[1]) for name in ("subscriber", "relay 1", "publisher")]
        handles = [os.pidfd_open(pid) for pid in pids]
        bench.kill()
        for handle in handles:
            with os.fdopen(handle) as file:
                self.assertTrue(self.ends(file.fileno()))

    @staticmethod
    def ends(pidfd, limit_ms=20_000):
        poller = select.poll()
        poller.register(pidfd, select.POLLIN)
        return bool(poller.poll(limit_ms))

    def test_ctrl_c_ends_a_chain(self):
        bench = self.start("bench", "chain", "--relays", 1, "--duration", 50, "--progress")
        bench.wait_for_line(r"publisher: pid")
        bench.child.send_signal(signal.SIGINT)
        self.assertNotEqual(bench.finish(20), 0)

    def test_stream_in_one_process(self):
        for kind in ("fresh", "repeated"):
            with self.subTest(kind):
                status, out, err = self.run_command("bench", "stream", "--mode", "both", "--messages", kind, "--publishers", 2,
                                                    "--subscribers", 2, "--duration", 1.1, "--json", self.report, limit_s=120)
                self.assertEqual(status, 0, out + err)
                self.assertRegex(out, r"(?m)^\d+ msgs/s$")
                self.assertRegex(out, r"published (\d+), delivered \1, dropped 0, duplicated 0, reordered 0")
                self.read_report("stream", MEMBERS | {"cpu_ns"})

    def test_a_stopped_subscriber_sums_up_what_it_has_seen(self):
        sub = self.start("bench", "stream", "--mode", "sub", "--listen", "127.0.0.1:0")
        self.start("bench", "stream", "--mode", "pub", "--peer", f"127.0.0.1:{sub.port()}", "--duration", 50)
        sub.wait_for_line(r"\d+ msgs/s")
        sub.child.send_signal(signal.SIGINT)
        self.assertEqual(sub.finish(), 0, sub.err)
        self.assertRegex(sub.out[-2], r"published (\d+), delivered \1, dropped 0")

    def test_stream_across_processes(self):
        sub = self.start("bench", "stream", "--mode", "sub", "--listen", "127.0.0.1:0")
        relay = self.start("bench", "stream", "--mode", "relay", "--listen", "127.0.0.1:0", "--peer",
                           f"127.0.0.1:{sub.port()}")
        pub = self.start("bench", "stream", "--mode", "pub", "--peer", f"127.0.0.1:{relay.port()}", "--duration", 1.1)
        self.assertEqual(pub.finish(), 0, pub.err)
        self.assertEqual(sub.finish(), 0, sub.out + sub.err)
        self.assertRegex(sub.out[-2], r"published (\d+), delivered \1, dropped 0")
        relay.child.send_signal(signal.SIGINT)
        self.assertEqual(relay.finish(), 0)


if __name__ == "__main__":
    unittest.main()
