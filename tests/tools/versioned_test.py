# SPDX-License-Identifier: BSD-3-Clause
"""`bench versioned`: every scheme is measured and checked, and the report has the promised form."""

import csv
import io
import json
import os
import signal
import tempfile
import unittest

from command import CommandTest

USAGE, LOSS = 1, 3
SCHEMES = ["none", "version_request", "message_returns_version", "one_hop", "one_hop_ack_client", "tagged"]
MEMBERS = ["scheme", "payload_bytes", "pipelined", "status", "messages", "seconds_per_million", "ack_latency_us", "msgs_per_s",
           "hops", "bare_ping_pong_us", "ratio_per_hop", "bytes_per_message", "system_calls_per_message",
           "context_switches_per_message", "cpu_us_per_message", "checked", "violations"]


class Versioned(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.report = os.path.join(folder.name, "report.json")

    def bench(self, *arguments):
        return self.run_command("bench", "versioned", *arguments, limit_s=200)

    def results(self, text=None):
        if text is None:
            with open(self.report, encoding="utf-8") as file:
                text = file.read()
        report = json.loads(text)
        self.assertEqual(list(report), ["schema", "benchmark", "machine", "params", "results"])
        self.assertEqual((report["schema"], report["benchmark"]), (1, "versioned"))
        for result in report["results"]:
            self.assertEqual(list(result), MEMBERS)
            self.assertEqual(list(result["ack_latency_us"]), ["p50", "p99"])
            self.assertEqual(list(result["msgs_per_s"]), ["median", "min", "max", "samples"])
        return report["results"]

    def check_measured(self, row):
        self.assertEqual((row["status"], row["violations"]), ("measured", 0), row)
        self.assertGreater(row["seconds_per_million"], 0)
        self.assertTrue(0 < row["ack_latency_us"]["p50"] <= row["ack_latency_us"]["p99"], row)
        self.assertGreater(row["bytes_per_message"], 3 * row["payload_bytes"])
        self.assertEqual(row["ratio_per_hop"] is None, row["pipelined"])

    def test_every_scheme_is_measured_and_its_histories_agree(self):
        status, out, err = self.bench("--payload", "10,3000", "--duration", 0.1, "--rounds", 1, "--check",
                                      "--json", self.report)
        self.assertEqual(status, 0, out + err)
        results = self.results()
        self.assertEqual([(x["payload_bytes"], x["pipelined"], x["scheme"]) for x in results],
                         [(payload, pipelined, scheme) for payload in (10, 3000) for pipelined in (False, True)
                          for scheme in SCHEMES])
        for row in results:
            self.check_measured(row)
            self.assertGreaterEqual(row["checked"], 3 * row["messages"])
        self.assertIn("10 bytes, one outstanding; a bare TCP ping-pong takes", out)
        self.assertRegex(out, r"(?m)^checked: \d+ messages at replicas, 0 violations$")

    def test_several_clients_send_so_many_messages_each(self):
        status, out, err = self.bench("--payload", 100, "--clients", 3, "--messages", 2000, "--only", "pipelined", "--check",
                                      "--scheme", "one_hop_ack_client,tagged", "--rounds", 2, "--json", "-")
        self.assertEqual(status, 0, out + err)
        results = self.results(out)
        self.assertEqual([x["scheme"] for x in results], ["one_hop_ack_client", "tagged"])
        for row in results:
            self.check_measured(row)
            self.assertEqual((row["messages"], len(row["msgs_per_s"]["samples"])), (12000, 2))

    def test_a_violation_is_said_and_ends_with_the_status_of_a_loss(self):
        for scheme, sentence in (("none", "replica 2 lacks message"), ("one_hop", "replica 2: .* follows .*: not the next number")):
            status, out, err = self.bench("--payload", 10, "--duration", 0.05, "--rounds", 1, "--only", "outstanding", "--check",
                                          "--scheme", scheme, "--spoil")
            self.assertEqual(status, LOSS, out + err)
            self.assertRegex(err, sentence)
            self.assertIn("violated: ", out)

    def test_csv_has_a_line_a_result(self):
        status, out, err = self.bench("--payload", 100, "--duration", 0.05, "--rounds", 1, "--scheme", "one_hop",
                                      "--replicas", 2, "--csv", "-")
        self.assertEqual(status, 0, out + err)
        lines = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual([(x["scheme"], x["payload_bytes"], x["pipelined"], x["status"]) for x in lines],
                         [("one_hop", "100", "false", "measured"), ("one_hop", "100", "true", "measured")])
        for line in lines:
            self.assertGreater(float(line["seconds_per_million"]), 0)

    def test_ctrl_c_ends_it(self):
        bench = self.start("bench", "versioned", "--rounds", 50, "--progress")
        bench.wait_for_line("round 1/50: 10 bytes: none: ")
        bench.child.send_signal(signal.SIGINT)
        self.assertEqual(bench.finish(20), USAGE)

    def test_wrong_options_are_usage_errors(self):
        for option, value in (("--payload", "9"), ("--payload", "10,few"), ("--scheme", "two_hops"), ("--duration", "0"),
                              ("--messages", "0"), ("--replicas", "0"), ("--clients", "0"), ("--window", "0"),
                              ("--rounds", "0"), ("--only", "both")):
            status, out, err = self.bench(option, value)
            self.assertEqual(status, USAGE, f"{option} {value}: {out}{err}")
            self.assertIn(option, out + err)


if __name__ == "__main__":
    unittest.main()
