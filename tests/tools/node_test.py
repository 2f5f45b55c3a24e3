# SPDX-License-Identifier: BSD-3-Clause
"""`pubsub node`: its configuration file, what it does on signals, and what it logs."""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import CommandTest

OK, USAGE = 0, 1


class NodeTest(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "node.toml"

    def check(self, text, *more):
        self.file.write_text(text)
        return self.run_command("node", "--config", self.file, "--check", *more)

    def node(self, text, *more):
        self.file.write_text(text)
        return self.start("node", "--config", self.file, *more)

    def test_each_option_is_a_key_and_a_list_where_it_may_be_repeated(self):
        node = self.node(f"""
            name = "sensor-1"
            listen = ["127.0.0.1:0", "unix://{self.folder}/node.sock"]
            liveness_timeout = 20.5
            link-policy = "drop-oldest"
            topic = "zeek/"
            json = true
            no-status = false""")
        port = node.port()
        node.wait_for_line("unix://")
        code, out, err = self.run_command("status", "--json", f"unix://{self.folder}/node.sock")
        self.assertEqual(code, OK, err)
        self.assertEqual(json.loads(out)["name"], "sensor-1")
        code, out, err = self.run_command("status", f"127.0.0.1:{port}")
        self.assertTrue(out.startswith("sensor-1 "), out + err)

    def test_what_the_command_line_says_counts_more(self):
        node = self.node('name = "of the file"\nlisten = "127.0.0.1:0"\n', "--name", "of-the-line")
        # A name with spaces is none, so the node would not start with the one of the file.
        code, out, err = self.run_command("status", f"127.0.0.1:{node.port()}")
        self.assertEqual(code, OK, err)
        self.assertTrue(out.startswith("of-the-line "), out)

    def test_a_mistake_is_named_with_file_line_and_key(self):
        listen = 'listen = "127.0.0.1:0"\n'
        for text, complaint in {
                listen + "livenes = 3\n": ":2: there is no key 'livenes'; is 'liveness-timeout' meant?",
                listen + "config = 'x'\n": ":2: there is no key 'config'",
                listen + "\nretry = 'soon'\n": ":3: retry: ",
                listen + "retry = 0\n": ":2: retry: ",
                listen + "retry = [1, 2]\n": ":2: retry: one value is expected",
                listen + "json = 1\n": ":2: json: true or false is expected",
                listen + "peer = {a = 1}\n": ":2: peer: a string or a number is expected",
                listen + "peer = ['a:1', 2020-01-01]\n": ":2: peer: a list of",
                listen + "peer = [\n": ": ",
                listen + "link_policy = 'drop'\n": ":2: link-policy: ",
        }.items():
            with self.subTest(text):
                code, out, err = self.check(text)
                self.assertEqual((code, out), (USAGE, ""))
                self.assertTrue(err.startswith(f"pubsub: {self.file}:"), err)
                self.assertIn(complaint, err)
                self.assertEqual(len(err.splitlines()), 1, err)

    def test_a_check_looks_at_addresses_certificates_and_access_rules(self):
        (self.folder / "access.toml").write_text("[[rule]]\nnam = 'x'\n")
        for text, complaint in {
                "listen = ':x'\n": "the port is not a number",
                "listen = '127.0.0.1:0'\npeer = 'ftp://a:1'\n": "ftp://a:1",
                "listen = '127.0.0.1:0'\nname = 'a b'\n": "name must be",
                "listen = 'tls://:1'\ncertificate = '/no/such'\nkey = '/no/such'\nca_file = '/no'\n": "/no/such",
                f"listen = '127.0.0.1:0'\naccess = '{self.folder}/access.toml'\n": "access.toml: line 2",
                "listen = '127.0.0.1:0'\ncertificate = 'x'\n": "no address begins with tls://",
                "name = 'idle'\n": "at least one --listen or --peer",
        }.items():
            with self.subTest(text):
                code, _, err = self.check(text)
                self.assertEqual(code, USAGE)
                self.assertIn(complaint, err)
        self.assertEqual(self.check("listen = '127.0.0.1:1'\n")[:2], (OK, "all is well\n"))
        code, _, err = self.run_command("node", "--config", self.folder / "none.toml", "--check")
        self.assertEqual(code, USAGE)
        self.assertIn("none.toml: No such file or directory", err)

    def test_a_changed_file_is_taken_over_and_links_stay(self):
        upstream = self.start("node", "--listen", "127.0.0.1:0", "--name", "upstream")
        port = upstream.port()
        node = self.node("listen = '127.0.0.1:0'\nname = 'edge'\n")
        first = node.port()
        sub = self.start("sub", "--peer", f"127.0.0.1:{first}", "--topic", "/", "--text", "--count", "1")
        node.wait_for_line("peer_added")
        self.file.write_text(f"listen = ['127.0.0.1:0', 'unix://{self.folder}/more.sock']\nname = 'other'\n"
                             f"peer = '127.0.0.1:{port}'\n")
        node.child.send_signal(signal.SIGHUP)
        node.wait_for_line("listening on unix://")
        node.wait_for_line("take effect when the node is started again: --name$")
        node.wait_for_line("peer_added upstream")
        upstream.wait_for_line("peer_added edge")
        self.file.write_text("listen = '127.0.0.1:0'\nname = 'edge'\n")
        node.child.send_signal(signal.SIGHUP)
        node.wait_for_line("peer_removed upstream")
        code, _, err = self.run_command("pub", "--peer", f"127.0.0.1:{first}", "--topic", "/x", "--text",
                                        "--wait-subscribers", "1", stdin="still here\n")
        self.assertEqual((code, sub.finish(), sub.out), (OK, OK, ["/x -> still here"]), err)

    def test_a_file_with_a_mistake_changes_nothing(self):
        node = self.node("listen = '127.0.0.1:0'\nlog_level = 'info'\n")
        port = node.port()
        self.file.write_text("listen = '127.0.0.1:0'\nlog_level = 'error'\npeer = 'nowhere'\n")
        node.child.send_signal(signal.SIGHUP)
        node.wait_for_line("nothing has changed, since there is a mistake: .*nowhere")
        self.assertEqual(self.run_command("status", f"127.0.0.1:{port}")[0], OK)
        node.wait_for_line("peer_added")  # of the level that held before

    def test_an_address_that_is_in_use_changes_nothing_either(self):
        node = self.node("listen = '127.0.0.1:0'\n")
        port = node.port()
        with socket.create_server(("127.0.0.1", 0)) as other:
            taken = other.getsockname()[1]
            self.file.write_text(f"listen = ['127.0.0.1:0', '127.0.0.1:{taken}']\nlog_level = 'error'\n")
            node.child.send_signal(signal.SIGHUP)
            node.wait_for_line(f"nothing has changed, since there is a mistake: .*{taken}")
        self.assertEqual(self.run_command("status", f"127.0.0.1:{port}")[0], OK)
        node.wait_for_line("peer_added")  # of the level that held before

    def test_a_peer_that_is_done_is_removed_and_one_that_is_killed_is_lost(self):
        node = self.start("node", "--listen", "127.0.0.1:0", "--json")
        port = node.port()
        for end, event, level in ("terminate", "peer_removed", "info"), ("kill", "peer_lost", "warning"):
            sub = self.start("sub", "--peer", f"127.0.0.1:{port}", "--topic", "/")
            node.wait_for_line('"event":"peer_added"')
            getattr(sub.child, end)()
            line = json.loads(node.wait_for_line(f".*\"event\":\"{event}\".*")[0])
            self.assertEqual((line["level"], line["name"]), (level, socket.gethostname()))

    def test_many_events_of_a_kind_are_counted_and_not_shown(self):
        node = self.start("node", "--listen", "127.0.0.1:0")
        port = int(node.port())
        for _ in range(40):
            with socket.create_connection(("127.0.0.1", port)) as stranger:
                stranger.sendall(bytes.fromhex("0000000c06000000000000000000000000"))
                stranger.recv(100)
        sub = self.start("sub", "--peer", f"127.0.0.1:{port}", "--topic", "/")
        node.wait_for_line("peer_added")
        sub.child.terminate()
        node.child.terminate()
        self.assertEqual(node.finish(), OK)
        self.assertLessEqual(len(node.err), 30, node.err)

    def test_a_service_manager_is_told(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(str(self.folder / "notify"))
            manager.settimeout(60)
            self.file.write_text("listen = '127.0.0.1:0'\n")
            node = self.start("node", "--config", self.file,
                              env={"NOTIFY_SOCKET": str(self.folder / "notify"), "WATCHDOG_USEC": "200000"})
            heard = []

            def hear(what):
                while not heard or not heard[-1].startswith(what):
                    heard.append(manager.recv(4096).decode())

            hear("READY=1")
            hear("WATCHDOG=1")
            hear("WATCHDOG=1")
            node.child.send_signal(signal.SIGHUP)
            hear("RELOADING=1\nMONOTONIC_USEC=")
            hear("READY=1")
            node.child.send_signal(signal.SIGUSR2)
            hear("STOPPING=1")
            self.assertEqual(node.finish(), OK)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
    def test_the_unit_file_leaves_little_to_an_attacker(self):
        unit = Path(os.environ["PUBSUB_COMMAND"]).parent / "pubsub.service"
        done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=20", unit],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_unit_file_needs_no_program_that_a_small_system_lacks(self):
        unit = Path(os.environ["PUBSUB_COMMAND"]).parent / "pubsub.service"
        programs = {line.partition("=")[2].split()[0] for line in unit.read_text().splitlines() if line.startswith("Exec")}
        self.assertEqual({Path(each).name for each in programs}, {"pubsub", "sh"})
        self.assertTrue(all(each.startswith("/") for each in programs), programs)

    def test_it_retires_on_a_signal(self):
        other = self.start("node", "--listen", "127.0.0.1:0", "--name", "other")
        node = self.start("node", "--peer", f"127.0.0.1:{other.port()}", "--name", "leaver")
        other.wait_for_line("peer_added leaver")
        node.child.send_signal(signal.SIGUSR2)
        node.wait_for_line("choose routes around this one")
        node.wait_for_line("nothing comes any more that is for others")
        other.wait_for_line("peer_removed leaver")
        self.assertEqual(node.finish(), OK)


if __name__ == "__main__":
    unittest.main()
