# SPDX-License-Identifier: BSD-3-Clause
"""`pubsub trace`: where a message would go, for people and for programs."""

import json
import os
import re
import signal
import unittest

from command import CommandTest


class TraceTest(CommandTest):
    def relays(self, *names):
        """Relays in a row; their ports, and the processes."""
        ports, processes = [], []
        for name in names:
            peer = ["--peer", f"127.0.0.1:{ports[-1]}"] if ports else []
            processes.append(self.start("node", "--listen", "127.0.0.1:0", "--name", name, *peer))
            ports.append(processes[-1].port())
        return ports, processes

    def trace(self, port, topic, *options):
        return self.run_command("trace", topic, "--peer", f"127.0.0.1:{port}", *options)

    def wait_for_hops(self, port, topic, names):
        """The hops, once the nodes on the way are these."""
        for _ in range(2000):
            _, out, err = self.trace(port, topic, "--json")
            shown = json.loads(out)
            self.assertEqual(shown["topic"], topic)
            if [hop["name"] for hop in shown["hops"]] == names:
                return shown["hops"]
        self.fail(f"not reached: {out} {err}")

    def test_a_tree_of_nodes_down_to_the_subscriber(self):
        ports, _ = self.relays("gate", "hall", "cellar")
        self.start("sub", "--peer", f"127.0.0.1:{ports[2]}", "--topic", "/t", "--name", "desk")
        hops = self.wait_for_hops(ports[0], "/t/x", ["pubsub-trace", "gate", "hall", "cellar", "desk"])
        self.assertEqual([hop.get("from") for hop in hops], [None] + [hop["node"] for hop in hops[:-1]])
        self.assertEqual([hop["subscribers"] for hop in hops], [0, 0, 0, 0, 1])
        self.assertEqual({hop["outcome"] for hop in hops}, {"reached"})
        code, out, err = self.trace(ports[0], "/t/x")
        self.assertEqual(code, 0, err)
        self.assertEqual(re.sub(r"\d+\.\d\d ms", "N ms", out), """pubsub-trace
└─ gate  N ms
   └─ hall  N ms
      └─ cellar  N ms
         └─ desk  N ms, 1 subscriber
""")

    def test_what_nobody_wants_is_said_where_it_is_known(self):
        ports, _ = self.relays("gate")
        code, out, _ = self.trace(ports[0], "/nobody")
        self.assertEqual(code, 3)
        self.assertIn("      ! nobody wants this topic, here or behind\n", out)

    def test_a_node_that_does_not_answer_is_named(self):
        ports, processes = self.relays("gate", "hall")
        self.start("sub", "--peer", f"127.0.0.1:{ports[1]}", "--topic", "/t", "--name", "desk")
        self.wait_for_hops(ports[0], "/t", ["pubsub-trace", "gate", "hall", "desk"])
        os.kill(processes[1].child.pid, signal.SIGSTOP)
        try:
            code, out, _ = self.trace(ports[0], "/t", "--timeout", "1")
        finally:
            os.kill(processes[1].child.pid, signal.SIGCONT)
        self.assertEqual(code, 4)
        self.assertIn("   └─ hall  has not answered\n", out)

    def test_a_node_that_is_not_there_is_said_to_be_so(self):
        code, _, err = self.trace(1, "/t", "--timeout", "0.2")
        self.assertEqual(code, 2)
        self.assertIn("127.0.0.1:1", err)


if __name__ == "__main__":
    unittest.main()
