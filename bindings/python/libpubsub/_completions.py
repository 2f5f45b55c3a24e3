# SPDX-License-Identifier: BSD-3-Clause
"""Waiting for futures of remote execution: in event loops, and for whichever is first."""

from __future__ import annotations

import asyncio
import itertools
import time
import weakref
from typing import Any, Generator, Iterable, Iterator, Optional

from . import _core
from .errors import Timeout


class _Waiters:
    """The tasks of one event loop that wait for futures: one descriptor for all, watched while there are any."""

    def __init__(self) -> None:
        self._queue = _core.CompletionQueue()
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._keys = itertools.count()

    async def wait(self, future: _core.RemoteFuture) -> None:
        loop = asyncio.get_running_loop()
        key, waiter = next(self._keys), loop.create_future()
        if not self._waiting:
            loop.add_reader(self._queue.fileno(), self._wake)
        self._waiting[key] = waiter
        try:
            self._queue.add(future, key)
            await waiter
        finally:
            del self._waiting[key]
            if not self._waiting:
                loop.remove_reader(self._queue.fileno())

    def _wake(self) -> None:
        for key in self._queue.take(0):
            waiter = self._waiting.get(key)  # None: its task was cancelled
            if waiter is not None and not waiter.done():
                waiter.set_result(None)


_waiters: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Waiters] = weakref.WeakKeyDictionary()


def result_of(future: _core.RemoteFuture) -> Generator[Any, None, Any]:
    """What ``await future`` does. Cancelling the task cancels the call."""
    if not future.done():
        loop = asyncio.get_running_loop()
        if loop not in _waiters:
            _waiters[loop] = _Waiters()
        try:
            yield from _waiters[loop].wait(future).__await__()
        except BaseException:
            future.cancel()
            raise
    return future.result()


def as_completed(futures: Iterable[_core.RemoteFuture],
                 timeout: Optional[float] = None) -> Iterator[_core.RemoteFuture]:
    """The futures, each as soon as it is complete.

    Raises Timeout where some are not complete ``timeout`` seconds after the first was asked for.
    """
    end = None if timeout is None else time.monotonic() + timeout
    queue = _core.CompletionQueue()
    waiting = dict(enumerate(futures))
    for key, future in waiting.items():
        queue.add(future, key)
    while waiting:
        complete = queue.take(None if end is None else max(0.0, end - time.monotonic()))
        if not complete:
            raise Timeout(f"{len(waiting)} results are not here yet")
        for key in complete:
            yield waiting.pop(key)
