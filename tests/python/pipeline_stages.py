# SPDX-License-Identifier: BSD-3-Clause
"""Functions of stages: other processes import them from here."""

import fcntl
import os
import signal
import sys
from pathlib import Path


def increment(x):
    return x + 1


def double(x):
    return 2 * x


def negate(x):
    return -x


def same(x):
    return x


def picky(x):
    if x == 3:
        raise ValueError("three is \udc80 odd")
    if x == 5:
        sys.exit("five")
    if x == 7:
        return object()
    return x


def deadly(x):
    if x == "poison":
        os.kill(os.getpid(), signal.SIGKILL)
    return x


class Gate:
    """A lock of a file: it keeps out whoever comes `at_the_gate`, until it is opened, or its process ends."""

    def __init__(self, folder):
        self._lock = open(Path(folder) / "gate", "w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def open(self):
        self._lock.close()


def at_the_gate(task):
    """Tells that it has begun, and goes on when the gate is open."""
    folder, number = task
    (Path(folder) / f"begun-{number}-{os.getpid()}").touch()
    with open(Path(folder) / "gate") as gate:
        fcntl.flock(gate, fcntl.LOCK_SH)
    return number


def take_folder_along(task):
    return task


class Loaded:
    """A function of which another process gets what `load` gives there."""

    def __init__(self, load):
        self.load = load

    def __reduce__(self):
        return self.load, ()

    def __call__(self, x):
        return x


def fail_to_load():
    raise ImportError("no such thing")


def end_while_loading():
    os._exit(3)
