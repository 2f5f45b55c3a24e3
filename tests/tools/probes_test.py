# SPDX-License-Identifier: BSD-3-Clause
"""Probes for tracers: the command has all of them, and gdb stops there and finds what they say."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from command import COMMAND, LIMIT_S, CommandTest

ARGUMENTS = {"publish": 3, "hop": 5, "deliver": 4, "drop": 4}
TOPIC = "print *(char *)$_probe_arg0@(int)$_probe_arg1"


def gdb(*commands):
    """What starts the command under gdb, which takes these commands one after the other."""
    options = [word for each in commands for word in ("-ex", each)]
    return ["gdb", "-batch", "-nx", "-iex", "set debuginfod enabled off", *options, "--args"]


def why_gdb_cannot():
    if shutil.which("gdb") is None:
        return "gdb is not installed"
    said = subprocess.run([*gdb("run"), shutil.which("true")], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    return None if "exited normally" in said.stdout else "gdb cannot trace here: " + said.stderr.strip()[-200:]


@unittest.skipIf("PUBSUB_NO_PROBES" in os.environ, "built without sys/sdt.h (Debian: systemtap-sdt-dev)")
class Probes(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.address = f"unix://{folder.name}/socket"

    @unittest.skipIf(shutil.which("readelf") is None, "readelf is not installed")
    def test_the_command_has_all_probes_with_their_arguments(self):
        notes = subprocess.run(["readelf", "-n", "--wide", COMMAND], capture_output=True, text=True, check=True).stdout
        found = re.findall(r"Provider: pubsub\n\s+Name: (\w+)\n\s+Location: .*Semaphore: 0x(\w+)\n\s+Arguments: (.*)", notes)
        self.assertEqual({name: len(arguments.split()) for name, _, arguments in found}, ARGUMENTS)
        # perf takes an event only if its arguments are the same, and no constants, wherever it is.
        forms = {(name, re.sub(r"(-?\d)@\S+", r"\1", arguments)) for name, _, arguments in found}
        self.assertEqual(len(forms), len(ARGUMENTS))
        self.assertNotIn("$", "".join(arguments for _, _, arguments in found))
        self.assertTrue(all(int(word, 16) for _, word, _ in found))

    def start_subscriber(self, *arguments, **options):
        return self.start("sub", "--topic", "/t/", "--text", *arguments, **options)

    def publish(self, text, *arguments, topic="/t/x"):
        status, _, err = self.run_command("pub", "--peer", self.address, "--topic", topic, "--text", *arguments, stdin=text)
        self.assertEqual(status, 0, err)

    def test_gdb_finds_topic_and_size_where_a_message_is_published_and_delivered(self):
        self.needs_gdb()
        subscriber = self.start_subscriber("--listen", self.address, under=gdb(
            "break -probe-stap pubsub:deliver", "run", TOPIC, "print $_probe_arg2", "kill"))
        subscriber.wait_for_line("listening on")
        publisher = self.start("pub", "--peer", self.address, "--topic", "/t/x", "--text", stdin=subprocess.PIPE,
                               under=gdb("break -probe-stap pubsub:publish", "run", TOPIC, "print $_probe_arg2", "delete", "continue"))
        publisher.child.stdin.write("text\n")
        publisher.child.stdin.close()
        publisher.wait_for_line(r'^\$1 = "/t/x"')
        publisher.wait_for_line(r"^\$2 = 6$")  # type, length and text
        subscriber.wait_for_line(r'^\$1 = "/t/x"')
        subscriber.wait_for_line(r"^\$2 = 1$")

    def test_gdb_finds_topic_and_reason_where_a_relay_passes_on_and_drops(self):
        self.needs_gdb()
        relay = self.start("node", "--listen", self.address, "--link-queue", 10, "--link-policy", "drop-newest",
                           under=gdb("break -probe-stap pubsub:hop", "run", TOPIC, "print $_probe_arg2", "delete",
                                     "break -probe-stap pubsub:drop", "continue", TOPIC, "print (char *)$_probe_arg3", "kill"))
        relay.wait_for_line("listening on")
        subscriber = self.start_subscriber("--peer", self.address)
        self.publish("first\n")
        relay.wait_for_line(r'^\$1 = "/t/x"')
        relay.wait_for_line(r"^\$2 = 1$")
        subscriber.wait_for_line("first")
        subscriber.child.send_signal(signal.SIGSTOP)  # what it does not read fills the queue of the relay
        self.addCleanup(subscriber.child.send_signal, signal.SIGCONT)
        self.start("pub", "--peer", self.address, "--topic", "/t/y", "--text", stdin=self.many_lines())
        relay.wait_for_line(r'^\$3 = "/t/y"')
        relay.wait_for_line(r'^\$4 = .* "newest"')

    def needs_gdb(self):
        if reason := why_gdb_cannot():
            self.skipTest(reason)

    def many_lines(self):
        """More than the sockets and the credit of a link hold."""
        lines = tempfile.TemporaryFile("w+")
        self.addCleanup(lines.close)
        lines.write(("x" * 1000 + "\n") * 20_000)
        lines.seek(0)
        return lines


if __name__ == "__main__":
    unittest.main()
