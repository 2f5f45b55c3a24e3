"""Shared by all Python tests: deadlines instead of sleeps, and endpoints that go away again."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
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
