# SPDX-License-Identifier: BSD-3-Clause
"""What runs behind a Pipeline: sends tasks, takes results, and settles the futures of both."""

from __future__ import annotations

import dataclasses
import os
import threading
import time
from concurrent.futures import Future
from typing import Any, Optional, Sequence

from .._core import Exchange, Task, TaskQueue
from .._interrupts import InterruptibleFuture
from ..endpoint import Endpoint
from ..errors import Closed, DecodeError, ForkError, InvalidArgument, PubsubError, TaskError
from .child import Wiring
from .processes import Processes
from .stages import Stage, dead_letters_name, link_name, unwrap, wrap

_TIME_TO_LOOK = 0.1  # seconds between looks at dead letters and at what is missing
_TIME_UNTIL_LOST = 5.0  # seconds after which a result counts as lost whose task is done


@dataclasses.dataclass(frozen=True)
class Options:
    """Those of ``pipeline``, which explains them."""

    window: int
    name: str
    listen: Optional[str]
    max_losses: int
    max_restarts: int
    liveness_timeout: float


@dataclasses.dataclass
class Counters:
    """Tasks of a pipeline. ``submitted == done + failed +`` those under way."""

    submitted: int = 0
    done: int = 0  # with a result
    failed: int = 0  # raised, or were lost with too many processes
    redelivered: int = 0  # results and failures that another worker had or may have had, too
    duplicates: int = 0  # came again and were dropped
    restarts: int = 0  # processes that were started in the place of others


