# SPDX-License-Identifier: BSD-3-Clause
"""A whole pipeline from a list of functions: its processes started, wired and kept going."""

from __future__ import annotations

import weakref
from collections import deque
from concurrent.futures import Future
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Optional, Sequence, Union

from .._core import Event
from ..endpoint import Endpoint
from ..errors import InvalidArgument, TaskError
from .child import StageWorker, Wiring
from .engine import Counters, Engine, Options
from .progress import Progress, length_of
from .stages import Function, Stage, checked_stages, stage

if TYPE_CHECKING:
    from typing import Literal

    OnError = Literal["raise", "skip", "return"]


def _adds_to(finished: deque[Future[Any]], finishing: Event) -> Callable[[Future[Any]], None]:
    """A callback of futures that keeps nothing else alive."""
    def take(future: Future[Any]) -> None:
        finished.append(future)
        finishing.set()

    return take


class Results(Iterator[Any]):
    """Results of ``Pipeline.map``. Dropping or closing it abandons what is not taken."""

    def __init__(self, pipeline: Pipeline, values: Iterable[Any], ordered: bool, on_error: OnError,
                 progress: bool) -> None:
        self._pipeline = pipeline  # lives as long as somebody waits for its results
        self._values: Optional[Iterator[Any]] = iter(values)
        self._on_error = on_error
        self._ordered = ordered
        self._waiting: deque[Future[Any]] = deque()  # in the order of their tasks
        self._finished: deque[Future[Any]] = deque()  # in that of their results
        self._finishing = Event()
        self._left: set[Future[Any]] = set()  # submitted and not yet taken
        self._bar = Progress[Any](total=length_of(values), description="done") if progress else None

    def __next__(self) -> Any:
        while True:
            self._submit()
            if not self._left:
                self.close()
                raise StopIteration
            future = self._take()
            error = future.exception()
            self._show(error)
            if error is None:
                return future.result()
            if not isinstance(error, TaskError) or self._on_error == "raise":
                raise error
            if self._on_error == "return":
                return error

    def _submit(self) -> None:
        """At least one, for one was taken, and as many as there is room for until there is a result."""
        while self._values is not None and len(self._left) < self._pipeline.window:
            try:
                value = next(self._values)
            except StopIteration:
                self._values = None
                return
            future = self._pipeline.submit(value)
            self._left.add(future)
            if self._ordered:
                self._waiting.append(future)
            else:
                future.add_done_callback(_adds_to(self._finished, self._finishing))
            if self._waiting[0].done() if self._ordered else self._finished:
                return

    def _take(self) -> Future[Any]:
        future = self._waiting.popleft() if self._ordered else self._next_finished()
        self._left.discard(future)
        return future

    def _next_finished(self) -> Future[Any]:
        while not self._finished:
            self._finishing.wait()
            self._finishing.clear()
        return self._finished.popleft()

    def _show(self, error: Optional[BaseException]) -> None:
        if self._bar is not None and self._bar.update(failed=int(error is not None)):
            self._bar.redelivered = self._pipeline.counters().redelivered

    def close(self) -> None:
        """Takes no more values. Tasks under way are done, and their results dropped. Idempotent."""
        self._values = None
        self._waiting.clear()
        while self._left:
            self._left.pop().cancel()
        if self._bar is not None:
            self._bar.close()

    def __del__(self) -> None:
        if hasattr(self, "_bar"):
            self.close()


