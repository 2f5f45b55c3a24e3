# SPDX-License-Identifier: BSD-3-Clause
"""Each benchmark of ourselves, in its shortest form: its status, and the members of its file."""

import json
import os
import re
import signal
import tempfile
import time
import unittest

from command import CONN_LOG, NO_JSON, CommandTest

LOSS = ("published", "delivered", "dropped")
PERCENTILES = ("p50", "p90", "p99", "p99_9", "p99_99", "max")
TYPES = ["none", "boolean", "count", "integer", "real", "string", "address", "subnet", "port", "timestamp", "timespan",
         "enum-value", "set", "table", "vector"]


class BenchCosts(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.report = os.path.join(folder.name, "report.json")

    def bench(self, name, *arguments):
        """Runs it; returns (results, stdout)."""
        status, out, err = self.run_command("bench", name, *arguments, "--json", self.report, limit_s=120)
        self.assertEqual(status, 0, out + err)
        with open(self.report, encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(list(report), ["schema", "benchmark", "machine", "params", "results"])
        self.assertEqual((report["schema"], report["benchmark"]), (1, name))
        return report["results"], out

    def check_statistics(self, x, samples):
        self.assertEqual(list(x), ["median", "min", "max", "samples"])
        self.assertEqual(len(x["samples"]), samples)
        self.assertTrue(0 < x["min"] <= x["median"] <= x["max"])

    def check_books(self, result):
        published, delivered, dropped = (result[key] for key in LOSS)
        self.assertGreater(published, 0)
        self.assertEqual((delivered, dropped), (published, 0))

    def check_latency(self, result):
        self.check_books(result)
        self.check_statistics(result["msgs_per_s"], 2)
        self.check_statistics(result["p50_ns"], 2)
        values = [result["latency_ns"][key] for key in PERCENTILES]
        self.assertEqual(values, sorted(values))
        self.assertGreater(result["latency_ns"]["min"], 0)

    def test_latency_over_a_peering_beside_bare_tcp(self):
        results, out = self.bench("latency", "--limit", "--rate", "0,200", "--duration", 0.1, "--runs", 2)
        self.assertEqual([(x["over"], x["rate_per_s"]) for x in results],
                         [(over, rate) for rate in (0, 200) for over in ("libpubsub", "bare tcp")])
        for result in results:
            self.check_latency(result)
        self.assertEqual([x["published"] for x in results[2:]], [40, 40])  # the pace decides, not the answers
        self.assertGreater(results[0]["ratio_to_bare_tcp"]["p50"], 0)
        self.assertNotIn("ratio_to_bare_tcp", results[1])
        self.assertRegex(out, r"unpaced, libpubsub / bare tcp: p50 \d+\.\d\d, p99 \d+\.\d\d")

    def test_latency_within_the_host_beside_an_eventfd_and_bare_tcp(self):
        results, out = self.bench("latency", "--transport", "unix", "--limit", "--rate", 200, "--duration", 0.1, "--runs", 2)
        self.assertEqual([x["over"] for x in results], ["libpubsub", "bare eventfd", "bare tcp"])
        for result in results:
            self.check_latency(result)
            self.assertEqual(result["published"], 40)
        for limit, row in zip(("bare_eventfd", "bare_tcp"), results[1:]):
            ratio = results[0][f"ratio_to_{limit}"]["p50"]
            self.assertAlmostEqual(ratio, results[0]["p50_ns"]["median"] / row["p50_ns"]["median"])
        self.assertRegex(out, r"at 200/s, libpubsub / bare eventfd: p50 \d+\.\d\d, p99 \d+\.\d\d")

    def test_latency_over_tls(self):
        results, _ = self.bench("latency", "--transport", "tls", "--limit", "--rate", 0, "--duration", 0.1, "--runs", 2)
        self.assertEqual([x["over"] for x in results], ["libpubsub", "bare tcp"])
        for result in results:
            self.check_latency(result)

    def test_latency_in_one_process(self):
        (result,), _ = self.bench("latency", "--local", "--rate", 0, "--duration", 0.1, "--runs", 2, "--payload", 0)
        self.check_latency(result)

    def test_a_rate_that_cannot_be_kept_is_named_and_shows_in_the_times(self):
        status, out, err = self.run_command("bench", "latency", "--rate", 1000000, "--duration", 0.3, "--runs", 1,
                                            "--json", self.report)
        self.assertEqual(status, 0, out + err)
        self.assertRegex(err, r"1e\+06 messages/s were asked for, \d+ possible|1000000 messages/s were asked for")
        with open(self.report, encoding="utf-8") as file:
            result, = json.load(file)["results"]
        self.assertGreater(result["latency_ns"]["max"], 50_000_000)  # the last ones wait since they were due

    def test_a_killed_echo_is_noticed(self):
        bench = self.start("bench", "latency", "--rate", 0, "--duration", 50, "--timeout", 1)
        os.kill(self.child_of(bench.child.pid), signal.SIGKILL)
        self.assertIn(bench.finish(60), (2, 4))

    def read_until(self, path, pattern, limit_s=20):
        """Reads a file of /proc again and again until it fits; returns the match."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            with open(path, encoding="utf-8") as file:
                if found := re.search(pattern, file.read()):
                    return found
            time.sleep(0.01)
        raise AssertionError(f"{path} never fitted {pattern!r}")

    def child_of(self, pid):
        return int(self.read_until(f"/proc/{pid}/task/{pid}/children", r"\d+")[0])

    def test_fanout_delivers_everything_to_everyone(self):
        for kind in ("fresh", "repeated"):
            with self.subTest(kind):
                results, _ = self.bench("fanout", "--messages", kind, "--subscribers", "1,3", "--duration", 0.1, "--runs", 2)
                self.assertEqual([x["subscribers"] for x in results], [1, 3])
                for result in results:
                    self.check_books(result)
                    for key in ("msgs_per_s", "ns_per_message", "cpu_ns_per_delivery"):
                        self.check_statistics(result[key], 2)
                self.assertNotIn("ns_per_extra_subscriber", results[0])
                self.assertIn("ns_per_extra_subscriber", results[1])

    def test_routing_measures_every_way_to_subscribe(self):
        results, _ = self.bench("routing", "--subscriptions", "1,50", "--by", "filter,topics,subscribers")
        self.assertEqual([(x["subscriptions"], x["way"]) for x in results],
                         [(n, way) for n in (1, 50) for way in ("filter", "topics", "subscribers")])
        for result in results:
            self.check_books(result)
            self.assertGreater(result["add_s"], 0)
            self.assertIn("heap_bytes_per_subscription", result)
            self.assertIn("resident_bytes_per_subscription", result)
            for key in ("publish_match_ns", "publish_other_ns", "publisher_ns", "msgs_per_s"):
                self.check_statistics(result[key], 9)
            self.assertGreater(result["add_ns"]["median"], 0)
            self.assertGreater(result["remove_ns"]["median"], 0)

    def test_routing_skips_what_takes_too_long_and_says_so(self):
        results, out = self.bench("routing", "--subscriptions", "1000000", "--by", "subscribers", "--time-limit", 0.3)
        self.assertRegex(results[0]["skipped"], r"^(starting|adding) took longer than 0\.3 s$")
        self.assertRegex(out, r"skipped: (starting|adding) took longer than 0\.3 s")

    def test_codec_measures_every_type_and_a_record(self):
        log = os.path.join(self.folder, "conn.log")
        with open(log, "w", encoding="utf-8") as file:
            file.write(CONN_LOG)
        results, _ = self.bench("codec", "--input", log, "--runs", 3, "--duration", 0.001)
        operations = ["encode", "view", "value", "json_encode"] + ([] if NO_JSON else ["json_decode"])
        self.assertEqual([(x["type"], x["operation"]) for x in results],
                         [(kind, step) for kind in TYPES + ["conn event, 7 fields"] for step in operations])
        for result in results:
            self.check_statistics(result["ns"], 3)
            self.check_statistics(result["msgs_per_s"], 3)

    def test_condition_says_how_many_records_fulfil_each_and_what_one_costs(self):
        log = os.path.join(self.folder, "conn.log")
        with open(log, "w", encoding="utf-8") as file:
            file.write(CONN_LOG)
        wanted = {"id.orig_p == 80/tcp": 1, "uid in \"C\"*": 3, "exists(uid) && ts < 2020-01-01T00:00:00Z": 0}
        results, _ = self.bench("condition", "--input", log, "--runs", 3, "--duration", 0.001, *sum((["--where", each] for each in wanted), []))
        self.assertEqual({x["condition"]: x["kept"] for x in results}, wanted)
        for result in results:
            self.check_statistics(result["ns"], 3)

    def test_idle_peers_stay_connected(self):
        (result,), out = self.bench("idle", "--peers", 2, "--subscriptions", 10, "--duration", 0.3)
        self.check_books(result)
        self.assertGreaterEqual(result["cpu_share"], 0)
        self.assertGreaterEqual(result["seconds"], 0.3)
        self.assertRegex(out, r"^2 peers, 10 subscriptions: \d+\.\d+ % of a core")

    def test_memory_of_queued_messages(self):
        results, _ = self.bench("memory", "--payload", "16,300", "--messages", 5000)
        self.assertEqual([(x["payload_bytes"], x["kind"]) for x in results],
                         [(n, kind) for n in (16, 300) for kind in ("encoded", "value", "received")])
        for result in results:
            self.check_books(result)
            for key in ("heap_bytes_per_message", "resident_bytes_per_message", "overhead_bytes"):
                self.assertIn(key, result)

    def test_ctrl_c_ends_every_benchmark(self):
        for command in (["latency", "--rate", 0.1, "--duration", 50], ["fanout", "--duration", 50],
                        ["routing", "--subscriptions", 1000000, "--by", "subscribers"], ["idle", "--duration", 50]):
            with self.subTest(command[0]):
                bench = self.start("bench", *command)
                self.read_until(f"/proc/{bench.child.pid}/status", r"SigBlk:\s*[0-9a-f]*[2367abef]\n")  # SIGINT is taken
                bench.child.send_signal(signal.SIGINT)
                self.assertEqual(bench.finish(20), 1)


if __name__ == "__main__":
    unittest.main()