class Engine:
    """Owns endpoint, queues and processes. A thread of its own takes results. Thread-safe."""

    def __init__(self, stages: Sequence[Stage], options: Options) -> None:
        self._parent = os.getpid()
        self._pending: dict[int, InterruptibleFuture] = {}  # by number
        self._sending = threading.Lock()  # numbers follow the order of sending
        self._counters = Counters()
        self._failure: Optional[BaseException] = None
        self._closed = False
        self._complete_since: Optional[float] = None
        self.endpoint = Endpoint()
        try:
            self._open(stages, options)
        except BaseException:
            self.endpoint.close(0)
            raise
        self._collector = threading.Thread(target=self._collect, name="libpubsub results", daemon=True)
        self._collector.start()
        self.processes.start()

    def _open(self, stages: Sequence[Stage], options: Options) -> None:
        local = f"tcp://127.0.0.1:{self.endpoint.listen('tcp://127.0.0.1:0')}"
        self.port = self.endpoint.listen(options.listen) if options.listen is not None else None
        name = options.name
        self._exchange = Exchange(self.endpoint, link_name(name, 0), window=options.window,
                                  liveness_timeout=options.liveness_timeout, max_losses=options.max_losses,
                                  dead_letters=dead_letters_name(name, 0))
        self._results = TaskQueue(self.endpoint, link_name(name, len(stages)))
        self._dead = [(each.name, TaskQueue(self.endpoint, dead_letters_name(name, place)))
                      for place, each in enumerate(stages)]
        wirings = [Wiring(name, place, each.name, each.concurrency, options.max_losses, options.liveness_timeout,
                          options.window)  # of the same window, so that a worker never waits to send a result
                   for place, each in enumerate(stages)]
        self.processes = Processes(stages, wirings, local, max_restarts=options.max_restarts,
                                   completed=self._completed, failed=self._fail)

    # -- sending

    def submit(self, value: object) -> Future[Any]:
        """See Pipeline.submit."""
        self._check()
        if threading.current_thread() is self._collector:
            raise InvalidArgument("the callback of a future cannot submit: it would wait for itself to make room")
        with self._sending:
            number = self._counters.submitted
            future = InterruptibleFuture()
            self._pending[number] = future
            try:
                self._check()  # what is pending from here on is told of a failure
                self._exchange.send(wrap(value))
            except BaseException as failure:
                self._pending.pop(number, None)
                if isinstance(failure, Closed):
                    self._check()
                raise
            self._counters.submitted += 1
        return future

    def _check(self) -> None:
        if os.getpid() != self._parent:
            raise ForkError("the pipeline was made before os.fork(): it belongs to the parent process")
        if self._failure is not None:
            raise self._failure
        if self._closed:
            raise Closed("the pipeline is closed")

    def wait_ready(self, timeout: Optional[float]) -> bool:
        ready = self.processes.wait_ready(timeout)
        self._check()
        return ready

    # -- taking

    def _collect(self) -> None:
        try:
            look = 0.0
            while True:
                if (task := self._results.get(_TIME_TO_LOOK)) is not None:
                    self._take(task)
                if (now := time.monotonic()) >= look:
                    self._take_dead()
                    self._look_for_lost(now)
                    look = now + _TIME_TO_LOOK
        except Closed:
            pass
        except BaseException as failure:
            self._fail(failure)

    def _take(self, task: Task) -> None:
        future = self._claim(task)
        if future is None:
            return
        try:
            value, error = unwrap(task.value)
        except DecodeError as failure:
            value, error = None, TaskError("", "DecodeError", str(failure))
        self._settle(future, value, error)

    def _take_dead(self) -> None:
        for stage, queue in self._dead:
            while (task := queue.get(0)) is not None:
                if (future := self._claim(task)) is not None:
                    self._settle(future, error=TaskError(stage, "WorkerLost", "worker processes that had it ended, one "
                                                         "after the other: it may be what they die of"))

    def _claim(self, task: Task) -> Optional[Future[Any]]:
        """Whose result it is; nobody's, where it came before."""
        if task.source != self._exchange.id:
            task.reject()  # of another pipeline of this name
            return None
        future = self._pending.pop(task.number, None)
        if future is None:
            self._counters.duplicates += 1
        else:
            self._counters.redelivered += task.redelivered
        task.done()
        return future

    def _settle(self, future: Future[Any], value: object = None, error: Optional[BaseException] = None) -> None:
        if error is None:
            self._counters.done += 1
        else:
            self._counters.failed += 1
        if not future.set_running_or_notify_cancel():
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def _look_for_lost(self, now: float) -> None:
        """A process that died between telling its source of a dead letter and sending it has lost it."""
        if not self._pending or self._exchange.in_flight > 0:
            self._complete_since = None
        elif self._complete_since is None:
            self._complete_since = now
        elif now - self._complete_since > _TIME_UNTIL_LOST:
            for number in list(self._pending):
                self._settle(self._pending.pop(number), error=TaskError("", "ResultLost", "its result never came"))

    def _completed(self) -> int:
        return self._counters.done + self._counters.failed

    def counters(self) -> Counters:
        return dataclasses.replace(self._counters, restarts=self.processes.restarts)

    # -- the end

    def _fail(self, error: BaseException) -> None:
        """All that waits gets to know."""
        if self._closed:
            return
        self._failure = error if isinstance(error, PubsubError) else RuntimeError(f"the pipeline failed: {error!r}")
        self._exchange.close()
        self._abandon(self._failure)
        if threading.current_thread() is self._collector:
            self.processes.stop(gently=False)

    def _abandon(self, error: BaseException) -> None:
        for number in list(self._pending):
            future = self._pending.pop(number, None)
            if future is not None and future.set_running_or_notify_cancel():
                future.set_exception(error)

    def drain(self, timeout: Optional[float]) -> int:
        """See Pipeline.drain."""
        end = None if timeout is None else time.monotonic() + timeout
        return sum(not each.wait(None if end is None else end - time.monotonic())
                   for each in list(self._pending.values()))

    def close(self, gently: bool) -> None:
        """Ends all, within some seconds. Idempotent; does nothing in a forked child."""
        if os.getpid() != self._parent:
            return
        self._closed = True
        self._exchange.close()
        self.processes.stop(gently)
        self._results.close()
        for _, queue in self._dead:
            queue.close()
        self._abandon(Closed("the pipeline was closed"))
        self.endpoint.close(0)
