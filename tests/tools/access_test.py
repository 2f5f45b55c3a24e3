# SPDX-License-Identifier: BSD-3-Clause
"""Access rules of `pubsub node`: who may do what, and files that are read again."""

import os
import signal
import tempfile
import unittest
from pathlib import Path

from command import CommandTest

OK, USAGE, CONNECT = 0, 1, 2

RULES = """
[[rule]]
name = "me"
users = ["{user}"]
publish = ["/in/"]

[[rule]]
name = "guests"
anonymous = true
publish = []
subscribe = ["/in/"]
"""


class AccessTest(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "access.toml"

    def write(self, text):
        self.file.write_text(text.format(user=os.getuid()))

    def node(self, *listen):
        return self.start("node", *[word for each in listen for word in ("--listen", each)], "--access", self.file)

    def test_each_peer_may_do_what_its_rule_says(self):
        self.write(RULES)
        socket = f"unix://{self.folder}/node.sock"
        port = self.node(socket, "127.0.0.1:0").port()
        guest = self.start("sub", "--peer", f"127.0.0.1:{port}", "--topic", "/", "--text", "--count", "1")
        code, _, err = self.run_command("pub", "--peer", f"127.0.0.1:{port}", "--topic", "/in/x", "--text",
                                        "--wait-subscribers", "1", stdin="of a guest\n")
        self.assertEqual(code, OK, err)
        code, _, err = self.run_command("pub", "--peer", socket, "--topic", "/in/x", "--text", "--wait-subscribers", "1",
                                        stdin="mine\n")
        self.assertEqual((code, guest.finish(), guest.out), (OK, OK, ["/in/x -> mine"]), err)

    def test_the_status_shows_rules_and_what_they_refused(self):
        self.write(RULES)
        port = self.node("127.0.0.1:0").port()
        sub = self.start("sub", "--peer", f"127.0.0.1:{port}", "--topic", "/secret/")
        sub.wait_for_line("no subscription to '/secret/'")
        code, out, err = self.run_command("status", f"127.0.0.1:{port}")
        self.assertEqual(code, OK, err)
        self.assertIn("access rule guests", out)
        self.assertIn("denied 1", out)

    def test_without_the_right_to_inspect_a_relay_does_not_tell_where_messages_go(self):
        self.write(RULES)
        port = self.node("127.0.0.1:0").port()
        code, out, _ = self.run_command("trace", "/in/x", "--peer", f"127.0.0.1:{port}")
        self.assertEqual(code, 3)
        self.assertIn("does not tell\n      ! by access rule 'guests': no right to inspect\n", out)

    def test_who_no_rule_is_for_is_told_so(self):
        self.write('[[rule]]\nname = "me"\nusers = ["{user}"]\n')
        port = self.node("127.0.0.1:0").port()
        code, _, err = self.run_command("status", f"127.0.0.1:{port}")
        self.assertEqual(code, CONNECT)
        self.assertIn("no access rule is for this peer", err)

    def test_a_file_is_read_again_and_refused_as_a_whole(self):
        self.write(RULES)
        node = self.node("127.0.0.1:0")
        port = node.port()
        self.file.write_text('[[rule]]\nname = "nobody"\nanonymous = "yes"\n')
        node.child.send_signal(signal.SIGHUP)
        node.wait_for_line(r"access.toml: line 3, column \d+: anonymous is true or false")
        code, _, err = self.run_command("status", f"127.0.0.1:{port}")
        self.assertEqual(code, OK, err)  # the old rules hold
        self.file.write_text('[[rule]]\nname = "desk"\ncertificates = ["desk"]\n')
        node.child.send_signal(signal.SIGHUP)
        node.wait_for_line("access rules of .*access.toml hold: 1")
        code, _, err = self.run_command("status", f"127.0.0.1:{port}")
        self.assertEqual(code, CONNECT, err)

    def test_a_node_with_a_bad_file_does_not_start(self):
        for text, why in (("[[rule]]\nname = 1\n", "line 2, column 8: name is a string"),
                          ("[rule]\nname = 'x'\n", r"there are tables \[\[rule\]\] here"),
                          ("[[rule]]\nname = 'x'\nanonymous = true\n[rule.limits]\nconnections = -1\n", "line 5, .*from 0 on"),
                          ("[[rule]]\nname = 'x'\nanonymous = true\nrole = 'king'\n", 'role is "relay" or "client"'),
                          ("[[rule\n", "line 1")):
            self.file.write_text(text)
            code, _, err = self.run_command("node", "--listen", "127.0.0.1:0", "--access", self.file)
            self.assertEqual(code, USAGE, err)
            self.assertRegex(err, why)


if __name__ == "__main__":
    unittest.main()