class Pipeline:
    """Stages in processes of their own; see ``pipeline``. Every method from any thread.

    As a context manager it waits for what was submitted, or ends at once if there was an exception. Dropping the last
    reference ends it at once; so does leaving the interpreter. It belongs to the process that made it: others get
    ForkError.
    """

    def __init__(self, stages: Sequence[Union[Stage, Function]], options: Options, progress: bool) -> None:
        if options.window < 1 or options.max_losses < 1:
            raise InvalidArgument("window and max_losses are at least 1")
        if options.max_restarts < 0:
            raise InvalidArgument("max_restarts is at least 0")
        self.window = options.window
        self.stages = checked_stages(stages, may_be_remote=options.listen is not None)
        self._progress = progress
        self._engine = Engine(self.stages, options)
        self._end = weakref.finalize(self, self._engine.close, False)
        self._end.atexit = False  # Processes does that

    @property
    def port(self) -> Optional[int]:
        """Where it listens for workers of other hosts; None without ``listen``."""
        return self._engine.port

    def submit(self, value: object) -> Future[Any]:
        """Sends one task into the first stage; the future gets the result of the last, or TaskError.

        Waits while ``window`` tasks are under way. Cancelling the future drops the result; the task is done all the
        same. Not from the callback of a future. Raises EncodeError (a value the data model cannot hold), StageError,
        Closed, ForkError.
        """
        return self._engine.submit(value)

    def map(self, values: Iterable[Any], ordered: bool = True, *, on_error: OnError = "raise",
            progress: Optional[bool] = None) -> Results:
        """An iterator over the results, which takes ``values`` as it is iterated: at most ``window`` ahead.

        ``ordered``: results in the order of their values, or as they come. ``on_error`` says what becomes of a task
        that failed: its TaskError is raised in its place (the iterator can be asked for more), skipped or returned.
        ``progress``: a bar on stderr. Raises InvalidArgument; the iterator TaskError, EncodeError, StageError, Closed.
        """
        if on_error not in ("raise", "skip", "return"):
            raise InvalidArgument(f"on_error is raise, skip or return, not {on_error}")
        return Results(self, values, ordered, on_error, self._progress if progress is None else progress)

    def wait_ready(self, timeout: Optional[float] = None) -> bool:
        """Waits until the processes of all stages work, at most ``timeout`` seconds; False then.

        Nobody has to: tasks wait, too. Raises StageError (one cannot start), Closed, ForkError.
        """
        return self._engine.wait_ready(timeout)

    def drain(self, timeout: Optional[float] = None) -> int:
        """Waits until what was submitted is done or failed, at most ``timeout`` seconds; returns how much is not."""
        return self._engine.drain(timeout)

    def counters(self) -> Counters:
        """What became of tasks and processes until now."""
        return self._engine.counters()

    def process_ids(self) -> dict[str, list[int]]:
        """Of the processes on this host, by stage."""
        return self._engine.processes.ids()

    def close(self) -> None:
        """Ends all processes, within some seconds. What waits gets Closed. Idempotent."""
        self._engine.close(gently=True)

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        try:
            if kind is None:
                self.drain()
        except BaseException as failure:
            kind = type(failure)
            raise
        finally:
            self._engine.close(gently=kind is None)

    def __repr__(self) -> str:
        return f"<Pipeline {' -> '.join(f'{each.name} x {each.workers}' for each in self.stages)}>"


def pipeline(stages: Sequence[Union[Stage, Function]], *, window: int = 1000, name: str = "pipeline",
             listen: Optional[str] = None, max_losses: int = 3, max_restarts: int = 5,
             liveness_timeout: float = 3.0, progress: bool = False) -> Pipeline:
    """Starts the processes of all stages and wires them; see Pipeline. Never waits for them.

    ``stages``: what ``stage`` makes, or functions, which are stages of one worker. What one returns the next takes;
    values are those of the data model. Processes are spawned: functions must be importable, and the main part of a
    program under ``if __name__ == "__main__":``. They end with this one, whatever it ends by.

    ``window``: so many tasks are under way at most. A process that ends is started again and its tasks go to others:
    every task is done at least once, and has one result. A task that ends ``max_losses`` processes fails with TaskError,
    as one whose function raises; after ``max_restarts`` processes in a row that did nothing all fails with StageError.
    ``liveness_timeout``: a worker that is silent for so many seconds is lost. ``listen``: a URI, such as
    ``tcp://*:5555``, where workers of other hosts may ``join``; ``name`` is the one they give. ``progress``: the default
    of ``map``. Raises InvalidArgument, ListenError.
    """
    return Pipeline(stages, Options(window, name, listen, max_losses, max_restarts, liveness_timeout), progress)


def join(uri: str, function: Function, place: int, *, name: str = "pipeline", concurrency: int = 1,
         retry: Optional[float] = 1.0, timeout: Optional[float] = 30.0) -> JoinedWorker:
    """A worker, in this process, for the stage at ``place`` (0 is the first) of a pipeline that listens at ``uri``.

    Works in ``concurrency`` threads until it is closed. Waits at most ``timeout`` seconds for the pipeline, which is
    dialed again every ``retry`` seconds. Raises InvalidArgument, PeerUnavailable.
    """
    which = stage(function, concurrency=concurrency)
    if place < 0:
        raise InvalidArgument(f"the place of a stage is 0 or more, not {place}")
    endpoint = Endpoint()
    try:
        endpoint.peer(uri, retry=retry, timeout=timeout)
        return JoinedWorker(endpoint, function, Wiring(name, place, which.name, concurrency))
    except BaseException:
        endpoint.close(0)
        raise


class JoinedWorker(StageWorker):
    """A worker with an endpoint of its own, which it closes; made by ``join``."""

    def __init__(self, endpoint: Endpoint, function: Function, wiring: Wiring) -> None:
        super().__init__(endpoint, function, wiring)
        self._endpoint = endpoint

    def close(self, timeout: float = 1.0) -> None:
        super().close(timeout)
        self._endpoint.close()
