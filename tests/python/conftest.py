# SPDX-License-Identifier: BSD-3-Clause
"""Shared by all Python tests: deadlines instead of sleeps, and endpoints that go away again."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import textwrap
import time
from pathlib import Path

import pytest

import libpubsub

DEADLINE = 20.0
"""Seconds after which whatever a test waits for counts as not coming."""

ROOT = Path(__file__).resolve().parents[2]


def wait_until(condition, timeout=DEADLINE):
    """Polls `condition` until it is true; fails the test after `timeout` seconds."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "the condition did not become true in time"
        time.sleep(0.001)


@pytest.fixture
def endpoint():
    with libpubsub.Endpoint() as result:
        yield result


@pytest.fixture
def relaying():
    """An endpoint that is a relay, although it does not listen."""
    with libpubsub.Endpoint(forwarding=True) as result:
        yield result


@pytest.fixture
def pubsub_command():
    """Path of the command `pubsub`: beside this interpreter, or on the PATH."""
    beside = Path(sysconfig.get_path("scripts")) / "pubsub"
    found = str(beside) if beside.exists() else shutil.which("pubsub")
    if found is None:
        # A wheel may lack the command (no CLI11 or fmt); in CI that would hide the relay tests.
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("the command pubsub is not installed")
    return found


@pytest.fixture
def python():
    return sys.executable


def run_the_programs_of(page, example, folder):
    """Those in Python print what their comments say; the one in C++ is `example`, which ctest runs."""
    text = (ROOT / page).read_text(encoding="utf-8")
    shown, = re.findall(r"^```cpp\n(.*?)^```$", text, re.M | re.S)
    assert shown == (ROOT / example).read_text(encoding="utf-8")
    programs = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    assert programs
    for program in programs:
        (folder / "program.py").write_text(program, encoding="utf-8")
        done = subprocess.run([sys.executable, folder / "program.py"], capture_output=True, text=True, timeout=60,
                              check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == re.findall(r"^ *print\(.*#\s*(.*)$", program, re.M)


def ctrl_c_ends(program):
    """Whether it ends well: it prints `waiting`, and `interrupted` once it has caught KeyboardInterrupt."""
    first = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)  # programs in the background ignore it\n"
    process = subprocess.Popen([sys.executable, "-c", first + textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=DEADLINE)
    return (out, process.returncode) == ("interrupted\n", 0)
