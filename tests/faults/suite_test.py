# SPDX-License-Identifier: BSD-3-Clause
"""The suite as a whole: what is planted is found, and what tools/faults prints and returns says so."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from harness.program import Program

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAMS = os.environ.get("PUBSUB_FAULTS_DIR", os.path.join(ROOT, "build/release/tests/faults"))
LAST_LINE = re.compile(r"faults: (\d+) scenarios, (\d+) seeds, (\d+) messages, (\d+) violations")


def run(*arguments):
    """Returns (status, lines of standard output, lines of standard error)."""
    command = [sys.executable, "-B", os.path.join(ROOT, "tools", "faults"), "--build-dir",
               os.path.dirname(os.path.dirname(PROGRAMS)), "--sanitized", *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False)
    return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()


class SuiteTest(unittest.TestCase):
    def test_a_good_run_ends_with_status_0_and_its_sums(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.json")
            status, lines, _ = run("--scenario", "publisher-burst", "--scenario", "overload-policies", "--seeds", "2", "--json", path)
            with open(path, encoding="utf-8") as file:
                written = json.load(file)
        self.assertEqual(status, 0, lines)
        scenarios, seeds, messages, violations = map(int, LAST_LINE.fullmatch(lines[-1]).groups())
        self.assertEqual((scenarios, seeds, violations), (2, 4, 0))
        self.assertEqual(messages, sum(each["messages"] for each in written["runs"]))
        self.assertGreater(messages, 10_000)
        self.assertEqual(written["summary"], lines[-1])

    def test_who_is_stopped_stays_so_when_the_shell_that_started_the_run_ends(self):
        shim = Program(os.path.join(PROGRAMS, "fault_shim"), "shim")
        self.addCleanup(shim.kill)
        self.assertNotEqual(os.getpgid(shim.pid), os.getpgrp())
        self.assertNotEqual(os.getsid(shim.pid), os.getsid(0))

    def test_scenarios_not_run_again_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            first, second, page = (os.path.join(folder, name) for name in ("first.json", "second.json", "page.md"))
            with open(page, "w", encoding="utf-8") as file:
                file.write("before\n<!-- figures: tools/faults --markdown -->\n<!-- end of figures -->\nbehind\n")
            status, lines, _ = run("--scenario", "drained", "--scenario", "ring", "--seeds", "1", "--json", first)
            self.assertEqual(status, 0, lines)
            status, lines, _ = run("--scenario", "drained", "--seeds", "2", "--keep", first, "--json", second, "--markdown", page)
            self.assertEqual(status, 0, lines)
            with open(second, encoding="utf-8") as file:
                rows = {row["scenario"]: row["seeds"] for row in json.load(file)["scenarios"]}
            with open(page, encoding="utf-8") as file:
                table = file.read()
        self.assertEqual(rows, {"drained": 2, "ring": 1})
        self.assertEqual(LAST_LINE.fullmatch(lines[-1]).groups()[:2], ("2", "3"))
        self.assertIn(lines[-1], table)
        self.assertIn("| ring | 1 |", table)
        status, _, said = run("--scenario", "drained", "--keep", "/nowhere")
        self.assertEqual(status, 1)
        self.assertIn("/nowhere is no file of --json", said[-1])

    def test_what_it_is_asked_wrongly_it_says(self):
        status, lines, said = run("--scenario", "no-such-thing")
        self.assertEqual((status, lines), (2, []))
        self.assertIn("invalid choice: 'no-such-thing'", said[-1])
        status, _, said = run("--build-dir", "/nowhere", "--scenario", "ring")
        self.assertEqual(status, 2)
        self.assertIn("build the project first", said[-1])

    def test_the_list_explains_every_scenario(self):
        status, lines, _ = run("--list")
        self.assertEqual(status, 0)
        named = {line.split()[0] for line in lines[::2]}
        self.assertLessEqual({"slow-consumer", "dead-relay", "flapping-link", "ring", "mesh", "partition-and-heal", "relay-restart",
                              "subscriber-churn", "publisher-burst", "thousand-peers", "soak", "open-close"}, named)
        self.assertTrue(all(len(line) > 40 for line in lines[1::2]), lines)

    def test_a_planted_fault_is_found_and_can_be_replayed(self):
        for plant, words in (("loss", "did not arrive"), ("duplicate", "duplicates"), ("reorder", "reorders"),
                             ("damage", "corrupt")):
            with self.subTest(plant=plant):
                status, lines, _ = run("--scenario", "publisher-burst", "--seed", "7", "--plant", plant)
                self.assertEqual(status, 1, lines)
                self.assertGreater(int(LAST_LINE.fullmatch(lines[-1])[4]), 0)
                self.assertTrue(any(line.startswith("violation: publisher-burst, seed 7: ") and words in line for line in lines), lines)
                self.assertTrue(any(line.startswith("replay: tools/faults --scenario publisher-burst --seed 7")
                                    and f"--plant {plant}" in line for line in lines), lines)

    def test_a_fault_that_is_planted_in_a_service_or_its_clients_is_found(self):
        for plant, words in (("loss", "a server that has not done them"), ("duplicate", "done more than once"),
                             ("reorder", "the result of another"), ("damage", "the result of another")):
            with self.subTest(plant=plant):
                status, lines, _ = run("--scenario", "remote", "--seed", "7", "--plant", plant)
                self.assertEqual(status, 1, lines)
                self.assertTrue(any(line.startswith("violation: remote, seed 7: ") and words in line for line in lines), lines)

    def test_a_planted_loss_is_found_where_faults_excuse_some(self):
        status, lines, _ = run("--scenario", "dead-relay", "--seed", "7", "--plant", "loss")
        self.assertEqual(status, 1, lines)
        self.assertTrue(any("no fault explains it" in line for line in lines), lines)

    def test_a_seed_makes_the_same_plan(self):
        plans = []
        for seed in ("5", "5", "6"):
            status, lines, said = run("--scenario", "flapping-link", "-v", "--seed", seed)
            self.assertEqual(status, 0, lines)
            plans.append([line for line in said if line.startswith("  ")])
        self.assertGreater(len(plans[0]), 5)
        self.assertEqual(plans[0], plans[1])
        self.assertNotEqual(plans[0], plans[2])


if __name__ == "__main__":
    unittest.main()
