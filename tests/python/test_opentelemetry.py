# SPDX-License-Identifier: BSD-3-Clause
"""Spans of two programs are parent and child, whatever relays and versions of the wire are between them."""

import contextlib
import re
import subprocess
import sys

import pytest
from conftest import DEADLINE, ROOT

pytest.importorskip("opentelemetry.sdk", reason="the programs need the package opentelemetry-sdk")

PROGRAMS = ROOT / "docs/examples/how_to/opentelemetry"


@contextlib.contextmanager
def running(*command):
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield process.stdout
    finally:
        process.kill()
        process.communicate(timeout=DEADLINE)


def relay(pubsub_command, *arguments):
    return running(pubsub_command, "node", "--listen", "127.0.0.1:0", *arguments)


def address_in(lines):
    return "127.0.0.1:" + re.search(r"listening on \S*:(\d+)", lines.readline())[1]


@pytest.mark.parametrize("version", [2, 1])
def test_spans_are_parent_and_child_over_two_relays(pubsub_command, version):
    with contextlib.ExitStack() as stack:
        first = address_in(stack.enter_context(relay(pubsub_command)))
        # All links of this one are of that version.
        second = address_in(stack.enter_context(relay(pubsub_command, "--peer", first, "--wire-version", version)))
        responder = stack.enter_context(running(sys.executable, PROGRAMS / "responder.py", second))
        assert responder.readline() == "waiting\n"
        sensor = subprocess.run([sys.executable, PROGRAMS / "sensor.py", first], capture_output=True, text=True,
                                timeout=2 * DEADLINE, check=False)
        published = re.fullmatch(r"trace ([0-9a-f]{32}), span ([0-9a-f]{16})\n", sensor.stdout)
        assert published, sensor.stdout + sensor.stderr
        handled = re.fullmatch(r"Scan::seen 10.0.0.7 in trace ([0-9a-f]{32}), parent ([0-9a-f]{16})\n", responder.readline())
        assert handled.groups() == published.groups()
