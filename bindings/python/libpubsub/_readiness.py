# SPDX-License-Identifier: BSD-3-Clause
"""Waiting in event loops until a descriptor is readable."""

from __future__ import annotations

import asyncio


class Readiness:
    """Lets tasks of any number of event loops wait for one level-triggered descriptor.

    Each loop watches it only while one of its tasks waits, so an idle subscriber costs nothing.
    """

    def __init__(self) -> None:
        self._waiters: dict[asyncio.AbstractEventLoop, set[asyncio.Future[None]]] = {}

    async def wait(self, descriptor: int) -> None:
        """Returns once ``descriptor``, always the same one, is readable. May be cancelled at any time."""
        loop = asyncio.get_running_loop()
        waiter = loop.create_future()
        waiters = self._waiters.get(loop)
        if waiters is None:
            waiters = self._waiters[loop] = set()
            loop.add_reader(descriptor, self._wake, loop, descriptor)
        waiters.add(waiter)
        try:
            await waiter
        finally:
            waiters.discard(waiter)
            if not waiters and self._waiters.get(loop) is waiters:
                self._stop_watching(loop, descriptor)

    def _wake(self, loop: asyncio.AbstractEventLoop, descriptor: int) -> None:
        for waiter in self._stop_watching(loop, descriptor):
            if not waiter.done():
                waiter.set_result(None)

    def _stop_watching(self, loop: asyncio.AbstractEventLoop,
                       descriptor: int) -> set[asyncio.Future[None]]:
        loop.remove_reader(descriptor)
        return self._waiters.pop(loop)
