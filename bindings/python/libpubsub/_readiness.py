"""Waiting in event loops until a descriptor is readable."""

from __future__ import annotations

import asyncio
from typing import Callable


class Readiness:
    """Lets tasks of any number of event loops wait for one level-triggered descriptor.

    Each loop watches it only while one of its tasks waits, so an idle subscriber costs nothing.
    """

    def __init__(self, fileno: Callable[[], int]) -> None:
        self._fileno = fileno
        self._waiters: dict[asyncio.AbstractEventLoop, set[asyncio.Future[None]]] = {}

    async def wait(self) -> None:
        """Returns once the descriptor is readable. May be cancelled at any time."""
        loop = asyncio.get_running_loop()
        waiter = loop.create_future()
        waiters = self._waiters.get(loop)
        if waiters is None:
            waiters = self._waiters[loop] = set()
            loop.add_reader(self._fileno(), self._wake, loop)
        waiters.add(waiter)
        try:
            await waiter
        finally:
            waiters.discard(waiter)
            if not waiters and self._waiters.get(loop) is waiters:
                self._stop_watching(loop)

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        for waiter in self._stop_watching(loop):
            if not waiter.done():
                waiter.set_result(None)

    def _stop_watching(self, loop: asyncio.AbstractEventLoop) -> set[asyncio.Future[None]]:
        loop.remove_reader(self._fileno())
        return self._waiters.pop(loop)
