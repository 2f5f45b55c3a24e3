# SPDX-License-Identifier: BSD-3-Clause
"""Waiting for threads of Python in a way that Ctrl-C always ends.

The waits of Python itself miss a signal that comes just before they begin, or that another thread of the process gets,
and sleep on. ``Event`` does not, nor does any other wait of the compiled half.
"""

from __future__ import annotations

import threading
import time
from _thread import RLock
from concurrent.futures import Future
from typing import Any, Optional

from ._core import Event

_TIME_TO_LOOK = 0.1  # seconds until a signal is seen that did not end a wait of Python


class _Lock(RLock):  # type: ignore[misc]  # final in the stubs only
    """What a future guards its state with, in the place of a ``threading.Condition``.

    That one is locked by a function in Python: a signal handler that raises between its lock and the block it guards
    leaves it locked. This one is locked by Python's own code. Nobody waits for it to be notified.
    """

    __slots__ = ()

    def wait(self, timeout: Optional[float] = None) -> None:
        """Returns at once: ``InterruptibleFuture`` has waited."""

    def notify_all(self) -> None:
        """Does nothing: nobody waits."""


class InterruptibleFuture(Future[Any]):
    """A future that Ctrl-C always ends waiting for, and never leaves locked."""

    def __init__(self) -> None:
        super().__init__()
        self._condition = _Lock()  # type: ignore[assignment]
        done = self._done = Event()
        self.add_done_callback(lambda _: done.set())

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Waits until it is done or cancelled, at most ``timeout`` seconds; returns whether it is."""
        return self.done() or self._done.wait(timeout)

    def result(self, timeout: Optional[float] = None) -> Any:
        self.wait(timeout)
        return super().result(0)

    def exception(self, timeout: Optional[float] = None) -> Optional[BaseException]:
        self.wait(timeout)
        return super().exception(0)


def join(thread: threading.Thread, timeout: Optional[float] = None) -> bool:
    """Waits until ``thread`` has ended, at most ``timeout`` seconds; returns whether it has."""
    end = None if timeout is None else time.monotonic() + timeout
    while thread.is_alive():
        left = _TIME_TO_LOOK if end is None else min(_TIME_TO_LOOK, end - time.monotonic())
        if left <= 0:
            return False
        thread.join(left)
    return True
