# SPDX-License-Identifier: BSD-3-Clause
"""What shells complete: asked of the command as their scripts do, and typed into the shells themselves."""

import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from command import COMMAND, LIMIT_S, CommandTest

PATH = f"{pathlib.Path(COMMAND).resolve().parent}:{os.environ['PATH']}"


class Words(CommandTest):
    def complete(self, *words):
        """What is offered for the last word: (kind, words)."""
        status, out, err = self.run_command("complete", *words)
        self.assertEqual((status, err), (0, ""))
        kind, *lines = out.splitlines()
        for line in lines:
            self.assertRegex(line, r"^\S+\t\S.*$")
        return kind, [line.split("\t")[0] for line in lines]

    def shown_by_help(self, pattern, *command):
        return re.findall(pattern, self.run_command(*command, "--help")[1], re.M)

    def test_subcommands_are_those_of_the_help(self):
        for command in ([], ["bench"], ["butterfly"]):
            shown = self.shown_by_help(r"^  ([a-z][\w-]*)(?=  |$)", *command)
            self.assertLess(3, len(shown))
            self.assertEqual(self.complete(*command, ""), ("words", shown))
        self.assertEqual(self.complete("nod"), ("words", ["node"]))
        self.assertEqual(self.complete("nothing-like-it"), ("words", []))

    def test_options_are_those_of_the_help(self):
        for command in (["node"], ["status"], ["bench", "chain"], ["butterfly", "component1"]):
            shown = self.shown_by_help(r"^  (?:-\w,)?(--[\w-]+)", *command)
            self.assertLess(5, len(shown))
            self.assertEqual(self.complete(*command, "--"), ("words", shown))
        self.assertEqual(self.complete("node", "--log"), ("words", ["--log-format", "--log-level"]))

    def test_an_option_is_offered_again_only_if_it_may_be_repeated(self):
        _, words = self.complete("node", "--listen", "127.0.0.1:9999", "--name=here", "--json", "--")
        self.assertIn("--listen", words)
        for gone in ("--name", "--json"):
            self.assertNotIn(gone, words)

    def test_the_values_of_an_option_with_a_fixed_set(self):
        self.assertEqual(self.complete("node", "--log-format", ""), ("words", ["text", "json"]))
        self.assertEqual(self.complete("sub", "--policy", "drop-n"), ("words", ["drop-newest"]))
        self.assertEqual(self.complete("node", "--log-format=j"), ("words", ["--log-format=json"]))
        self.assertEqual(self.complete("node", "--log-format", "=", "j"), ("words", ["json"]), "as bash splits it")
        self.assertEqual(self.complete("bench", "stream", "--mode", "p"), ("words", ["pub"]))
        self.assertEqual(self.complete("completion", "z"), ("words", ["zsh"]))

    def test_files_where_an_option_names_one(self):
        for words in (["node", "--config"], ["node", "--certificate"], ["pub", "--zeek-log"], ["bench", "chain", "--input"]):
            self.assertEqual(self.complete(*words, "")[0], "files", words)
            self.assertEqual(self.complete(*words[:-1], words[-1] + "=x")[0], "files", words)

    def test_nothing_for_topics_hosts_and_numbers(self):
        for words in (["sub", "--topic"], ["node", "--listen"], ["status"], ["node", "--max-peers"]):
            self.assertEqual(self.complete(*words, ""), ("words", []), words)
        self.assertEqual(self.complete("sub", "--frobnicate="), ("words", []))

    def test_a_value_is_no_subcommand_and_what_follows_it_is_no_value(self):
        self.assertEqual(self.complete("node", "--name", "sub", "--jso"), ("words", ["--json"]))
        self.assertEqual(self.complete("status", "127.0.0.1:9999", "--wa"), ("words", ["--watch"]))

    def test_only_shells_that_are_known_have_a_script(self):
        self.assertEqual(self.run_command("completion", "tcsh")[0], 1)


