# SPDX-License-Identifier: BSD-3-Clause
"""The tutorials and how-to guides show programs that are there, and every session in them goes as it is shown.

A block of the kind `console` is a terminal: the commands behind `$ ` are run one after the other by bash, in a folder
that holds the programs of the page, and what they say is compared. In what is shown `...` stands for any text, and on
a line of its own for any number of lines. A terminal whose block ends with such a line goes on beside those that
follow once it has said what is shown before, as long as the page lasts. A block that begins without `$ ` shows what
else it says; it belongs to the terminal whose name stands behind `console` in both, or to the one started last. At a
line `^C` the terminal is interrupted.
All other blocks are files of the page, word for word; blocks of the kinds `sh` and `text` are neither run nor compared.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sysconfig
import tempfile
from pathlib import Path

import pytest
from conftest import DEADLINE, ROOT, wait_until

PAGES = [page for folder in ("tutorials", "how-to") for page in sorted(ROOT.glob(f"docs/{folder}/*.md")) if page.stem != "index"]
PORTS = ("9999", "9998", "9997")
# What differs from run to run without being written as `...`.
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def blocks_of(page):
    """The blocks of code of a page: kind, name, text."""
    return re.findall(r"^```(\w+) ?([\w-]*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)


def sessions_of(page):
    return [(name, text) for kind, name, text in blocks_of(page) if kind == "console"]


def name_of(page):
    return f"{page.parent.name}/{page.stem}"


def files_of(page):
    folder = ROOT / "docs/examples" / page.parent.name.replace("how-to", "how_to") / page.stem.replace("-", "_")
    return sorted(folder.iterdir()) if folder.is_dir() else []


def free_ports(count):
    """Ports that nobody listens at, below those that connections of others take for themselves."""
    found = []
    while len(found) < count:
        port = random.randrange(20_000, 30_000)
        with socket.socket() as tried, contextlib.suppress(OSError):
            tried.bind(("127.0.0.1", port))
            found.append(str(port))
    return found


def pattern_of(shown):
    """A regular expression for the lines shown."""
    result = ""
    for line in shown:
        if line == "...":
            result += r"(?:.*\n)*?"
        else:
            parts = [re.escape(part) for part in re.sub(ID, "ID", re.sub(TIME, "TIME", line)).split("...")]
            result += ".*".join(parts).replace("TIME", TIME).replace("ID", ID) + "\n"
    return result


class Terminal:
    """One bash that runs the commands of a block, and all that it and they have said."""

    def __init__(self, commands, environment, folder):
        self.log = folder.parent / f"terminal-{len(list(folder.parent.glob('terminal-*')))}"
        with self.log.open("w", encoding="utf-8") as log:
            self.child = subprocess.Popen(["bash", "-e", "-c", "\n".join(commands)], env=environment, cwd=folder,
                                          stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def said(self):
        return self.log.read_text(encoding="utf-8")

    def interrupt(self):
        if self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGINT)

    def wait(self, limit=DEADLINE):
        self.child.wait(limit)

    def kill(self):
        if self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGKILL)
            self.child.wait()


class Session:
    """The terminals of a page."""

    def __init__(self, environment, folder):
        self.environment, self.folder = environment, folder
        self.running = {}  # those that go on, by name: terminal, lines shown
        self.all = []

    def run(self, block, name=""):
        lines = block.splitlines()
        if not lines[0].startswith("$ "):
            terminal, shown = self.running.pop(name or list(self.running)[-1])
            self.go_on(name, terminal, [*shown, *lines])
            return
        shown = [line for line in lines if not line.startswith("$ ")]
        terminal = Terminal([line[2:] for line in lines if line.startswith("$ ")], self.environment, self.folder)
        self.all.append(terminal)
        if shown and shown[-1] == "...":
            self.wait_for_lines(terminal, shown[:-1])
            self.running[name or len(self.all)] = terminal, shown
        else:
            terminal.wait(10 * DEADLINE)
            self.compare(terminal, shown)
            assert terminal.child.returncode == 0, terminal.said()

    def go_on(self, name, terminal, shown):
        """Waits for the lines before `...` or `^C` at the end, or for the end of the terminal, and looks at everything."""
        if "^C" in shown:
            self.wait_for_lines(terminal, shown[:shown.index("^C")])
            terminal.interrupt()
            shown = [line for line in shown if line != "^C"]
        elif shown[-1] == "...":
            self.wait_for_lines(terminal, shown[:-1])
            self.running[name or len(self.all)] = terminal, shown
            return
        terminal.wait()
        self.compare(terminal, shown)

    def wait_for_lines(self, terminal, shown):
        """Waits until the terminal has said that much, or has ended."""
        with contextlib.suppress(AssertionError):  # at the deadline: the comparison says more
            wait_until(lambda: re.match(pattern_of(shown), terminal.said()) or terminal.child.poll() is not None)
        self.compare(terminal, shown, re.match)

    def compare(self, terminal, shown, matches=re.fullmatch):
        said = terminal.said()
        assert matches(pattern_of(shown), said), "shown:\n%s\n\nsaid:\n%s" % ("\n".join(shown), said)

    def finish(self):
        for terminal, shown in reversed(list(self.running.values())):
            self.go_on("", terminal, [*shown, "^C"])


def install_the_library(home):
    """As docs/how-to/install.md says."""
    command, = re.findall(r"^(cmake --install .*)$", (ROOT / "docs/how-to/install.md").read_text(encoding="utf-8"), re.M)
    if not (ROOT / "build/release/libpubsub/libpubsub.a").exists():
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("the library is not built in build/release")
    subprocess.run(["bash", "-c", command], cwd=ROOT, env={**os.environ, "HOME": str(home)}, check=True, capture_output=True,
                   timeout=10 * DEADLINE)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", [page for page in PAGES if sessions_of(page)], ids=name_of)
def test_every_session_goes_as_it_is_shown(page, pubsub_command):
    for stem, module in (("opentelemetry", "opentelemetry.sdk"), ("data-frames", "pyarrow")):
        if page.stem == stem:
            pytest.importorskip(module, reason="the programs of the page need it")
    with tempfile.TemporaryDirectory(prefix="pubsub") as root:  # short enough for the path of a socket
        run_the_sessions(page, Path(root), pubsub_command)


def run_the_sessions(page, root, pubsub_command):
    folder, home = root / "here", root / "home"
    folder.mkdir()
    home.mkdir()
    ports = dict(zip(PORTS, free_ports(len(PORTS))))

    def with_free_ports(text):
        return re.sub(r"\b999[789]\b", lambda found: ports[found[0]], text)

    for file in files_of(page):
        (folder / file.name).write_text(with_free_ports(file.read_text(encoding="utf-8")), encoding="utf-8")
    shutil.copy(ROOT / "bench/data/conn.log", folder)
    if any("$HOME/libpubsub" in text for _, text in sessions_of(page)):
        install_the_library(home)
    scripts = sysconfig.get_path("scripts")
    environment = {**os.environ, "HOME": str(home), "PYTHONUNBUFFERED": "1", "TZ": "UTC",
                   "PATH": os.pathsep.join([scripts, str(Path(pubsub_command).parent), os.environ["PATH"]])}
    session = Session(environment, folder)
    try:
        for name, text in sessions_of(page):
            session.run(with_free_ports(text), name)
        session.finish()
    finally:
        for terminal in session.all:
            terminal.kill()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_program_is_shown_word_for_word(page):
    shown = [text for kind, _, text in blocks_of(page) if kind not in ("console", "text", "sh")]
    there = [file.read_text(encoding="utf-8") for file in files_of(page)]
    assert [text for text in shown if text not in there] == []
    assert [file.name for file in files_of(page) if file.read_text(encoding="utf-8") not in shown] == []


def test_a_session_that_goes_another_way_is_found(tmp_path):
    """The comparison can fail: another text, a line too many, a command that fails."""
    (tmp_path / "here").mkdir()
    session = Session(dict(os.environ), tmp_path / "here")
    session.run("$ echo one; echo two three\none\ntwo ...\n")
    session.run("$ printf '%s\\n' 1 2 3\n1\n...\n")
    for wrong in ("$ echo one\ntwo\n", "$ echo one; echo two\none\n", "$ false\n"):
        with pytest.raises(AssertionError):
            session.run(wrong)
