# SPDX-License-Identifier: BSD-3-Clause
"""A callback fed by a subscription on a thread of its own."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Callable, Optional

from ._closing import Closing
from ._interrupts import join
from .errors import ForkError

if TYPE_CHECKING:
    from ._core import Message
    from .subscriber import Subscriber


class Stream(Closing):
    """Calls ``on_message`` for every message, one at a time, until stopped or the endpoint is closed.

    An exception in the callback ends the stream and is raised again by ``wait``. As a context manager
    it stops and waits. Made by ``Endpoint.subscribe``.
    """

    def __init__(self, subscriber: Subscriber, on_message: Callable[[Message], object]) -> None:
        self._subscriber = subscriber
        self._on_message = on_message
        self._failure: Optional[BaseException] = None
        self._messages = 0
        self._thread = threading.Thread(target=self._run, name="libpubsub stream", daemon=True)
        self._thread.start()

    @property
    def messages(self) -> int:
        """Messages handled so far."""
        return self._messages

    @property
    def running(self) -> bool:
        """Whether messages are still being handled."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Ends the subscription; what is still queued is discarded. Never waits."""
        self._subscriber.close()

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Waits at most ``timeout`` seconds until the stream has ended; False on time-out.

        Raises what the callback raised.
        """
        if threading.current_thread() is not self._thread:
            join(self._thread, timeout)
        if self._failure is not None:
            raise self._failure
        return not self._thread.is_alive()

    def _leave(self) -> None:
        with contextlib.suppress(ForkError):  # a child may leave the block, too
            self.stop()
        self.wait()

    def _run(self) -> None:
        try:
            for message in self._subscriber:
                self._on_message(message)
                self._messages += 1
        except BaseException as failure:  # whatever it is, it belongs to whoever waits
            self._failure = failure
            self._subscriber.close()

    def __repr__(self) -> str:
        return f"<Stream: {self._messages} messages, {'running' if self.running else 'ended'}>"
