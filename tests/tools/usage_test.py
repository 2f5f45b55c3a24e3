# SPDX-License-Identifier: BSD-3-Clause
"""Exit statuses and error texts."""

import os
import shutil
import socket
import subprocess
import tempfile
import unittest

from command import COMMAND, CommandTest

USAGE, CONNECT, TIMEOUT = 1, 2, 4


class Usage(CommandTest):
    def check(self, arguments, status, *texts, stdin=""):
        got, out, err = self.run_command(*arguments, stdin=stdin)
        self.assertEqual(got, status, f"{arguments}: {out}{err}")
        for text in texts:
            self.assertIn(text, out + err)
        return out

    def test_help_teaches_every_command_with_examples(self):
        for command in ([], ["node"], ["pub"], ["sub"], ["ping"], ["status"], ["tap"], ["top"], ["zeek-proxy"], ["bench", "stream"], ["bench", "chain"],
                        *(["bench", name] for name in ("latency", "fanout", "routing", "codec", "condition", "idle", "clients", "memory", "python",
                                                       "batch-ack", "versioned"))):
            self.check([*command, "--help"], 0, "Examples:")

    def test_the_inner_parts_of_benchmarks_are_not_shown(self):
        self.assertNotIn("-part", self.check(["bench", "--help"], 0))

    def test_where_benchmarks_are_missing_a_message_says_how_to_build_them(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = shutil.copy(COMMAND, folder)
            done = subprocess.run([alone, "bench", "stream"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("--target pubsub_bench", done.stderr)

    def test_a_study_that_is_not_built_says_so(self):
        if "remote-study" not in self.check(["bench", "--help"], 0):
            self.check(["bench", "remote-study", "--quick"], USAGE, "PUBSUB_BUILD_STUDIES=ON")

    def test_version(self):
        self.assertRegex(self.check(["version"], 0), r"^pubsub \d+\.\d+\.\d+\n$")

    def test_wrong_options_are_usage_errors(self):
        self.check([], USAGE)
        self.check(["frobnicate"], USAGE)
        self.check(["sub", "--frobnicate"], USAGE, "--frobnicate")
        self.check(["sub", "--listen", "127.0.0.1:0", "--count", "few"], USAGE, "--count")
        self.check(["sub", "--listen", "127.0.0.1:0", "--policy", "hope"], USAGE, "--policy")
        self.check(["node", "--listen", "127.0.0.1:0", "--link-policy", "hope"], USAGE, "--link-policy")
        self.check(["pub", "--listen", "127.0.0.1:0", "--link-queue", "0"], USAGE, "--link-queue")
        self.check(["bench", "chain", "--relays", "x"], USAGE, "--relays")
        self.check(["bench", "chain", "--transport", "pigeon"], USAGE, "--transport")
        self.check(["bench", "stream", "--mode", "sideways"], USAGE, "--mode")
        self.check(["bench", "latency", "--rate", "often"], USAGE, "--rate")
        self.check(["bench", "fanout", "--subscribers", "0"], USAGE, "--subscribers")
        self.check(["bench", "routing", "--by", "magic"], USAGE, "--by")
        self.check(["bench", "memory", "--kinds", "paper"], USAGE, "--kinds")
        self.check(["bench", "python", "--rounds", "0"], USAGE, "--rounds")
        self.check(["pub", "--listen", "127.0.0.1:0", "--text"], USAGE, "--text needs --topic")
        self.check(["pub", "--listen", "127.0.0.1:0", "--follow"], USAGE, "--follow needs --zeek-log or --zeek-events")

    def test_a_mistake_in_a_condition_is_shown_where_it_is(self):
        self.check(["sub", "--listen", "127.0.0.1:0", "--where", "id.resp_p = 80/tcp"], USAGE,
                   "--where: equality is written ==\n  id.resp_p = 80/tcp\n            ^\n")
        self.check(["bench", "condition", "--input", "/no/such.log"], USAGE, "/no/such.log: No such file or directory")

    def test_a_command_that_could_reach_nobody_is_a_usage_error(self):
        for command in (["node"], ["pub"], ["sub"], ["ping"], ["bench", "stream", "--mode", "pub"]):
            self.check(command, USAGE, "needs at least one --listen or --peer")

    def test_an_unreadable_file_is_named(self):
        for option in ("--zeek-log", "--zeek-events"):
            self.check(["pub", "--listen", "127.0.0.1:0", option, "/no/such.log"], USAGE, "/no/such.log")
        self.check(["pub", "--listen", "127.0.0.1:0", "--zeek-log", "/tmp"], USAGE, "/tmp: Is a directory")
        self.check(["bench", "chain", "--input", "/no/such.log"], USAGE, "/no/such.log: No such file or directory")
        self.check(["bench", "codec", "--input", "/no/such.log"], USAGE, "/no/such.log: No such file or directory")
        self.check(["bench", "memory", "--messages", "9", "--json", "/no/such/folder/x.json"], USAGE, "/no/such/folder/x.json")

    def test_a_file_without_a_usable_line_is_a_usage_error(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.log")
            with open(path, "w", encoding="utf-8") as file:
                file.write("no\theader\n")
            self.check(["pub", "--listen", "127.0.0.1:0", "--zeek-log", path], USAGE, f"{path}:1: ", "skipped 1")

    def test_an_address_that_cannot_be_parsed_is_named(self):
        self.check(["sub", "--listen", "127.0.0.1:http"], USAGE, "127.0.0.1:http")
        self.check(["node", "--peer", "nowhere"], USAGE, "nowhere")

    def test_a_port_in_use_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            for command in (["node"], ["sub"], ["pub", "--topic", "/x", "--text"]):
                self.check([*command, "--listen", address], CONNECT, address)

    def test_a_peer_that_is_not_there_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as once:
            address = f"127.0.0.1:{once.getsockname()[1]}"
        for command in (["sub"], ["pub", "--topic", "/x", "--text"], ["ping"]):
            self.check([*command, "--peer", address, "--connect-timeout", "0.2"], CONNECT, address)

    def test_what_does_not_happen_in_time_is_a_timeout(self):
        self.check(["sub", "--listen", "127.0.0.1:0", "--timeout", "0.2"], TIMEOUT, "no message in 0.2 seconds")
        self.check(["sub", "--listen", "127.0.0.1:0", "--timeout", "0.2", "--count", "3"], TIMEOUT, "0 of 3 messages")
        self.check(["pub", "--listen", "127.0.0.1:0", "--topic", "/x", "--text", "--timeout", "0.2"], TIMEOUT,
                   "0 of 1 subscribers for /x", stdin="line\n")

    def test_without_waiting_messages_nobody_wants_are_counted(self):
        self.check(["pub", "--listen", "127.0.0.1:0", "--topic", "/x", "--text", "--wait-subscribers", "0"], 0,
                   "sent 0, wanted by nobody 2", stdin="a\nb\n")


if __name__ == "__main__":
    unittest.main()
