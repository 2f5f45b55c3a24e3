# SPDX-License-Identifier: BSD-3-Clause
"""Rules of `pubsub node`: `[[rule]]` in its configuration file, `--check`, `--dry-run`, reload, counters."""

import json
import signal
import tempfile
import unittest
import urllib.request
from pathlib import Path

from command import NO_RECORD, CommandTest

OK, USAGE = 0, 1


def rule(name, *lines, topics='["/t"]'):
    return "\n".join(["[[rule]]", f'name = "{name}"', f"topics = {topics}", *lines, ""])


class RulesTest(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "node.toml"
        self.key = self.folder / "mask.key"
        self.key.write_text("a secret of more than 16 bytes\n")

    def write(self, *rules):
        self.file.write_text("\n".join(['listen = ["127.0.0.1:0"]', f'mask_key_file = "{self.key}"', *rules]))

    def start_node(self, *rules, options=()):
        self.write(*rules)
        node = self.start("node", "--config", self.file, *options)
        self.peer = ("--peer", f"127.0.0.1:{node.port()}")
        return node

    def check(self, *rules):
        self.write(*rules)
        return self.run_command("node", "--config", self.file, "--check")

    def subscriber(self, node, count, topic="/"):
        sub = self.start("sub", *self.peer, "--topic", topic, "--text", "--count", count)
        node.wait_for_line("peer_added")
        return sub

    def publish(self, topic, *lines):
        code, _, err = self.run_command("pub", *self.peer, "--topic", topic, "--text", stdin="".join(f"{x}\n" for x in lines))
        self.assertEqual(code, OK, err)

    def test_rules_drop_sample_mask_and_publish(self):
        node = self.start_node(
            rule("noise", 'match = "$ == \\"noise\\""', "drop = true"),
            rule("secret", 'match = "$ in \\"secret\\"*"', 'mask = "$"'),
            rule("copies", 'match = "$ == \\"news\\""', 'publish = "/copies"'))
        sub = self.subscriber(node, 5)
        self.publish("/t", "a", "noise", "secret 1", "news", "secret 1")
        self.assertEqual(sub.finish(), OK, sub.err)
        plain = [x for x in sub.out if x.startswith("/t ")]
        self.assertEqual(plain[0], "/t -> a")
        self.assertRegex(plain[1], r"^/t -> [a-p]{8}$")
        self.assertEqual(plain[2:], ["/t -> news", plain[1]])
        self.assertEqual([x for x in sub.out if x.startswith("/copies ")], ["/copies -> news"])
        node.child.terminate()
        self.assertEqual(node.finish(), OK)
        log = "\n".join(node.err)
        self.assertIn("noise: 1 matched, 0 passed, 1 dropped", log)
        self.assertIn("secret: 2 matched, 2 passed, 0 dropped", log)
        self.assertIn("copies: 1 matched, 1 passed, 0 dropped", log)

    def test_rules_change_on_a_signal_and_a_mistake_changes_nothing(self):
        node = self.start_node(rule("first", 'match = "$ == \\"a\\""', "drop = true"))
        sub = self.subscriber(node, 4)
        self.publish("/t", "a", "b")
        self.write(rule("second", 'match = "$ == \\"b\\""', "drop = true"))
        node.child.send_signal(signal.SIGHUP)
        node.wait_for_line("the files were read again")
        self.publish("/t", "a", "b")
        self.write(rule("third", 'match = "$ = 1"', "drop = true"))
        node.child.send_signal(signal.SIGHUP)
        node.wait_for_line("nothing has changed, since there is a mistake: .*rule 'third': match: ")
        self.publish("/t", "b", "c")
        self.file.write_text('listen = ["127.0.0.1:0"]\n')
        node.child.send_signal(signal.SIGHUP)
        node.wait_for_line("the files were read again")
        self.publish("/t", "b")
        self.assertEqual(sub.finish(), OK, sub.err)
        self.assertEqual(sub.out, ["/t -> b", "/t -> a", "/t -> c", "/t -> b"])

    def test_a_check_names_the_rule_and_shows_the_place(self):
        code, out, err = self.check(rule("good", "drop = true"), rule("bad", 'match = "$0 = 443"', "drop = true"))
        self.assertEqual(code, USAGE, out)
        self.assertIn(f"{self.file}:11: rule 'bad': match: ", err)
        lines = err.splitlines()
        place = next(i for i, line in enumerate(lines) if line.strip() == "$0 = 443")
        self.assertEqual(lines[place + 1].index("^"), lines[place].index("="))
        for lines, complaint in {
            ("drop = true", "sample = 5"): "exactly one of",
            ('mask = "@topic"',): "no field",
            ('publish = "/t/2"',): "copied again",
            ("smaple = 5",): "smaple: a rule has no such key",
        }.items():
            code, _, err = self.check(rule("bad", *lines))
            self.assertEqual(code, USAGE)
            self.assertIn("rule 'bad': ", err)
            self.assertIn(complaint, err)
        code, out, err = self.check(rule("good", 'mask = ["$0"]'))
        self.assertEqual((code, out), (OK, "all is well\n"), err)

    def test_a_mask_needs_a_key(self):
        self.write(rule("hide", 'mask = ["$0"]'))
        self.key.write_text("short")
        code, _, err = self.run_command("node", "--config", self.file, "--check")
        self.assertEqual(code, USAGE)
        self.assertIn("16 bytes", err)
        self.file.write_text('listen = "127.0.0.1:0"\n' + rule("hide", 'mask = ["$0"]'))
        code, _, err = self.run_command("node", "--config", self.file, "--check")
        self.assertEqual(code, USAGE)
        self.assertIn("mask_key_file", err)
        code, _, err = self.run_command("node", "--config", self.file)
        self.assertEqual(code, USAGE)
        self.assertIn("mask_key_file", err)

    def test_metrics_have_the_counters_of_rules(self):
        node = self.start_node(rule("noise", 'match = "$ == \\"noise\\""', "drop = true"), options=("--metrics", "127.0.0.1:0"))
        address = node.wait_for_line("http://([^/]+)/")[1]
        sub = self.subscriber(node, 1)
        self.publish("/t", "noise", "a")
        self.assertEqual(sub.finish(), OK, sub.err)
        with urllib.request.urlopen(f"http://{address}/metrics") as page:
            text = page.read().decode()
        self.assertIn('pubsub_rule_messages_total{rule="noise",outcome="dropped"} 1\n', text)
        self.assertIn('pubsub_rule_messages_total{rule="noise",outcome="passed"} 0\n', text)
        self.assertRegex(text, r"\npubsub_screened_out_messages_total(\{.*\})? 1\n")

    @unittest.skipIf(NO_RECORD, "this build has no recordings")
    def test_a_dry_run_says_what_each_rule_would_do(self):
        node = self.start_node()
        recorder = self.start("record", *self.peer, "-o", self.folder / "a.mcap", "--count", 4)
        node.wait_for_line("peer_added")
        recorder.wait_for_line("^recording ")
        self.publish("/t", "a", "noise", "noise")
        self.publish("/other", "noise")
        self.assertEqual(recorder.finish(), OK, recorder.err)
        self.write(
            rule("noise", 'match = "$ == \\"noise\\""', "drop = true"),
            rule("hide", 'mask = "$"'),
            rule("copies", 'publish = "/copies"', topics='["/t", "/other"]'))
        run = ("node", "--config", self.file, "--dry-run", self.folder / "a.mcap")
        code, out, err = self.run_command(*run)
        self.assertEqual(code, OK, err)
        self.assertRegex(out, r"noise +drop +2 +0 +2  /t\n")
        self.assertRegex(out, r"hide +mask \$ +1 +1 +0  /t\n")
        self.assertRegex(out, r"copies +publish /copies +2 +2 +0  /t, /other\n")
        self.assertIn("4 messages: 2 would pass, 2 would be dropped", out)
        code, out, err = self.run_command(*run, "--json")
        self.assertEqual(code, OK, err)
        self.assertEqual([json.loads(x) for x in out.splitlines()][0],
                         {"rule": "noise", "action": "drop", "matched": 2, "passed": 0, "dropped": 2, "topics": ["/t"]})
        code, _, err = self.run_command("node", "--config", self.file, "--dry-run", self.folder / "none.mcap")
        self.assertEqual(code, USAGE)
        self.assertIn("none.mcap", err)


if __name__ == "__main__":
    unittest.main()
