# SPDX-License-Identifier: BSD-3-Clause
"""A program in a terminal of its own: what it has drawn, and keys for it."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

from command import COMMAND, LIMIT_S

SEQUENCE = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])")


class Screen:
    """The few control sequences that `pubsub top` writes; any other is an error."""

    def __init__(self, columns, lines):
        self.columns, self.lines = columns, lines
        self.own = False  # on the alternate screen
        self.cursor_shown = True
        self._rest = ""
        self._clear()

    def _clear(self):
        self.cells = [[(" ", frozenset())] * self.columns for _ in range(self.lines)]
        self.line = self.column = 0
        self.style = frozenset()

    def feed(self, text):
        text = self._rest + text
        self._rest = ""
        while text:
            if text[0] != "\x1b":
                self._put(text[0])
                text = text[1:]
            elif found := SEQUENCE.match(text):
                self._control(*found.groups())
                text = text[found.end():]
            elif len(text) < 16:
                self._rest = text  # the end of the sequence comes later
                return
            else:
                raise AssertionError(f"not a sequence that is known: {text[:16]!r}")

    def _put(self, character):
        if character == "\n":
            self.line = min(self.line + 1, self.lines - 1)
        elif character == "\r":
            self.column = 0
        elif character < " ":
            raise AssertionError(f"a control character: {character!r}")
        elif self.line >= self.lines or self.column >= self.columns:
            raise AssertionError(f"{character!r} stands outside, at line {self.line}, column {self.column}")
        else:
            self.cells[self.line][self.column] = (character, self.style)
            self.column += 1

    def _control(self, private, numbers, kind):
        if private:
            if numbers == "1049":
                self.own = kind == "h"
                self._clear()
            elif numbers == "25":
                self.cursor_shown = kind == "h"
            else:
                raise AssertionError(f"mode {numbers}")
        elif kind == "H":
            line, column = (numbers or "1;1").split(";")
            self.line, self.column = int(line) - 1, int(column) - 1
        elif kind == "K" and numbers == "2":
            self.cells[self.line] = [(" ", frozenset())] * self.columns
        elif kind == "J" and numbers == "2":
            self._clear()
        elif kind == "m":
            self.style = frozenset() if numbers in ("", "0") else self.style | {int(numbers)}
        else:
            raise AssertionError(f"sequence {numbers}{kind}")

    def text(self):
        return "\n".join("".join(character for character, _ in line).rstrip() for line in self.cells)

    def styles_of(self, text):
        """The styles (numbers of SGR) of the first character of this text; None where it is not seen."""
        for line in self.cells:
            at = "".join(character for character, _ in line).find(text)
            if at >= 0:
                return line[at][1]
        return None


    def all_styles(self):
        return set().union(*(style for line in self.cells for _, style in line))


class Terminal:
    """The command in a terminal with so many columns and lines."""

    def __init__(self, *arguments, columns=80, lines=24, env=None):
        self.screen = Screen(columns, lines)
        self.master, slave = pty.openpty()
        self._set_size(columns, lines)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.child = subprocess.Popen([COMMAND, *map(str, arguments)], stdin=slave, stdout=slave, stderr=slave,
                                      start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                                      env={**os.environ, "TERM": "xterm", "NO_COLOR": "", **(env or {})})

    def _set_size(self, columns, lines):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def resize(self, columns, lines):
        self.screen = Screen(columns, lines)
        self._set_size(columns, lines)

    def press(self, keys):
        os.write(self.master, keys.encode())

    def _read(self, limit_s):
        if not select.select([self.master], [], [], limit_s)[0]:
            return False
        try:
            self.screen.feed(os.read(self.master, 65536).decode())
        except OSError:  # the command has closed its end
            return False
        return True

    def wait_for(self, pattern, limit_s=LIMIT_S):
        """The match of the pattern in what is on the screen, once there is one."""
        return self.wait_until(lambda: re.search(pattern, self.screen.text(), re.M), pattern, limit_s)

    def wait_until(self, holds, what="this", limit_s=LIMIT_S):
        """What `holds` returns, once that is true, with everything taken in that is drawn meanwhile."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            if found := holds():
                return found
            self._read(min(0.1, max(0.0, end - time.monotonic())))
        raise AssertionError(f"{what!r} was waited for, and the screen is:\n{self.screen.text()}")

    def finish(self, limit_s=LIMIT_S):
        """Waits for the end; returns the exit status."""
        end = time.monotonic() + limit_s
        while self.child.poll() is None and time.monotonic() < end:
            self._read(0.05)
        status = self.child.wait(max(0.0, end - time.monotonic()))
        while self._read(0):
            pass
        return status

    def restored(self):
        """Whether the terminal is as it was before the command began."""
        return (termios.tcgetattr(self.slave) == self.before, self.screen.own, self.screen.cursor_shown) == (True, False, True)

    def close(self):
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        os.close(self.master)
        os.close(self.slave)
