# SPDX-License-Identifier: BSD-3-Clause
"""`bench remote`: operations per second are measured beside others, and the report has the promised form."""

import json
import os
import tempfile
import unittest

from command import CommandTest

USAGE = 1
SPEED = ["section", "network", "operation", "operations", "size_bytes", "parts", "work_us", "mode", "seconds",
         "modelled_seconds", "who", "status", "operations_per_s"]


class Remote(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.report = os.path.join(folder.name, "report.json")

    def bench(self, *arguments):
        return self.run_command("bench", "remote", *arguments, limit_s=220)

    def read(self):
        with open(self.report, encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(list(report), ["schema", "benchmark", "machine", "params", "results"])
        self.assertEqual((report["schema"], report["benchmark"]), (1, "remote"))
        for result in report["results"]:
            self.assertEqual(list(result), SPEED)
        return report

    def test_speed_is_measured_beside_others(self):
        status, out, err = self.bench("--quick", "--only", "speed", "--rounds", 1, "--json", self.report)
        self.assertEqual(status, 0, out + err)
        rows = self.read()["results"]
        ours = {(row["mode"], row["operation"]): row for row in rows if row["who"] == "libpubsub"}
        self.assertEqual(set(ours), {("bulk", "noop"), ("pipeline", "noop"), ("sync", "noop"), ("sync", "faop"),
                                     ("bulk", "faop"), ("pipeline", "faop")})
        for row in ours.values():
            self.assertEqual(row["status"], "measured")
            self.assertGreater(row["operations_per_s"]["median"], 0)
        others = {row["who"] for row in rows} - {"libpubsub"}
        self.assertEqual(others, {"bare TCP", "bare sendfile", "NATS", "libzmq"})
        self.assertIn("plain loopback, operations per second", out)

    def test_programs_that_are_not_there_are_said_to_be_so(self):
        status, out, err = self.bench("--quick", "--only", "speed", "--rounds", 1, "--peers", "/nowhere")
        self.assertEqual(status, 0, out + err)
        self.assertRegex(out, r"(?m)^  NATS +pipeline +noop +24 not installed$")
        self.assertRegex(out, r"not measured +ours: a pipeline does 1.5 times what the better peer does")

    def test_wrong_options_are_usage_errors(self):
        for option, value in (("--only", "both"), ("--rounds", "0"), ("--workers", "0")):
            status, out, err = self.bench(option, value)
            self.assertEqual(status, USAGE, f"{option} {value}: {out}{err}")
            self.assertIn(option, out + err)


if __name__ == "__main__":
    unittest.main()
