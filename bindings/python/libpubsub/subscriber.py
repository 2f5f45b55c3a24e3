# SPDX-License-Identifier: BSD-3-Clause
"""Subscriber, StatusSubscriber and NetworkSubscriber: what the compiled classes do, plus context managers and asyncio."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Iterable, Optional, Union

from . import _core
from ._closing import Closing
from ._readiness import Readiness
from .conditions import Condition, Expression, condition_of
from .errors import Closed, ForkError

if TYPE_CHECKING:
    from typing import Literal

    from .endpoint import Endpoint

    Policy = Literal["block", "drop_oldest", "drop_newest", "conflate", "disconnect"]

Where = Union[str, Expression, Condition, None]
"""What says which messages a subscriber gets."""
DEFAULT_CAPACITY = 65_536
"""Messages a queue holds unless told otherwise."""
DEFAULT_CAPACITY_BYTES = 64 * 1024 * 1024
"""Bytes of topics and payloads a queue holds unless told otherwise."""

_STEPS_PER_TURN = 256  # of an `async for`, before the event loop's other tasks get a turn


def topic_list(topics: Union[str, Iterable[str]]) -> list[str]:
    """A list of topics, given one or several."""
    return [topics] if isinstance(topics, str) else list(topics)


class Subscriber(_core.Subscriber, Closing):
    """Receives the messages of some topics through a bounded queue.

    Iterate it (``for message in subscriber`` or ``async for``; both end when it or its endpoint is
    closed and nothing is left), or use ``get``, ``get_batch`` and ``poll``. Any number of threads and
    event loops may share one; each message goes to one of them. Waiting leaves the GIL to others and
    Ctrl-C ends it. As a context manager it closes itself.

    ``topics`` are prefixes; the empty one matches everything. The queue holds ``capacity`` messages and
    ``capacity_bytes``; when it is full, ``policy`` says who waits or what goes: ``"block"`` the
    publisher (nothing is lost), ``"drop_oldest"``, ``"drop_newest"`` (counted, see ``counters``);
    with ``"conflate"`` the newest message of each topic waits, with ``"disconnect"`` a subscriber that
    does not keep up is closed after what its queue holds.

    ``where``: a condition that messages have to fulfil, as text or an expression (see Condition); the others are counted
    as ``filtered`` and take no room. Raises InvalidArgument, Closed, and what Condition raises.
    """

    def __init__(self, endpoint: Endpoint, topics: Union[str, Iterable[str]], *,
                 capacity: int = DEFAULT_CAPACITY, capacity_bytes: int = DEFAULT_CAPACITY_BYTES,
                 policy: Policy = "block", where: Where = None) -> None:
        super().__init__(endpoint, topic_list(topics), capacity, capacity_bytes, policy, condition_of(where))
        self._readiness = Readiness()
        self._steps = 0

    if TYPE_CHECKING:  # the compiled class iterates by slot
        def __iter__(self) -> Subscriber: ...
        def __next__(self) -> _core.Message: ...

    def __aiter__(self) -> Subscriber:
        return self

    async def __anext__(self) -> _core.Message:
        self._steps += 1
        if self._steps % _STEPS_PER_TURN == 0:
            await asyncio.sleep(0)
        while True:
            try:
                message = self.next_nowait()
            except StopIteration:
                raise StopAsyncIteration from None
            if message is not None:
                return message
            await self._readiness.wait(self.fileno())

    async def get_async(self, timeout: Optional[float] = None) -> Optional[_core.Message]:
        """As ``get``, for a task of an event loop: waits for the next message at most ``timeout`` seconds.

        Returns None on time-out. Raises Closed once closed and drained. Cancelling it loses nothing.
        """
        try:
            return await asyncio.wait_for(self.__anext__(), timeout)
        except asyncio.TimeoutError:
            return None
        except StopAsyncIteration:
            raise Closed("the subscriber is closed and drained") from None

    async def wait_ready_async(self, timeout: Optional[float] = None) -> bool:
        """As ``wait_ready``, for a task of an event loop."""
        known = self._begin_ready()
        try:
            await asyncio.wait_for(Readiness().wait(known.fileno()), timeout)
        except asyncio.TimeoutError:
            return False
        return known.ready

    def __repr__(self) -> str:
        try:
            state = "closed" if self.closed else f"{self.available()} waiting"
            return f"<Subscriber {', '.join(map(repr, self.topics))}: {state}>"
        except ForkError:
            return "<Subscriber of a parent process>"


class StatusSubscriber(_core.StatusSubscriber):
    """Receives status and error events of an endpoint's peerings, in order, from its creation on.

    Iterate it (``for`` or ``async for``), or use ``get`` and ``poll``. ``errors_only``: see no changes of status.
    """

    def __init__(self, endpoint: Endpoint, *, errors_only: bool = False) -> None:
        super().__init__(endpoint, errors_only)
        self._readiness = Readiness()

    def __iter__(self) -> StatusSubscriber:
        return self

    def __aiter__(self) -> StatusSubscriber:
        return self

    async def __anext__(self) -> _core.Status:
        while True:
            try:
                event = self.next_nowait()
            except StopIteration:
                raise StopAsyncIteration from None
            if event is not None:
                return event
            await self._readiness.wait(self.fileno())

    def __repr__(self) -> str:
        try:
            return f"<StatusSubscriber{': closed' if self.closed else ''}>"
        except ForkError:
            return "<StatusSubscriber of a parent process>"


class NetworkSubscriber(_core.NetworkSubscriber, Closing):
    """Tells which nodes of the network there are, at any distance, and which topics they want.

    It begins with what is known now, each node before its topics; then come the changes, those of one node in
    their order. Iterate it (``for`` or ``async for``; both end when it or its endpoint is closed), or use ``get``
    and ``poll``. Nothing is dropped, and nothing queues up: a change that was taken back before it was read is not
    seen, but a node that has started again is lost and added. A client sees the relays that it is linked with, and
    no topics. As a context manager it closes itself.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self._readiness = Readiness()

    def __iter__(self) -> NetworkSubscriber:
        return self

    def __aiter__(self) -> NetworkSubscriber:
        return self

    async def __anext__(self) -> _core.NetworkEvent:
        while True:
            try:
                event = self.next_nowait()
            except StopIteration:
                raise StopAsyncIteration from None
            if event is not None:
                return event
            await self._readiness.wait(self.fileno())

    async def get_async(self, timeout: Optional[float] = None) -> Optional[_core.NetworkEvent]:
        """As ``get``, for a task of an event loop. Cancelling it loses nothing."""
        try:
            return await asyncio.wait_for(self.__anext__(), timeout)
        except asyncio.TimeoutError:
            return None
        except StopAsyncIteration:
            raise Closed("there are no more events: the endpoint, or what reads them, is closed") from None

    def __repr__(self) -> str:
        try:
            return f"<NetworkSubscriber{': closed' if self.closed else ''}>"
        except ForkError:
            return "<NetworkSubscriber of a parent process>"
