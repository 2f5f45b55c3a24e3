# SPDX-License-Identifier: BSD-3-Clause
"""The bar: what it says, when it is drawn, and when it keeps silent."""

import io
import os
import pty
import sys
import types

import pytest

from libpubsub import Progress, Sink, Ventilator, Worker
from libpubsub.pipelines import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    now = types.SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now.seconds)
    monkeypatch.setitem(sys.modules, "tqdm", None)  # as where it is not installed
    return now


def test_a_line_says_how_much_is_done_at_what_rate_since_and_until_when(clock):
    bar = Progress(total=100, description="sent", file=io.StringIO())
    clock.seconds += 2
    bar.update(39)
    bar.update(failed=1)
    assert bar.line() == "sent: 40/100 tasks (40 %), 20.0/s, 0:02, 0:03 left, 1 failed"
    bar.update(60, redelivered=2)
    assert bar.line() == "sent: 100/100 tasks (100 %), 50.0/s, 0:02, 1 failed, 2 redelivered"
    clock.seconds += 3600
    assert Progress(total=None, unit="files").line() == "0 files, 0.0/s, 0:00"
    assert progress.clock_time(3723.9) == "1:02:03"


def test_a_terminal_sees_ten_drawings_a_second_and_the_last(clock):
    file = Terminal()
    with Progress(range(1000), file=file) as bar:
        for _ in bar.iterable:
            clock.seconds += 1 / 64
            bar.update()
    drawn = file.getvalue().split("\r")[1:]
    assert len(drawn) == 1000 // 7 + 1  # of 64 in a second every seventh is a tenth later
    assert drawn[-1] == "1000/1000 tasks (100 %), 64.0/s, 0:15\x1b[K\n"
    bar.close()
    assert file.getvalue().count("\n") == 1


def test_what_is_no_terminal_sees_nothing_unless_forced(clock):
    silent, forced = io.StringIO(), io.StringIO()
    for file, force in ((silent, False), (forced, True)):
        for _ in Progress(range(100), file=file, force=force):
            clock.seconds += 0.125
    assert silent.getvalue() == ""
    assert [line.split(",")[0] for line in forced.getvalue().splitlines()] == [
        "40/100 tasks (40 %)", "80/100 tasks (80 %)", "100/100 tasks (100 %)"]


def test_tqdm_draws_where_it_is_installed(clock, monkeypatch):
    bars = []

    class Bar:
        n = 0

        def __init__(self, **options):
            self.options, self.postfix, self.closed = options, {}, False
            bars.append(self)

        def update(self, n):
            self.n += n

        def set_postfix(self, ordered, refresh):
            self.postfix = ordered

        def close(self):
            self.closed = True

    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=Bar))
    with Progress(total=3, description="x", file=Terminal()) as bar:
        bar.update(2, failed=1)
    [shown] = bars
    assert (shown.n, shown.postfix, shown.closed, shown.options["total"]) == (2, {"failed": 1}, True, 3)
    Progress(total=3, file=io.StringIO())
    assert len(bars) == 1


def test_without_a_stderr_nothing_is_drawn(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert list(Progress([1, 2])) == [1, 2]


def test_ventilator_and_sink_show_how_far_they_are(endpoint, monkeypatch):
    ours, theirs = pty.openpty()
    with open(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setitem(sys.modules, "tqdm", None)
        with Sink(endpoint) as sink, Worker(endpoint, str), Ventilator(endpoint) as out:
            assert out.send_all(range(20), progress=True) == 20
            assert out.send_all(range(20), progress=lambda values: list(values)[:5]) == 5
            assert len(sink.take(25, 20, progress=True)) == 25
        shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "sent: 20/20 tasks (100 %)" in shown and "taken: 25/25 tasks (100 %)" in shown
