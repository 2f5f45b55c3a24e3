# SPDX-License-Identifier: BSD-3-Clause
"""Ventilator, Worker and Sink."""

from __future__ import annotations

import contextlib
import logging
import math
import threading
import time
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Union

from .._closing import Closing
from .._core import Exchange, Task, TaskQueue
from .._interrupts import join
from ..endpoint import Endpoint
from ..errors import Closed, EncodeError, PubsubError
from .progress import Progress

_TIME_TO_LOOK = 0.1  # seconds until a worker that waits for tasks sees that it is closed

_TIME_TO_WARN = 10.0  # seconds without anybody who gives out tasks

_log = logging.getLogger(__name__)


class Ventilator(Closing):
    """Gives out tasks under a name. ``options`` are those of Exchange; ``window`` bounds the memory of the whole
    pipeline: so many tasks are under way, from here to the sink, at most.

    Every method from any thread. Raises InvalidArgument, Closed.
    """

    def __init__(self, endpoint: Endpoint, name: str = "tasks", **options: Any) -> None:
        self.exchange = Exchange(endpoint, name, **options)

    def send(self, value: object, timeout: Optional[float] = None) -> bool:
        """Sends one task; waits while the window is full. False after ``timeout`` seconds without room: it is not sent.

        Raises EncodeError, Closed.
        """
        return self.exchange.send(value, timeout)

    def send_all(self, values: Iterable[Any],
                 progress: Union[bool, Callable[[Iterable[Any]], Iterable[Any]]] = False) -> int:
        """Sends every value and returns how many there were; waits while the window is full.

        ``progress``: True shows a bar on stderr, with what was redelivered; or a callable that wraps the values, as
        ``tqdm.tqdm`` does. Raises EncodeError, Closed.
        """
        if progress is True:
            return self._send_with_bar(values)
        count = 0
        for value in progress(values) if progress else values:
            self.exchange.send(value)
            count += 1
        self.exchange.send_pending()
        return count

    def _send_with_bar(self, values: Iterable[Any]) -> int:
        with Progress(values, description="sent") as bar:
            for value in bar.iterable:
                self.exchange.send(value)
                if bar.update():
                    bar.redelivered = self.exchange.counters()["redelivered"]
            self.exchange.send_pending()
        return bar.done

    def drain(self, timeout: Optional[float] = None) -> int:
        """Waits until every task is done, at most ``timeout`` seconds; returns how many are not."""
        return self.exchange.drain(timeout)

    def wait_for_workers(self, n: int = 1, timeout: Optional[float] = None) -> bool:
        """Waits until ``n`` workers take part, at most ``timeout`` seconds; returns whether they do. Raises Closed."""
        return self.exchange.wait_for_queues(n, timeout)

    def counters(self) -> Dict[str, int]:
        """What became of the tasks, by name: those of Exchange."""
        return self.exchange.counters()

    def close(self) -> None:
        """Ends all waits. Tasks under way are abandoned: call ``drain`` before. Idempotent."""
        self.exchange.close()


