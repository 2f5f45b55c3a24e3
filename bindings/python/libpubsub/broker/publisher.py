# SPDX-License-Identifier: BSD-3-Clause
"""Publishing to one topic."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Optional

from .._closing import Closing
from ..errors import Closed, EncodeError
from ..subscriber import DEFAULT_CAPACITY
from .data import Data

if TYPE_CHECKING:
    from .. import Endpoint as NativeEndpoint


def publish_converted(publish: Callable[[Any], object], data: Any) -> None:
    """Publishes ``data``; what the library does not take as it is goes through Data. Raises as Data does."""
    try:
        publish(data)
    except EncodeError:
        publish(Data(data).to_data())


class Publisher(Closing):
    """Publishes to one topic; made by ``Endpoint.make_publisher``. As a context manager it resets itself.

    ``publish`` waits where Broker would cut off a peer that does not keep up: while a queue towards one is full.
    """

    def __init__(self, node: NativeEndpoint, topic: str) -> None:
        self._node = node
        self._native = node.make_publisher(topic)
        self._closed = False
        self._pipe: Optional[tuple[int, int]] = None

    def publish(self, data: Any) -> None:
        """Raises ``TypeError``, ``OverflowError`` (see Data), Closed."""
        if self._closed:
            raise Closed("the publisher was reset")
        publish_converted(self._native.publish, data)

    def publish_batch(self, *batch: Any) -> None:
        """Publishes each argument as a message."""
        for data in batch:
            self.publish(data)

    def buffered(self) -> int:
        """Messages of this endpoint that wait to be written to its peers."""
        return self._node.counters().links.queued

    def capacity(self) -> int:
        """Messages that may wait for one peer before ``publish`` waits."""
        return DEFAULT_CAPACITY

    def free_capacity(self) -> int:
        return max(0, self.capacity() - self.buffered())

    demand = free_capacity

    def fd(self) -> int:
        """A descriptor for select and poll that is readable always: ``publish`` may be called at any time."""
        if self._pipe is None:
            self._pipe = os.pipe()
            os.write(self._pipe[1], b"1")
        return self._pipe[0]

    def drop_all_on_destruction(self) -> None:
        """No effect: what was published is the endpoint's to send."""

    def reset(self) -> None:
        """Ends it; what was published is still sent. Idempotent."""
        self._closed = True
        if self._pipe is not None:
            for descriptor in self._pipe:
                os.close(descriptor)
            self._pipe = None

    def _leave(self) -> None:
        self.reset()

    def __del__(self) -> None:
        if getattr(self, "_pipe", None) is not None:
            self.reset()
