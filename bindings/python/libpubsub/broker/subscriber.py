# SPDX-License-Identifier: BSD-3-Clause
"""Receiving messages and status events.

``get`` takes what Broker's does, and tells its arguments apart by type:

| call | waits for | returns |
|---|---|---|
| ``get()`` | one, for ever | it |
| ``get(1.5)`` | one, at most 1.5 s | it, or None |
| ``get(3)`` | three, for ever | a list of three |
| ``get(3, 1.5)`` | three, at most 1.5 s | a list of what came |

Waiting leaves the GIL to other threads; Ctrl-C ends it. All raise Closed once the endpoint is closed and
nothing is left to return.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Callable, Generic, Optional, TypeVar, Union

from .._closing import Closing
from ..errors import Closed
from .convert import to_frozen_py, to_py
from .status import Error, Status, from_native
from .topic import Topic, topic_name

if TYPE_CHECKING:
    from .. import Message
    from .. import StatusSubscriber as NativeStatusSubscriber
    from .. import Subscriber as NativeSubscriber

Event = TypeVar("Event")
Received = tuple[str, Any]


class _Receiver(Generic[Event], Closing):
    """``get`` in its four forms, over a function that waits for events."""

    def _take(self, most: int, timeout: Optional[float]) -> list[Event]:
        """What is there, at most ``most``, once there is any; empty after ``timeout`` seconds. Raises Closed."""
        raise NotImplementedError

    def _next(self, timeout: Optional[float]) -> Optional[Event]:
        return next(iter(self._take(1, timeout)), None)

    def get(self, *args: Union[int, float]) -> Any:
        """See the module."""
        if not args:
            return self._next(None)
        if len(args) == 1 and isinstance(args[0], float):
            return self._next(max(0.0, args[0]))
        if len(args) > 2 or not isinstance(args[0], int) or args[0] < 0:
            raise TypeError("get takes seconds (a float), or how many (an int) and possibly seconds, "
                            f"not {args}")
        return self._several(args[0], float(args[1]) if len(args) == 2 else None)

    def _several(self, wanted: int, timeout: Optional[float]) -> list[Event]:
        end = None if timeout is None else time.monotonic() + timeout
        result: list[Event] = []
        while len(result) < wanted:
            try:
                taken = self._take(wanted - len(result), None if end is None else max(0.0, end - time.monotonic()))
            except Closed:
                if result:
                    break
                raise
            if not taken:
                break
            result += taken
        return result

    def reset(self) -> None:
        """Ends it; what is not read yet is discarded. Idempotent."""
        raise NotImplementedError

    def _leave(self) -> None:
        self.reset()


class Subscriber(_Receiver[Received]):
    """Receives ``(topic, value)`` pairs, values as ``Data.to_py`` gives them.

    Made by ``Endpoint.make_subscriber``. Raises ``TypeError`` for a value that Python cannot hold this way, such
    as a set of tables: what the call has taken is then lost; SafeSubscriber has no such limit. As a context
    manager it resets itself.
    """

    _convert: Callable[[Any], Any] = staticmethod(to_py)

    def __init__(self, native: NativeSubscriber) -> None:
        self._native = native

    def _take(self, most: int, timeout: Optional[float]) -> list[Received]:
        return [self._received(message) for message in self._native.get_batch(most, timeout)]

    def _received(self, message: Message) -> Received:
        return message.topic, self._convert(message.data)

    def poll(self) -> list[Received]:
        """What is there now; possibly nothing."""
        return [self._received(message) for message in self._native.poll()]

    def available(self) -> int:
        """Number of messages that can be read without waiting."""
        return self._native.available()

    def fd(self) -> int:
        """A descriptor for select and poll, readable while a message is available."""
        return self._native.fileno()

    def add_topic(self, topic: Union[Topic, str], block: bool = False) -> None:
        """Also receive topics that start with ``topic``. Effective here on return, with ``block`` or without."""
        self._native.add_topic(topic_name(topic))

    def remove_topic(self, topic: Union[Topic, str], block: bool = False) -> None:
        """Removes exactly this topic; others that also match keep matching."""
        self._native.remove_topic(topic_name(topic))

    def reset(self) -> None:
        self._native.close()


class SafeSubscriber(Subscriber):
    """A Subscriber whose values are immutable and hashable, as ``ImmutableData.to_py`` gives them."""

    _convert = staticmethod(to_frozen_py)


class StatusSubscriber(_Receiver[Union[Status, Error]]):
    """Receives Error objects, and Status objects if asked to; see ``Endpoint.make_status_subscriber``."""

    def __init__(self, native: NativeStatusSubscriber) -> None:
        self._native: Optional[NativeStatusSubscriber] = native

    def _open(self) -> NativeStatusSubscriber:
        if self._native is None:
            raise Closed("the status subscriber was reset")
        return self._native

    def _take(self, most: int, timeout: Optional[float]) -> list[Union[Status, Error]]:
        event = self._open().get(timeout)
        return [] if event is None else [from_native(event)]

    def poll(self) -> list[Union[Status, Error]]:
        """What is there now; possibly nothing."""
        return [from_native(event) for event in self._open().poll()]

    def available(self) -> int:
        """Number of events that can be read without waiting."""
        return self._open().available()

    def fd(self) -> int:
        """A descriptor for select and poll, readable while an event is available."""
        return self._open().fileno()

    def reset(self) -> None:
        self._native = None