class Shells(CommandTest):
    """Lines with a Tab in them, which do what is awaited only if the Tab completes a word."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "a file.toml").write_text('peer = ["127.0.0.1:9"]\n', encoding="utf-8")

    def type(self, program, lines, awaited):
        """Types lines into a shell at a terminal, until it prints what is awaited."""
        if not shutil.which(program[0]):
            self.skipTest(f"{program[0]} is not installed")
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execvpe(program[0], program, {"PATH": PATH, "TERM": "dumb", "HOME": str(self.folder), "LC_ALL": "C.UTF-8"})
        try:
            os.write(terminal, "".join(line + "\r" for line in lines).encode())
            shown, end = "", time.monotonic() + LIMIT_S
            while awaited not in shown:
                ready, _, _ = select.select([terminal], [], [], max(0.0, end - time.monotonic()))
                self.assertTrue(ready, f"{awaited!r} is not among {shown!r}")
                try:
                    shown += os.read(terminal, 65536).decode(errors="replace")
                except OSError:
                    self.fail(f"{program[0]} ended: {shown!r}")
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(terminal)

    def test_bash(self):
        bash = ["bash", "--norc", "--noprofile", "-i"]
        load = "source <(pubsub completion bash)"
        self.type(bash, [load, "pubsub compl\tfi\t"], "function __pubsub_complete")
        self.type(bash, [load, "pubsub node --config=a\t --che\t"], "all is well")
        self.type(bash, [load, "pubsub node --listen 127.0.0.1:9 --log-format=js\t --wire-version=\t 1 --che\t"], "all is well")

    def test_bash_without_a_terminal(self):
        script = """source <(pubsub completion bash)
            COMP_WORDS=(pubsub node --log-format = '') COMP_CWORD=4
            _pubsub pubsub '' =
            echo "${COMPREPLY[@]}"
            COMP_WORDS=(pubsub bench lat) COMP_CWORD=2
            _pubsub pubsub lat bench
            echo "${COMPREPLY[@]}"
            complete -p pubsub"""
        done = subprocess.run(["bash", "-c", script], env={**os.environ, "PATH": PATH}, capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual((done.stdout, done.stderr), ("text json\nlatency\ncomplete -F _pubsub pubsub\n", ""))

    def test_zsh(self):
        zsh = ["zsh", "-f", "-i"]
        load = ["autoload -U compinit; compinit -u -D", "source <(pubsub completion zsh)"]
        self.type(zsh, [*load, "pubsub compl\tfi\t"], "function __pubsub_complete")
        self.type(zsh, [*load, "pubsub node --config=a\t --che\t"], "all is well")
        (self.folder / "_pubsub").write_text(self.run_command("completion", "zsh")[1], encoding="utf-8")
        self.type(zsh, ["fpath=($PWD $fpath)", load[0], "pubsub compl\tfi\t"], "function __pubsub_complete")

    def test_fish(self):
        if not shutil.which("fish"):
            self.skipTest("fish is not installed")

        def offered(line):
            done = subprocess.run(["fish", "--no-config", "-c", "pubsub completion fish | source; complete -C $argv", line], cwd=self.folder,
                                  env={**os.environ, "PATH": PATH, "HOME": str(self.folder)}, capture_output=True, text=True, timeout=LIMIT_S)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return [each.split("\t")[0] for each in done.stdout.splitlines()]

        self.assertEqual(offered("pubsub no"), ["node"])
        self.assertEqual(offered("pubsub bench lat"), ["latency"])
        self.assertEqual(offered("pubsub node --log-format "), ["json", "text"])
        self.assertEqual(offered("pubsub node --log-format=j"), ["--log-format=json"])
        self.assertEqual(offered("pubsub sub --topic "), [])
        self.assertEqual(offered("pubsub node --config a"), ["a file.toml"])
        self.assertEqual(offered("pubsub node --config=a"), ["--config=a file.toml"])


if __name__ == "__main__":
    unittest.main()
