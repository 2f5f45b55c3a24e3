# SPDX-License-Identifier: BSD-3-Clause
"""How far a pipeline is, for whoever waits at a terminal."""

from __future__ import annotations

import importlib
import shutil
import sys
import time
from typing import Any, Generic, Iterable, Iterator, Optional, TextIO, TypeVar

from .._closing import Closing

_Value = TypeVar("_Value")

_BETWEEN_DRAWINGS = 0.1  # seconds, on a terminal
_BETWEEN_LINES = 5.0  # seconds, elsewhere


class Progress(Generic[_Value], Closing):
    """A bar on stderr: how many of how many are done, at what rate, since and until when, how many failed or came again.

    Iterate it (``for value in Progress(values)``), or call ``update``; ``close`` it at the end, or use it as a context
    manager. ``total`` is the number to come: by default the length of ``iterable``, where it has one. ``file`` is where
    to draw. Drawn at most ten times a second, by tqdm where that is installed; silent where ``file`` is no terminal
    unless ``force`` is true: then it is a line every five seconds. Not for concurrent use.
    """

    def __init__(self, iterable: Iterable[_Value] = (), total: Optional[int] = None, *, description: str = "",
                 unit: str = "tasks", file: Optional[TextIO] = None, force: bool = False) -> None:
        self.iterable = iterable
        self.total = length_of(iterable) if total is None else total
        self.description = description
        self.unit = unit
        self.done = 0
        self.failed = 0
        self.redelivered = 0
        self._file = sys.stderr if file is None else file
        self._terminal = self._file is not None and self._file.isatty()  # a daemon has no stderr
        self._shown = self._file is not None and (self._terminal or force)
        self._begun = self._drawn = time.monotonic()
        self._bar = self._tqdm() if self._shown and self._terminal else None

    def update(self, n: int = 1, *, failed: int = 0, redelivered: int = 0) -> bool:
        """So many more are done; of these so many failed, or were done again. Returns whether it was drawn."""
        self.done += n
        self.failed += failed
        self.redelivered += redelivered
        if not self._shown:
            return False
        now = time.monotonic()
        if now - self._drawn < (_BETWEEN_DRAWINGS if self._terminal else _BETWEEN_LINES):
            return False
        self._drawn = now
        self._draw()
        return True

    def close(self) -> None:
        """Draws the last state and ends the line. Idempotent."""
        if not self._shown:
            return
        self._draw()
        self._shown = False
        if self._bar is not None:
            self._bar.close()
        elif self._terminal:
            self._file.write("\n")
            self._file.flush()

    def line(self) -> str:
        """The state as text, such as ``sent: 40/100 tasks (40 %), 20.0/s, 0:02, 0:03 left, 1 failed``."""
        seconds = time.monotonic() - self._begun
        rate = self.done / seconds if seconds > 0 else 0.0
        of = "" if self.total is None else f"/{self.total}"
        parts = [f"{self.done}{of} {self.unit}" + (f" ({100 * self.done // self.total} %)" if self.total else ""),
                 f"{rate:.1f}/s", clock_time(seconds)]
        if self.total is not None and rate > 0 and self.done < self.total:
            parts.append(f"{clock_time((self.total - self.done) / rate)} left")
        parts += [f"{count} {what}" for what, count in self._troubles().items()]
        return (f"{self.description}: " if self.description else "") + ", ".join(parts)

    def _troubles(self) -> dict[str, int]:
        both = {"failed": self.failed, "redelivered": self.redelivered}
        return {what: count for what, count in both.items() if count}

    def _draw(self) -> None:
        if self._bar is not None:
            self._bar.set_postfix(self._troubles(), refresh=False)
            self._bar.update(self.done - self._bar.n)
        elif self._terminal:
            width = shutil.get_terminal_size().columns - 1
            self._file.write(f"\r{self.line()[:width]}\x1b[K")
            self._file.flush()
        else:
            self._file.write(f"{self.line()}\n")
            self._file.flush()

    def _tqdm(self) -> Any:
        try:
            tqdm = importlib.import_module("tqdm")
        except ImportError:
            return None
        return tqdm.tqdm(total=self.total, desc=self.description or None, unit=f" {self.unit}", file=self._file,
                         mininterval=_BETWEEN_DRAWINGS, miniters=1, dynamic_ncols=True)

    def __iter__(self) -> Iterator[_Value]:
        with self:
            for value in self.iterable:
                yield value
                self.update()


def length_of(values: Iterable[Any]) -> Optional[int]:
    """How many values there are, if they know it; None for nothing at all, too."""
    try:
        return len(values) or None  # type: ignore[arg-type]
    except TypeError:
        return None


def clock_time(seconds: float) -> str:
    """Such as ``1:02:03``; without hours while there are none."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
