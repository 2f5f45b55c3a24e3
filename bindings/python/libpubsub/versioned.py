# SPDX-License-Identifier: BSD-3-Clause
"""Versioned delivery: several servers hold the same messages under the same versions.

>>> import libpubsub
>>> from libpubsub import Replica, VersionedGroup
>>> with libpubsub.Endpoint() as endpoint:
...     with Replica(endpoint, "flows", group_size=1) as server, VersionedGroup(endpoint, "flows") as group:
...         version = group.send(["login", "alice"])
...         message = server.get()
...         message.version == version, message.value
(True, ('login', 'alice'))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional

from . import _core
from ._closing import Closing
from ._core import VersionedMessage
from .versions import Completion, MessageVersion

if TYPE_CHECKING:
    from typing import Literal

    from .endpoint import Endpoint

    Scheme = Literal["none", "version_request", "message_returns_version", "one_hop", "one_hop_ack_client", "tagged"]
    Reports = Literal["none", "failures", "all"]

__all__ = ["Completion", "MessageVersion", "Replica", "VersionedGroup", "VersionedMessage"]


class Replica(_core.Replica, Closing):
    """One of the servers of a group. All members hand out the same messages, in the order of their versions.

    Iterate it (``for message in replica``; ends when it is closed), or use ``get`` and ``get_batch``; each message is a
    VersionedMessage with ``version``, ``value``, ``client`` and ``client_number``. What was handed out is never taken
    back. Any number of threads may share one; each message goes to one of them. Waiting leaves the GIL to others and
    Ctrl-C ends it. As a context manager it closes itself.

    ``id`` is its name in the group, which no other replica has (random if empty); ``group_size`` the number of servers
    the group was planned with, more than half of which must be alive. ``history`` messages of at most ``history_bytes``
    are kept for replicas that come late. A replica that comes later than that gets ``snapshot()`` of another, any value,
    and takes it over by ``restore(state, version)``. Both are called by the thread that is in ``get``, which raises what
    they raise; then the replica is closed. A replica that is silent for ``liveness_timeout`` seconds is lost. Raises
    InvalidArgument, Closed.
    """

    def __init__(self, endpoint: Endpoint, name: str, *, id: str = "", group_size: int = 3, history: int = 1_000_000,
                 history_bytes: int = 256 << 20, liveness_timeout: float = 2.0,
                 snapshot: Optional[Callable[[], Any]] = None,
                 restore: Optional[Callable[[Any, MessageVersion], object]] = None) -> None:
        super().__init__(endpoint, name, id=id, group_size=group_size, history=history, history_bytes=history_bytes,
                         liveness_timeout=liveness_timeout, snapshot=snapshot, restore=restore)
        self._name = name

    if TYPE_CHECKING:  # the compiled class iterates by slot
        def __iter__(self) -> Replica: ...
        def __next__(self) -> VersionedMessage: ...

    def __repr__(self) -> str:
        if self.forked:
            return "<Replica of a parent process>"
        sequencer = ", sequencer" if self.is_sequencer else ""
        return f"<Replica {self.id!r} of {self._name!r}: {self.state}{sequencer}, applied {self.applied}>"


class VersionedGroup(_core.VersionedGroup, Closing):
    """A client of a group of replicas. Each of its messages is handed out by all of them, once, in the order sent.

    ``send`` waits until all members hold the message and returns its MessageVersion; ``post`` returns at
    once while fewer than ``window`` messages (and ``window_bytes``) are in flight, and ``take_completions`` tells what
    became of them. Any number of threads may share one. As a context manager it closes itself; ``drain`` before.

    ``scheme`` is the way of versions and acknowledgements (docs/patterns/versioned.md), ``replicas`` how many
    members the group must have before anything is sent. A message that is not acknowledged after ``timeout`` seconds is
    given up. ``reports`` says which messages that were posted ``take_completions`` reports. Raises InvalidArgument, Closed.
    """

    def __init__(self, endpoint: Endpoint, name: str, scheme: Scheme = "one_hop_ack_client", *, replicas: int = 1,
                 window: int = 1_000, window_bytes: int = 64 << 20, timeout: float = 10.0,
                 reports: Reports = "failures") -> None:
        super().__init__(endpoint, name, scheme, replicas=replicas, window=window, window_bytes=window_bytes,
                         timeout=timeout, reports=reports)
        self._name = name
        self._scheme = scheme

    def __repr__(self) -> str:
        if self.forked:
            return "<VersionedGroup of a parent process>"
        state = "closed" if self.closed else f"{self.replicas} replicas, {self.in_flight} in flight"
        return f"<VersionedGroup {self._name!r}, {self._scheme}: {state}>"
