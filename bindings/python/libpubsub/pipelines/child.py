# SPDX-License-Identifier: BSD-3-Clause
"""A process of a stage: what runs in it, and how it ends with its parent."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pickle
import signal
import threading
from multiprocessing.connection import Connection
from typing import Any

from .._core import Task
from ..endpoint import Endpoint
from ..errors import PubsubError
from .roles import Worker
from .stages import Function, dead_letters_name, failed, link_name, wrap, wrap_failure

READY = "ready"
CANNOT_START = "cannot start"
STOP = "stop"

_TIME_TO_PEER = 30.0  # seconds; a host may be busy
_BETWEEN_LOOKS = 1.0  # seconds between looks whether the parent is there, for pipes may be held by others


@dataclasses.dataclass(frozen=True)
class Wiring:
    """Where a worker of a stage has its place; the last three are options of its exchange."""

    pipeline: str
    place: int
    stage: str
    concurrency: int
    max_losses: int = 3
    liveness_timeout: float = 3.0
    window: int = 20_000


class StageWorker(Worker):
    """Does what a stage does with values, and passes on what has failed before, or fails here."""

    def __init__(self, endpoint: Endpoint, function: Function, wiring: Wiring) -> None:
        self._of_stage = function
        self._stage = wiring.stage
        super().__init__(endpoint, self._attempt, link_name(wiring.pipeline, wiring.place),
                         link_name(wiring.pipeline, wiring.place + 1), concurrency=wiring.concurrency,
                         dead_letters=dead_letters_name(wiring.pipeline, wiring.place + 1),
                         max_losses=wiring.max_losses, liveness_timeout=wiring.liveness_timeout, window=wiring.window)

    def _attempt(self, envelope: tuple[Any, ...]) -> tuple[Any, ...]:
        return envelope if failed(envelope) else wrap(self._of_stage(envelope[0]))

    def _failed(self, task: Task, failure: BaseException) -> None:
        """It would fail anywhere: who waits for the result gets to know."""
        with contextlib.suppress(PubsubError):
            self.exchange.send_result(wrap_failure(self._stage, failure), task)


def main(function: bytes, wiring: Wiring, uri: str, parent: int, pipe: Connection) -> None:
    """What the process does, until the parent says STOP or is gone. Ctrl-C is for the parent: it ends us."""
    signal.signal(signal.SIGINT, lambda *_: None)  # not SIG_IGN: programs started from here would have it, too
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    stop = threading.Event()
    threading.Thread(target=_watch, args=(parent, pipe, stop), daemon=True).start()
    try:
        loaded = pickle.loads(function)
    except BaseException as failure:  # of its module, whatever that does
        pipe.send((CANNOT_START, f"{type(failure).__name__}: {failure}"))
        raise
    with Endpoint() as endpoint:
        endpoint.peer(uri, retry=0.1, timeout=_TIME_TO_PEER, max_retry=1.0)
        with StageWorker(endpoint, loaded, wiring):
            pipe.send((READY, ""))
            stop.wait()


def _watch(parent: int, pipe: Connection, stop: threading.Event) -> None:
    """Ends the process, whatever it does, when the parent has ended."""
    try:
        while os.getppid() == parent:
            if pipe.poll(_BETWEEN_LOOKS) and pipe.recv() == STOP:
                stop.set()
    except (EOFError, OSError):
        pass
    os._exit(1)