class Worker(Closing):
    """Does tasks: calls ``function(value)`` in ``concurrency`` threads and sends what it returns on.

    Tasks come from ventilators, and from workers of the stage before, that send to the name ``source``; results go to
    sinks, and to workers of the stage behind, of the name ``sink``. A task whose function raises, or returns what the
    data model cannot hold, goes to another worker, and after ``max_losses`` of them to the dead letters; the exception
    is logged. ``credit`` and ``batch`` are those of TaskQueue, ``options`` those of Exchange. Raises InvalidArgument,
    Closed.
    """

    def __init__(self, endpoint: Endpoint, function: Callable[[Any], Any], source: str = "tasks", sink: str = "results",
                 *, concurrency: int = 1, credit: int = 10_000, batch: int = 10, scope: str = "global",
                 **options: Any) -> None:
        self._function = function
        self._source = source
        self._stopping = False
        self.queue = TaskQueue(endpoint, source, credit=credit, batch=batch, concurrency=concurrency, scope=scope)
        self.queue.bind(source)  # a ventilator has the name; workers of the stage before ask for queues of it
        self.exchange = Exchange(endpoint, scope=scope, **options)
        self.exchange.bind(sink)
        self._threads = [threading.Thread(target=self._run, name="libpubsub worker", daemon=True)
                         for _ in range(concurrency)]
        for thread in self._threads:
            thread.start()

    def wait_for_source(self, timeout: Optional[float] = None) -> bool:
        """Waits until a source that gives out tasks under its name is known, at most ``timeout`` seconds; returns
        whether there is. Raises Closed.
        """
        return self.queue.wait_for_exchanges(1, timeout)

    def _run(self) -> None:
        warn_at = time.monotonic() + _TIME_TO_WARN
        with contextlib.suppress(Closed):
            while not self._stopping:
                if (task := self.queue.get(timeout=_TIME_TO_LOOK)) is not None:
                    self._do(task)
                elif time.monotonic() > warn_at:
                    self._warn_of_the_name()
                    warn_at = math.inf

    def _warn_of_the_name(self) -> None:
        if self.queue.exchanges == 0:
            _log.warning("nobody gives out tasks under the name '%s': is it right, and is the endpoint linked?",
                         self._source)

    def _do(self, task: Task) -> None:
        try:
            result = self._function(task.value)
        except BaseException as failure:  # whatever the function does, SystemExit too: the thread goes on
            return self._failed(task, failure)
        try:
            self.exchange.send_result(result, task)
        except EncodeError as failure:
            self._failed(task, failure)

    def _failed(self, task: Task, failure: BaseException) -> None:
        """The next worker may do better."""
        _log.warning("task %d of %s failed: %r", task.number, task.source, failure)
        with contextlib.suppress(PubsubError):
            task.reject()

    def join(self) -> None:
        """Works until it is closed from another thread."""
        for thread in self._threads:
            join(thread)

    def close(self, timeout: float = 1.0) -> None:
        """Ends after the tasks at hand, and waits at most ``timeout`` seconds until the sink has taken their results.

        What was not begun goes to other workers. Idempotent.
        """
        self._stopping = True
        if threading.current_thread() not in self._threads:
            self.join()
        with contextlib.suppress(Closed):
            self.exchange.drain(timeout)
        self.queue.close()
        self.exchange.close()


class Sink(Closing):
    """Takes results of a name. ``ordered``: in the order in which their tasks were sent, whatever workers were quicker.

    ``batch`` and ``options`` are those of TaskQueue. Every method from any thread. Raises InvalidArgument, Closed.
    """

    def __init__(self, endpoint: Endpoint, name: str = "results", *, ordered: bool = False, batch: int = 10,
                 **options: Any) -> None:
        self.queue = TaskQueue(endpoint, name, ordered=ordered, batch=batch, **options)

    def get(self, timeout: Optional[float] = None) -> Optional[Task]:
        """The next result; call its ``done`` when it is safe. None after ``timeout`` seconds. Raises Closed."""
        return self.queue.get(timeout)

    def take(self, count: int, timeout: Optional[float] = None, progress: bool = False) -> List[Any]:
        """The next ``count`` results, done as they are taken; fewer where none comes for ``timeout`` seconds.

        ``progress``: shows a bar on stderr. Raises Closed.
        """
        results: List[Any] = []
        bar = Progress[Any](total=count, description="taken") if progress else None
        try:
            while len(results) < count and (task := self.queue.get(timeout)) is not None:
                results.append(task.value)
                task.done()
                if bar is not None:
                    bar.update(redelivered=int(task.redelivered))
        finally:
            if bar is not None:
                bar.close()
        return results

    def __iter__(self) -> Iterator[Task]:
        """Results as tasks, until it is closed; each is done when the next is asked for."""
        with contextlib.suppress(Closed):
            while True:
                if (task := self.queue.get()) is not None:
                    yield task
                    task.done()

    def close(self) -> None:
        """Ends all waits. What was taken and not done is abandoned. Idempotent."""
        self.queue.close()
