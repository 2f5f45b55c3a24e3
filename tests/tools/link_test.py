# SPDX-License-Identifier: BSD-3-Clause
"""`bench link`: a proxy by hand that changes on demand, and the check of a link by itself."""

import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from command import CommandTest

USAGE, CONNECT, LOSS = 1, 2, 3


class Echo:
    """Sends back what it reads, on one connection after the other."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        try:
            while True:
                client, _ = self.listener.accept()
                with client:
                    while data := client.recv(65536):
                        client.sendall(data)
        except OSError:
            pass  # closed


class Link(CommandTest):
    def start_link(self, *arguments, **options):
        echo = Echo()
        self.addCleanup(echo.listener.close)
        link = self.start("bench", "link", "--to", echo.address, *arguments, **options)
        client = socket.create_connection(("127.0.0.1", int(link.port())), timeout=60)
        self.addCleanup(client.close)
        return link, client

    @staticmethod
    def round_trip_s(client):
        begin = time.monotonic()
        client.sendall(b"ping")
        got = client.recv(100)
        assert got == b"ping", got
        return time.monotonic() - begin

    def test_a_link_by_hand_changes_on_demand_and_ends_with_ctrl_c(self):
        link, client = self.start_link("--rtt", "50ms", "--up", "0", "--profile", "wan", stdin=subprocess.PIPE)
        self.round_trip_s(client)
        self.assertGreaterEqual(self.round_trip_s(client), 0.045)
        self.assertRegex(link.err[0], r"round trip 50 ms, up unlimited, down 7 Mb/s$")
        for line, pattern in (("rtt 300ms", "now round trip 300 ms, up unlimited, down 7 Mb/s"),
                              ("profile moon", "\"profile moon\": expected"), ("rtt", "\"rtt\": expected"),
                              ("rtt 300ms up 1Mb down 2Mb", "now round trip 300 ms, up 1 Mb/s, down 2 Mb/s")):
            link.child.stdin.write(line + "\n")
            link.child.stdin.flush()
            link.wait_for_line(pattern)
        self.assertGreaterEqual(self.round_trip_s(client), 0.29)
        link.child.stdin.close()
        self.assertGreaterEqual(self.round_trip_s(client), 0.29)
        link.child.send_signal(signal.SIGINT)
        self.assertEqual(link.finish(20), 0)

    def test_a_check_measures_what_was_set(self):
        # Whether it comes near enough is a matter of the machine; that it says so, is not.
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.json")
            for profile, round_trip, up, down in (("lan", 1e5, 5e9, 5e9), ("wan", 4e7, 4e7, 7e6)):
                status, out, err = self.run_command("bench", "link", "--check", "--profile", profile, "--rounds", 2,
                                                    "--duration", 0.2, "--json", report)
                self.assertRegex(out, r"(?m)^round trip +\S+ .s +\S+ .s")
                with open(report, encoding="utf-8") as file:
                    whole = json.load(file)
                self.assertEqual((whole["schema"], whole["benchmark"]), (1, "link"))
                results = whole["results"]
                self.assertEqual([(x["what"], x["unit"], x["set"]) for x in results],
                                 [("round_trip", "ns", round_trip), ("up", "bits/s", up), ("down", "bits/s", down)])
                far = [x for x in results if abs(x["off_percent"]) > 3]
                self.assertEqual(status, LOSS if far else 0, out + err)
                for x in results:
                    self.assertEqual(len(x["measured"]["samples"]), 2)
                for x in results[1:]:  # not faster than the link
                    self.assertLess(x["measured"]["median"], 1.05 * x["set"])

    def test_a_check_fails_beyond_its_limit(self):
        status, out, err = self.run_command("bench", "link", "--check", "--rtt", "1us", "--rounds", 1, "--duration", 0.1)
        self.assertEqual(status, LOSS, out + err)
        self.assertIn("round_trip: ", err)

    def test_what_cannot_be_listened_on_is_said(self):
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        status, _, err = self.run_command("bench", "link", "--listen", "127.0.0.1:%d" % taken.getsockname()[1],
                                          "--to", "127.0.0.1:1")
        self.assertEqual(status, CONNECT, err)
        self.assertIn("Address already in use", err)

    def test_wrong_options_are_usage_errors(self):
        for arguments in ([], ["--to", "127.0.0.1:1", "--profile", "moon"], ["--check", "--rtt", "fast"],
                          ["--check", "--up", "-1"], ["--check", "--rounds", "0"], ["--to", "127.0.0.1:1", "--rounds", "3"]):
            status, out, err = self.run_command("bench", "link", *arguments)
            self.assertEqual(status, USAGE, f"{arguments}: {out}{err}")
            self.assertIn("--", out + err)


if __name__ == "__main__":
    unittest.main()
