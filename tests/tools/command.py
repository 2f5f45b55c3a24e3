# SPDX-License-Identifier: BSD-3-Clause
"""Runs the pubsub command for the tests: with deadlines, and never left behind."""

import os
import queue
import re
import subprocess
import threading
import time
import unittest

COMMAND = os.environ.get("PUBSUB_COMMAND", "pubsub")
NO_JSON = "PUBSUB_NO_JSON" in os.environ
NO_RECORD = "PUBSUB_NO_RECORD" in os.environ
LIMIT_S = 60.0

CONN_LOG = "\n".join([
    "#separator \\x09", "#set_separator\t,", "#empty_field\t(empty)", "#unset_field\t-", "#path\tconn",
    "#fields\tts\tuid\tid.orig_h\tid.orig_p\tproto\tduration\ttags",
    "#types\ttime\tstring\taddr\tport\tenum\tinterval\tset[string]",
    "1700000000.000001\tC1\t192.0.2.1\t53\tudp\t0.25\ta,b",
    "1700000000.000002\tC2\t2001:db8::1\t80\ttcp\t-\t(empty)",
    "1700000000.000003\tC3\t192.0.2.3\t443\ttcp\t1.5\t-",
]) + "\n"


class Process:
    """The command running in the background, its output read line by line."""

    def __init__(self, *arguments, stdin=subprocess.DEVNULL, env=None, under=()):
        """`under`: a program, with its arguments, that starts it."""
        self.child = subprocess.Popen([*under, COMMAND, *arguments], stdin=stdin, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})
        self.out, self.err = [], []
        self._lines = queue.Queue()
        self._threads = [threading.Thread(target=self._read, args=pair, daemon=True)
                         for pair in ((self.child.stdout, self.out), (self.child.stderr, self.err))]
        for thread in self._threads:
            thread.start()

    def _read(self, stream, kept):
        for line in stream:
            kept.append(line.rstrip("\n"))
            self._lines.put(kept[-1])
        self._lines.put(None)

    def wait_for_line(self, pattern, limit_s=LIMIT_S):
        """The match of the next line, on either stream, that fits the pattern."""
        end = time.monotonic() + limit_s
        ended = 0
        while ended < 2:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no line like {pattern!r}; stdout {self.out[-5:]}, stderr {self.err[-5:]}")
            if line is None:
                ended += 1
            elif found := re.search(pattern, line):
                return found
        raise AssertionError(f"ended without a line like {pattern!r}; stderr {self.err[-5:]}")

    def port(self):
        """The port it says it listens on."""
        return self.wait_for_line(r"(?:listening on |\"address\":\")\S*:(\d+)")[1]

    def finish(self, limit_s=LIMIT_S):
        """Waits for the end; returns the exit status."""
        try:
            status = self.child.wait(limit_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"still running after {limit_s} s; stderr {self.err[-5:]}")
        for thread in self._threads:
            thread.join(limit_s)
        return status

    def kill(self):
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()


class CommandTest(unittest.TestCase):
    """A test that starts commands and ends them whatever happens."""

    def start(self, *arguments, **options):
        process = Process(*map(str, arguments), **options)
        self.addCleanup(process.child.stdout.close)
        self.addCleanup(process.child.stderr.close)
        self.addCleanup(process.kill)
        return process

    def run_command(self, *arguments, stdin="", limit_s=LIMIT_S):
        """Runs to the end; returns (status, stdout, stderr)."""
        done = subprocess.run([COMMAND, *map(str, arguments)], input=stdin, capture_output=True, text=True,
                              timeout=limit_s, check=False)
        return done.returncode, done.stdout, done.stderr
