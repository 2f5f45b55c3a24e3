# SPDX-License-Identifier: BSD-3-Clause
"""The program of docs/how-to/actors.md, between `pubsub pub` and `pubsub sub`."""

import json
import os
import subprocess
import unittest

from command import CommandTest

OK, CONNECT = 0, 2


def value(kind, data):
    return {"@data-type": kind, "data": data}


def connection(origin, port):
    return json.dumps(value("vector", [value("address", origin), value("address", "10.1.1.1"), value("port", f"{port}/tcp")]))


class DetectorTest(CommandTest):
    def detect(self, *arguments):
        child = subprocess.Popen([os.environ["PUBSUB_DETECTOR"], *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def test_a_scan_is_found_and_published(self):
        node = self.start("node", "--listen", "127.0.0.1:0")
        address = f"127.0.0.1:{node.port()}"
        sub = self.start("sub", "--peer", address, "--topic", "site/notices", "--count", 1)
        node.wait_for_line("peer_added")
        detector = self.detect(f"tcp://{address}")
        lines = ["[]", *(connection("10.0.0.7", port) for port in range(1, 150)), *(connection("10.0.0.8", 80) for _ in range(150))]
        code, _, err = self.run_command("pub", "--peer", address, "--topic", "site/connections", stdin="\n".join(lines) + "\n")
        self.assertEqual(code, OK, err)
        self.assertEqual(sub.finish(), OK, sub.err)
        self.assertIn("port scan from 10.0.0.7", "\n".join(sub.out))
        detector.stdin.close()
        self.assertEqual(detector.wait(30), OK)

    def test_an_address_that_is_none_is_said(self):
        detector = self.detect("nowhere")
        self.assertEqual(detector.wait(60), CONNECT)
        self.assertIn("nowhere", detector.stderr.read())
        detector.stdin.close()


if __name__ == "__main__":
    unittest.main()
