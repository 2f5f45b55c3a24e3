# SPDX-License-Identifier: BSD-3-Clause
"""`bench compare`: every contestant has a row, ratios are right, what is missing is said."""

import csv
import io
import json
import os
import signal
import stat
import tempfile
import unittest
from unittest.mock import patch

from command import CONN_LOG, CommandTest

BENCH_DIR = os.environ.get("PUBSUB_BENCH_DIR")
SHORT = ("--duration", 0.2, "--rounds", 1)
MEMBERS = ["setup", "messages", "relays", "who", "usage", "role", "version", "status", "ratio_to_limit", "ours_to_it",
           "cpu_ns", "relay_cpu_ns", "payload_bytes", "msgs_per_s", "published", "delivered", "dropped", "duplicated", "reordered"]


class Compare(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.peers = os.path.join(folder.name, "peers")
        os.mkdir(self.peers)
        self.report = os.path.join(folder.name, "report.json")

    def compare(self, *arguments, peers=None):
        return self.run_command("bench", "compare", "--peers-dir", peers or self.peers, "--json", self.report, *arguments,
                                limit_s=200)

    def results(self):
        with open(self.report, encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(list(report), ["schema", "benchmark", "machine", "params", "results"])
        self.assertEqual((report["schema"], report["benchmark"]), (1, "compare"))
        for result in report["results"]:
            self.assertEqual(list(result), MEMBERS)
        return report["results"]

    def add_peer(self, name, script):
        """A program of bench/ that does what the test wants."""
        path = os.path.join(self.peers, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(path, stat.S_IRWXU)

    def add_peer_with_figures(self, name, rate, lost=0, **more):
        line = {"peer": name, "version": "1.2", "msgs_per_s": rate, "published": 100, "delivered": 100 - lost,
                "lost": lost, "disordered": 0, **more}
        self.add_peer(name, f"echo '{json.dumps(line, separators=(',', ':'))}'\n")

    def test_what_is_not_installed_has_a_row_that_says_so(self):
        status, out, err = self.compare(*SHORT, "--relays", 1)
        self.assertEqual(status, 0, out + err)
        results = self.results()
        self.assertEqual({(x["setup"], x["messages"], x["relays"]) for x in results},
                         {("local", "fresh", 0), ("local", "repeated", 0), ("host", "fresh", 0), ("chain", "fresh", 1), ("chain", "tree", 0)})
        for x in results:
            ours = x["who"] == "libpubsub"
            self.assertEqual(x["status"], "measured" if ours else "not installed")
            self.assertEqual(x["msgs_per_s"]["median"] > 0, ours)
            self.assertEqual(x["cpu_ns"] is not None, ours)
            self.assertEqual(x["relay_cpu_ns"] is not None, ours and x["relays"] > 0)
            self.assertEqual((x["published"] > 0, x["published"], x["dropped"]), (ours, x["delivered"], 0))
            self.assertIsNone(x["ratio_to_limit"])
        self.assertEqual({x["who"] for x in results},
                         {"bare ring", "bare TCP copy", "libpubsub", "libzmq", "nng", "NATS", "Broker", "Aeron"})
        self.assertRegex(out, r"(?m)^  NATS +not installed$")
        self.assertIn("PUBSUB_BUILD_BENCH=ON", err)

    def test_ratios_are_those_of_the_rates(self):
        self.add_peer_with_figures("bare_chain", 2e6)
        self.add_peer_with_figures("peer_zmq", 5e5)
        status, out, err = self.compare("--only", "chain", "--relays", 0, "--duration", 0.2, "--rounds", 2)
        self.assertEqual(status, 0, out + err)
        rows = {x["who"] + x["usage"]: x for x in self.results()}
        zmq, ours = rows["libzmqPUB/SUB"], rows["libpubsub"]
        self.assertEqual([rows["libpubsub" + x]["role"] for x in ("version 1", "over unix://")], ["variant", "variant"])
        self.assertEqual((zmq["version"], zmq["ratio_to_limit"], zmq["msgs_per_s"]["median"]), ("1.2", 0.25, 5e5))
        self.assertEqual((len(ours["msgs_per_s"]["samples"]), ours["ours_to_it"]), (2, 1))
        self.assertAlmostEqual(ours["ratio_to_limit"], ours["msgs_per_s"]["median"] / 2e6, places=3)
        self.assertAlmostEqual(zmq["ours_to_it"], ours["msgs_per_s"]["median"] / 5e5, places=3)
        table = list(csv.DictReader(io.StringIO(out[out.index("setup,messages"):])))
        self.assertEqual([(x["who"], x["usage"]) for x in table][:4],
                         [("bare TCP copy", ""), ("libpubsub", ""), ("libpubsub", "over unix://"), ("libpubsub", "version 1")])
        self.assertEqual((table[4]["who"], table[4]["ratio_to_limit"]), ("libzmq", "0.2500"))

    def test_two_processes_of_one_host_stand_beside_aeron(self):
        self.add_peer_with_figures("bare_chain", 2e6)
        self.add_peer("peer_aeron", """case "$*" in
*"--setup chain --messages fresh --relays 0 "*" --pattern yield") rate=4e6;;
*"--setup chain --messages fresh --relays 0 "*" --pattern backoff") rate=1e6;;
*) exit 1;;
esac
echo '{"peer":"Aeron","version":"1","msgs_per_s":'$rate',"published":9,"delivered":9,"lost":0,"disordered":0,"cpu_ns":21.5}'
""")
        status, out, err = self.compare(*SHORT, "--only", "host")
        self.assertEqual(status, 0, out + err)
        rows = {x["who"] + x["usage"]: x for x in self.results()}
        ours = rows["libpubsubover unix://"]
        self.assertEqual((ours["role"], rows["libpubsubover TCP"]["role"]), ("ours", "variant"))
        self.assertAlmostEqual(rows["AeronIPC, yielding"]["ours_to_it"], ours["msgs_per_s"]["median"] / 4e6, places=3)
        self.assertEqual((rows["AeronIPC, backing off"]["ratio_to_limit"], rows["AeronIPC, backing off"]["cpu_ns"]), (0.5, 21.5))
        self.assertEqual(rows["AeronIPC, spinning"]["status"], "failed: exit status 1")
        self.assertGreater(ours["cpu_ns"], 1)
        self.assertRegex(out, r"(?m)^  Aeron IPC, yielding +4000000 .* 22 +- +0$")

    @unittest.skipUnless(BENCH_DIR, "built without PUBSUB_BUILD_BENCH")
    def test_without_its_jar_aeron_has_a_row_that_says_so(self):
        for jar, reason in (("", "PUBSUB_AERON_JAR does not name its jar"), ("/nowhere/aeron.jar", "PUBSUB_AERON_JAR names no file")):
            with self.subTest(jar), patch.dict(os.environ, {"PUBSUB_AERON_JAR": jar}):
                status, out, err = self.compare(*SHORT, "--only", "host", peers=BENCH_DIR)
                self.assertEqual(status, 0, out + err)
                said = {x["status"] for x in self.results() if x["who"] == "Aeron"}
                self.assertIn(said, ({reason}, {"not installed: a JDK"}))

    def test_records_of_a_log_go_through_the_chains_too(self):
        log = os.path.join(self.peers, "conn.log")
        with open(log, "w", encoding="utf-8") as out:
            out.write(CONN_LOG)
        status, out, err = self.compare(*SHORT, "--only", "chain", "--relays", 1, "--input", log)
        self.assertEqual(status, 0, out + err)
        row, = [x for x in self.results() if x["usage"].startswith("records")]
        self.assertEqual((row["role"], row["usage"], row["status"]), ("variant", "records of conn.log", "measured"))

    def test_a_peer_that_loses_fails_or_cannot_is_shown_as_such(self):
        self.add_peer_with_figures("peer_zmq", 5e5, lost=3)
        self.add_peer("peer_nng", "exit 2\n")
        self.add_peer("peer_nats", """echo '{"peer":"NATS","unavailable":"no server"}'\n""")
        status, out, err = self.compare(*SHORT, "--only", "chain", "--relays", 0)
        self.assertEqual(status, 0, out + err)
        rows = {x["who"]: x for x in self.results()}
        self.assertEqual((rows["libzmq"]["dropped"], rows["libzmq"]["delivered"]), (3, 97))
        self.assertEqual(rows["nng"]["status"], "failed: exit status 2")
        self.assertEqual(rows["NATS"]["status"], "no server")
        self.assertRegex(out, r"(?m)^  libzmq PUB/SUB .* 3$")
        self.assertIn("chain, 0 relays: nng PUB/SUB: exit status 2", err)

    def test_a_round_that_fails_is_said_beside_the_figures_of_the_others(self):
        mark = os.path.join(self.peers, "mark")
        line = '{"peer":"libzmq","msgs_per_s":1000,"published":7,"delivered":7,"lost":0}'
        self.add_peer("peer_zmq", f"test -e {mark} && exit 2\ntouch {mark}\necho '{line}'\n")
        status, out, err = self.compare("--only", "chain", "--relays", 0, "--duration", 0.2, "--rounds", 2)
        self.assertEqual(status, 0, out + err)
        self.assertRegex(out, r"(?m)^  libzmq PUB/SUB +1000 .* 0  a round failed: exit status 2$")

    def test_ctrl_c_ends_it_with_the_figures_so_far(self):
        self.add_peer_with_figures("bare_chain", 2e6)
        bench = self.start("bench", "compare", "--only", "chain", "--relays", 0, "--duration", 50, "--progress",
                           "--peers-dir", self.peers)
        bench.wait_for_line("bare TCP copy: 2000000 msgs/s")
        bench.child.send_signal(signal.SIGINT)
        self.assertEqual(bench.finish(20), 1)
        self.assertIn("interrupted", "\n".join(bench.err))
        self.assertRegex("\n".join(bench.out), r"bare TCP copy +2000000")

    @unittest.skipUnless(BENCH_DIR, "built without PUBSUB_BUILD_BENCH")
    def test_the_programs_that_were_built_lose_nothing(self):
        status, out, err = self.compare(*SHORT, "--relays", "0,1", peers=BENCH_DIR)
        self.assertEqual(status, 0, out + err)
        for x in self.results():
            self.assertNotIn("failed", x["status"], x)
            self.assertEqual((x["published"], x["dropped"], x["reordered"]), (x["delivered"], 0, 0), x)
            if x["role"] == "limit":
                self.assertEqual((x["status"], x["ratio_to_limit"]), ("measured", 1))


if __name__ == "__main__":
    unittest.main()
