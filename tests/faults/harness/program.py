# SPDX-License-Identifier: BSD-3-Clause
"""A program of the fault suite (fault_node, fault_shim) under control: one line in, one JSON line out."""

import json
import os
import select
import signal
import subprocess
import time

PATIENCE_S = 30.0


class ProgramError(Exception):
    """The program said no, died, or did not answer in time."""


class Stuck(ProgramError):
    """What had to happen did not, within all patience."""


class Program:
    """A running program. `greeting` is the first line it printed. What it says on standard error goes to
    `errors`, or where ours goes. It has a session of its own: when the shell that started us ends, the kernel
    continues what is stopped in our process group."""

    def __init__(self, path, name, errors=None):
        self.name = name
        self.stopped = False
        self._buffer = b""
        self.child = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, bufsize=0,
                                      start_new_session=True)
        self.pid = self.child.pid
        self.greeting = self._answer("the greeting", PATIENCE_S)

    def ask(self, verb, patience_s=PATIENCE_S, **values):
        """Sends a command and returns the answer; an underscore at the end of a key is left out."""
        line = " ".join([verb] + [f"{key.rstrip('_')}={value}" for key, value in values.items() if value is not None])
        try:
            self.child.stdin.write(line.encode() + b"\n")
        except BrokenPipeError:
            raise ProgramError(f"{self.name} is gone ({self.fate()}) before '{line}'") from None
        return self._answer(line, patience_s)

    def _answer(self, question, patience_s):
        end = time.monotonic() + patience_s
        output = select.poll()  # takes descriptors of any number
        output.register(self.child.stdout, select.POLLIN)
        while b"\n" not in self._buffer:
            if not output.poll(max(0.0, 1_000 * (end - time.monotonic()))):
                raise ProgramError(f"{self.name} did not answer '{question}' within {patience_s:.0f} s")
            part = os.read(self.child.stdout.fileno(), 1 << 20)
            if not part:
                raise ProgramError(f"{self.name} ended ({self.fate()}) instead of answering '{question}'")
            self._buffer += part
        line, self._buffer = self._buffer.split(b"\n", 1)
        answer = json.loads(line)
        if not answer["ok"]:
            raise ProgramError(f"{self.name}: '{question}': {answer['error']}")
        return answer

    def fate(self, patience_s=PATIENCE_S):
        """How the process ended, as text."""
        try:
            status = self.child.wait(patience_s)
        except subprocess.TimeoutExpired:
            return "it still runs"
        return f"exit status {status}" if status >= 0 else signal.Signals(-status).name

    def signal(self, number):
        self.child.send_signal(number)
        if number in (signal.SIGSTOP, signal.SIGCONT):
            self.stopped = number == signal.SIGSTOP

    def kill(self):
        """As `kill -9`; returns when the process is gone."""
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        self._close_pipes()

    def end(self, patience_s=PATIENCE_S):
        """Ends its input and waits; returns its exit status, or nothing if it had to be killed."""
        self.child.stdin.close()
        try:
            return self.child.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
            return None
        finally:
            self._close_pipes()

    def _close_pipes(self):
        for pipe in (self.child.stdin, self.child.stdout):
            if not pipe.closed:
                pipe.close()


def wait_while_growing(count, condition, patience_s=PATIENCE_S):
    """Waits until `condition` is true, as long as `count` grows: how fast it does is the machine's affair.
    False if it has not grown for the patience."""
    grown = count()
    while not wait_until(condition, patience_s):
        before, grown = grown, count()
        if grown == before:
            return False
    return True


def wait_until(condition, patience_s=PATIENCE_S, pause_s=0.005):
    """Asks until the answer is true; returns it, or the last answer once the patience is used up."""
    end = time.monotonic() + patience_s
    while True:
        answer = condition()
        if answer or time.monotonic() > end:
            return answer
        time.sleep(pause_s)
