# SPDX-License-Identifier: BSD-3-Clause
"""`bench remote-study`: modes are measured beside their models, and the report has the promised form."""

import csv
import io
import json
import os
import signal
import tempfile
import unittest

from command import CommandTest

USAGE = 1
MODES = ["sync", "bulk", "async", "pipeline", "hybrid", "auto"]
MEMBERS = ["section", "network", "operation", "operations", "size_bytes", "parts", "work_us", "mode", "seconds",
           "modelled_seconds"]
GRID = MEMBERS + ["sweep", "status", "samples", "bulk_operations", "window_operations"]
ADAPT = MEMBERS + ["changed_from", "before_seconds", "bulk_operations", "window_operations", "best_mode", "best_seconds",
                   "ratio"]


class Remote(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.report = os.path.join(folder.name, "report.json")

    def bench(self, *arguments):
        return self.run_command("bench", "remote-study", *arguments, limit_s=220)

    def read(self, text=None):
        if text is None:
            with open(self.report, encoding="utf-8") as file:
                text = file.read()
        report = json.loads(text)
        self.assertEqual(list(report), ["schema", "benchmark", "machine", "params", "results"])
        self.assertEqual((report["schema"], report["benchmark"]), (1, "remote"))
        for result in report["results"]:
            self.assertEqual(list(result), {"grid": GRID, "adapt": ADAPT}[result["section"]])
        return report

    def test_every_mode_is_measured_beside_its_model(self):
        status, out, err = self.bench("--quick", "--network", "loopback", "--only", "grid", "--rounds", 1, "--json", self.report)
        self.assertEqual(status, 0, out + err)
        report = self.read()
        rows = report["results"]
        self.assertEqual({row["sweep"] for row in rows}, {"operations", "size", "work", "split"})
        self.assertEqual({row["operation"] for row in rows}, {"noop", "faop"})
        small = [row for row in rows if row["sweep"] == "operations" and row["operations"] == 10]
        self.assertEqual([row["mode"] for row in small], MODES)
        for row in rows:
            self.assertIn(row["status"], ("measured", "modelled"), row)
            self.assertGreater(row["modelled_seconds"], 0)
            self.assertEqual(row["seconds"] is None, row["status"] == "modelled")
            if row["seconds"] is not None:
                self.assertGreater(row["seconds"], row["work_us"] / 1e6, row)
        self.assertEqual(list(report["params"]["conditions"]), ["loopback"])
        for conclusion in report["params"]["conclusions"]:
            self.assertIn(conclusion["verdict"], ("holds", "does not hold", "not measured"))
        self.assertIn("loopback, noop: operations of 24 bytes", out)
        self.assertRegex(out, r"ours: auto is within 10 % of the best fixed mode in every cell\n +\d+ of \d+ cells within")

    def test_a_link_between_is_as_slow_as_it_says(self):
        status, out, err = self.bench("--quick", "--network", "wan", "--only", "grid", "--rounds", 1, "--patience", 0.3,
                                      "--json", "-")
        self.assertEqual(status, 0, out + err)
        report = self.read(out)
        self.assertGreater(report["params"]["conditions"]["wan"]["latency_s"], 0.039)
        self.assertLess(report["params"]["conditions"]["wan"]["down_bytes_per_s"], 7.5e6 / 8)
        measured = [row for row in report["results"] if row["seconds"] is not None]
        self.assertTrue({"sync", "bulk", "auto"} <= {row["mode"] for row in measured})
        for row in measured:
            self.assertGreater(row["seconds"], 0.039, row)
            if row["mode"] == "sync":
                self.assertGreater(row["seconds"], 0.039 * row["operations"], row)
        skipped = [row for row in report["results"] if row["seconds"] is None]
        self.assertIn(("sync", 1000), {(row["mode"], row["operations"]) for row in skipped})

    def test_a_link_that_changes_is_followed(self):
        status, out, err = self.bench("--only", "adapt", "--json", self.report)
        self.assertEqual(status, 0, out + err)
        rows = self.read()["results"]
        self.assertEqual([(row["changed_from"], row["network"]) for row in rows], 3 * [("lan", "wan"), ("wan", "lan")])
        for row in rows:
            self.assertAlmostEqual(row["ratio"], row["seconds"] / row["best_seconds"])
            if row["network"] == "wan":
                self.assertGreater(row["seconds"], 0.039)

    def test_csv_has_a_line_a_mode_in_a_cell(self):
        status, out, err = self.bench("--quick", "--network", "loopback", "--only", "grid", "--rounds", 1, "--csv", "-")
        self.assertEqual(status, 0, out + err)
        lines = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual([line["mode"] for line in lines[:6]], MODES)
        for line in lines:
            self.assertEqual(line["network"], "loopback")
            self.assertGreater(float(line["modelled_seconds"]), 0)
            self.assertEqual(line["status"] == "measured", line["seconds"] != "")

    def test_ctrl_c_ends_it(self):
        bench = self.start("bench", "remote-study", "--network", "loopback", "--only", "grid", "--rounds", 1, "--progress")
        bench.wait_for_line("loopback, noop: operations of 24 bytes: 1:")
        bench.child.send_signal(signal.SIGINT)
        self.assertEqual(bench.finish(20), USAGE)

    def test_wrong_options_are_usage_errors(self):
        for option, value in (("--network", "moon"), ("--only", "both"), ("--rounds", "0"), ("--patience", "0"),
                              ("--workers", "0")):
            status, out, err = self.bench(option, value)
            self.assertEqual(status, USAGE, f"{option} {value}: {out}{err}")
            self.assertIn(option, out + err)


if __name__ == "__main__":
    unittest.main()
