# SPDX-License-Identifier: BSD-3-Clause
"""`bench batch-ack`: every task comes once, never too many are in flight, and the report has the promised form."""

import json
import os
import signal
import stat
import tempfile
import unittest

from command import CommandTest

BENCH_DIR = os.environ.get("PUBSUB_BENCH_DIR")
USAGE, CONNECT, LOSS = 1, 2, 3
MEMBERS = ["mode", "batch", "window", "who", "version", "status", "ours_to_it", "msgs_per_s", "in_flight_max", "rss_bytes",
           "published", "delivered", "dropped", "duplicated", "reordered"]


class BatchAck(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.peers = folder.name
        self.report = os.path.join(folder.name, "report.json")

    def bench(self, *arguments, peers=None):
        return self.run_command("bench", "batch-ack", "--peers-dir", peers or self.peers, *arguments, limit_s=200)

    def results(self, text=None):
        if text is None:
            with open(self.report, encoding="utf-8") as file:
                text = file.read()
        report = json.loads(text)
        self.assertEqual(list(report), ["schema", "benchmark", "machine", "params", "results"])
        self.assertEqual((report["schema"], report["benchmark"]), (1, "batch-ack"))
        for result in report["results"]:
            self.assertEqual(list(result), MEMBERS)
            self.assertEqual(list(result["msgs_per_s"]), ["median", "min", "max", "samples"])
            self.assertEqual(list(result["rss_bytes"]), ["ventilator", "workers", "sink"])
        return report["results"]

    def check_measured(self, row, tasks, workers):
        self.assertEqual(row["status"], "measured", row)
        self.assertGreater(row["msgs_per_s"]["median"], 0)
        self.assertEqual((row["published"], row["delivered"]), (tasks, tasks))
        self.assertEqual((row["dropped"], row["duplicated"], row["reordered"]), (0, 0, 0))
        self.assertTrue(0 < row["in_flight_max"] <= row["window"], row)
        self.assertEqual(len(row["rss_bytes"]["workers"]), workers)
        for size in (row["rss_bytes"]["ventilator"], row["rss_bytes"]["sink"], *row["rss_bytes"]["workers"]):
            self.assertGreater(size, 1 << 20)

    def add_peer(self, name, script):
        """A program of bench/ that does what the test wants."""
        path = os.path.join(self.peers, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(path, stat.S_IRWXU)

    def add_peer_with_figures(self, delivered, in_flight):
        line = {"peer": "libzmq", "version": "1.2", "msgs_per_s": 1e5, "published": 500, "delivered": delivered,
                "lost": 500 - delivered, "disordered": 0, "in_flight_max": in_flight, "sink_bytes": 3, "worker_bytes": [2],
                "ventilator_bytes": 1}
        self.add_peer("batch_ack_zmq", f"echo '{json.dumps(line, separators=(',', ':'))}'\n")

    def test_every_batch_in_every_mode_has_a_row(self):
        status, out, err = self.bench("--tasks", 3000, "--batch", "3000,100,10", "--window", 500, "--workers", 2, "--rounds", 2,
                                      "--json", self.report)
        self.assertEqual(status, 0, out + err)
        results = self.results()
        ours = [x for x in results if x["who"] == "libpubsub"]
        self.assertEqual([(x["mode"], x["batch"], x["window"]) for x in ours],
                         [("unacknowledged", 3000, 3000), ("one_batch", 100, 100), ("one_batch", 10, 10),
                          ("window", 100, 500), ("window", 10, 500)])
        for row in ours:
            self.assertEqual((len(row["msgs_per_s"]["samples"]), row["ours_to_it"]), (2, 1))
            self.assertEqual((row["published"], row["delivered"]), (6000, 6000))
            self.check_measured({**row, "published": 3000, "delivered": 3000}, 3000, 2)
        for row in results:
            if row["who"] != "libpubsub":
                self.assertEqual((row["status"], row["msgs_per_s"]["median"], row["ours_to_it"]), ("not installed", 0, None))
        self.assertEqual({x["who"] for x in results}, {"libpubsub", "libzmq", "pyzmq"})
        self.assertIn("batch 10, one in flight\n", out)
        self.assertRegex(out, r"(?m)^  libzmq +not installed$")

    def test_a_dash_puts_the_report_on_stdout_alone(self):
        status, out, err = self.bench("--tasks", 200, "--batch", 10, "--workers", 1, "--rounds", 1, "--json", "-")
        self.assertEqual(status, 0, out + err)
        self.assertEqual(len(self.results(out)), 6)

    def test_batches_larger_than_the_window_or_given_twice_are_left_out(self):
        status, out, err = self.bench("--tasks", 300, "--batch", "100,100,400,300", "--window", 50, "--workers", 1, "--rounds", 1,
                                      "--json", self.report)
        self.assertEqual(status, 0, out + err)
        self.assertEqual([(x["mode"], x["batch"]) for x in self.results() if x["who"] == "libpubsub"],
                         [("unacknowledged", 300), ("one_batch", 100)])

    def test_a_peer_gets_the_same_setting_and_its_figures_are_read(self):
        line = ('{"peer":"libzmq","version":"9","msgs_per_s":1000,"published":500,"delivered":500,"lost":0,"disordered":0,'
                '"in_flight_max":40,"sink_bytes":3,"worker_bytes":[2,4],"ventilator_bytes":1}')
        self.add_peer("batch_ack_zmq", f"echo \"$@\" >>{self.peers}/said\necho '{line}'\n")
        status, out, err = self.bench("--tasks", 500, "--batch", 20, "--window", 50, "--workers", 2, "--rounds", 1,
                                      "--json", self.report)
        with open(os.path.join(self.peers, "said"), encoding="utf-8") as file:
            said = file.read()
        self.assertEqual(said, "--tasks 500 --batch 20 --in-flight 1 --workers 2\n--tasks 500 --batch 20 --in-flight 2 --workers 2\n")
        self.assertEqual(status, CONNECT, out + err)  # one batch of 20 in flight: 40 are too many
        self.assertIn("batch 20, one in flight: libzmq: 40 tasks were in flight, of at most 20", err)
        row, = [x for x in self.results() if x["who"] == "libzmq" and x["mode"] == "window"]
        self.assertEqual((row["version"], row["status"], row["window"], row["in_flight_max"]), ("9", "measured", 40, 40))
        self.assertEqual(row["rss_bytes"], {"ventilator": 1, "workers": [2, 4], "sink": 3})

    def test_a_peer_that_loses_a_task_fails_the_run(self):
        self.add_peer_with_figures(delivered=499, in_flight=500)
        status, out, err = self.bench("--tasks", 500, "--batch", 500, "--workers", 1, "--rounds", 1, "--json", self.report)
        self.assertEqual(status, LOSS, out + err)
        self.assertIn("libzmq: of 500 tasks 500 were acknowledged, 499 arrived, 0 came twice", err)

    def test_a_peer_that_fails_is_said(self):
        self.add_peer("batch_ack_zmq", "exit 7\n")
        status, out, err = self.bench("--tasks", 500, "--batch", 500, "--workers", 1, "--rounds", 1)
        self.assertEqual(status, CONNECT, out + err)
        self.assertIn("batch 500, all in flight: libzmq: exit status 7", err)
        self.assertRegex(out, r"(?m)^  libzmq +failed: exit status 7$")

    @unittest.skipUnless(BENCH_DIR, "built without PUBSUB_BUILD_BENCH")
    def test_the_peers_that_were_built_lose_nothing(self):
        status, out, err = self.bench("--tasks", 3000, "--batch", "3000,99", "--workers", 2, "--rounds", 1, "--json", self.report,
                                      peers=BENCH_DIR)
        self.assertEqual(status, 0, out + err)
        for row in self.results():
            if "not installed" not in row["status"]:
                self.check_measured(row, 3000, 2)

    def test_uneven_workers_are_measured_with_either_balancing(self):
        status, out, err = self.bench("--uneven", 3, "--task-time", "500us", "--tasks", 300, "--workers", 2, "--rounds", 1,
                                      "--json", self.report)
        self.assertEqual(status, 0, out + err)
        with open(self.report, encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(report["benchmark"], "batch-ack-uneven")
        self.assertEqual((report["params"]["task_ms"], report["params"]["uneven"]), (0.5, 3))
        self.assertEqual([x["balance"] for x in report["results"]], ["least_outstanding", "round_robin"])
        for row in report["results"]:
            self.assertEqual(list(row), ["balance", "msgs_per_s", "ratio_to_sum_of_workers"])
            self.assertTrue(0 < row["ratio_to_sum_of_workers"]["median"] <= 1.05, row)

    def test_ctrl_c_ends_it(self):
        bench = self.start("bench", "batch-ack", "--tasks", 10_000_000, "--batch", 10, "--rounds", 50, "--peers-dir", self.peers,
                           "--json", "/dev/null")
        bench.child.send_signal(signal.SIGINT)
        self.assertNotEqual(bench.finish(20), 0)

    def test_wrong_options_are_usage_errors(self):
        for option, value in (("--batch", "0"), ("--batch", "10,few"), ("--tasks", "0"), ("--tasks", "-5"), ("--workers", "0"),
                              ("--window", "0"), ("--rounds", "0"), ("--peers-dir", "/no/such"), ("--uneven", "0.5")):
            status, out, err = self.bench(option, value)
            self.assertEqual(status, USAGE, f"{option} {value}: {out}{err}")
            self.assertIn(option, out + err)
        status, out, err = self.bench("--uneven", "2", "--task-time", "1fortnight")
        self.assertEqual(status, USAGE)
        self.assertIn("--task-time", out + err)


if __name__ == "__main__":
    unittest.main()
