# SPDX-License-Identifier: BSD-3-Clause
"""Remote execution: named operations that clients anywhere within reach can call.

>>> import libpubsub
>>> from libpubsub import Remote, Service
>>> with libpubsub.Endpoint() as endpoint, Service(endpoint, "words") as service:
...     @service.operation(idempotent=True)
...     def length(word):
...         return len(word)
...
...     service.start()
...     with Remote(endpoint, "words") as words:
...         words.wait_for_instances(1, timeout=5)
...         words.call("length", "four"), words.map("length", ["a", "bc"])
(4, [1, 2])
"""

from __future__ import annotations

import atexit
import contextlib
import inspect
import logging
import time
import weakref
from typing import (TYPE_CHECKING, Any, Callable, NamedTuple, Optional, Sequence, SupportsFloat, SupportsIndex, TypeVar,
                    Union, overload)

from . import _core
from ._closing import Closing
from ._completions import as_completed
from ._core import RemoteFuture
from .errors import InvalidArgument, type_and_text

if TYPE_CHECKING:
    from typing import Literal

    from .endpoint import Endpoint

    Mode = Literal["sync", "bulk", "async", "pipeline", "hybrid", "auto"]

__all__ = ["Remote", "RemoteConditions", "RemoteFuture", "RemotePlan", "Service", "as_completed"]

Function = Callable[[Any], Any]
_Function = TypeVar("_Function", bound=Function)

_EXIT_SECONDS = 3.0

_TIME_TO_LOOK = 0.1  # seconds until `wait` sees that a service was closed by its endpoint

_log = logging.getLogger(__name__)


class RemoteConditions(NamedTuple):
    """What a client has measured. Nothing known yet: 0."""

    latency: float
    """Seconds there and back, without the time in the server."""
    operation: float
    """Seconds of a function, on average."""
    argument_bytes: float
    """As encoded, on average."""
    result_bytes: float
    """As encoded, on average."""


class RemotePlan(NamedTuple):
    """How operations travel: any of the modes is a bulk size and a window."""

    mode: str
    bulk_size: int
    """Operations in a request, at most."""
    window: int
    """Operations sent and not answered, at most."""


def _text_of(operation: str, failure: BaseException) -> str:
    """The text of the caller's error; the exception itself is in the log of the service."""
    _log.info("operation '%s' failed", operation, exc_info=failure)
    return "{}: {}".format(*type_and_text(failure))


class Service(_core.Service, Closing):
    """An instance of a service. Any number of them, anywhere, may have one name: they share the load.

    Declare operations with ``operation`` or ``add``, then ``start``. Functions are called by ``workers`` threads, one
    argument each; more than one is of use where functions wait, as Python runs one at a time. What a function raises,
    SystemExit too, goes to its caller as OperationFailed with ``type`` and ``text``, and to the log at level INFO. As
    a context manager it closes itself; so does leaving the interpreter, which waits for functions 3 seconds at most.
    ``queue`` operations wait here, in round numbers; beyond, clients are held back. For a result of more than
    ``max_result_bytes`` the caller gets LimitExceeded. Raises InvalidArgument, Closed.
    """

    def __init__(self, endpoint: Endpoint, name: str, *, workers: int = 1, queue: int = 100_000,
                 max_result_bytes: int = 32 << 20) -> None:
        super().__init__(endpoint, name, workers=workers, queue=queue, max_result_bytes=max_result_bytes, failed=_text_of)
        self._name = name
        self._ended = _core.Event()
        _open.add(self)

    @overload
    def operation(self, function: _Function, /) -> _Function: ...

    @overload
    def operation(self, /, *, name: Optional[str] = None,
                  idempotent: bool = False) -> Callable[[_Function], _Function]: ...

    def operation(self, function: Optional[_Function] = None, /, *, name: Optional[str] = None,
                  idempotent: bool = False) -> Union[_Function, Callable[[_Function], _Function]]:
        """Declares a function, whose name is that of the operation if ``name`` is not given; see ``add``.

        ``@service.operation`` or ``@service.operation(idempotent=True)``; the function stays what it is.
        """
        def declare(function: _Function) -> _Function:
            self.add(name or function.__name__, function, idempotent=idempotent)
            return function

        return declare if function is None else declare(function)

    def add(self, name: str, function: Function, *, idempotent: bool = False) -> None:
        """Has ``function(argument)`` called for the operation ``name``; what it returns is the result.

        ``idempotent``: where this instance is lost with it, another one does it; else it fails with ServiceLost. Before
        ``start``. Raises InvalidArgument.
        """
        if not callable(function) or inspect.iscoroutinefunction(function):
            raise InvalidArgument(f"operation '{name}' is a function, no coroutine, not {function!r}")
        self.add_function(name, function, idempotent)

    def start(self) -> Service:  # type: ignore[override]
        """Takes calls from now on. Returns itself: ``with service.start(): ...``. Raises Closed."""
        super().start()
        return self

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Waits until it is closed, as by another thread or with its endpoint, at most ``timeout`` seconds.

        Returns whether it is. What a program does that has nothing else to do.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while not self.closed:
            left = _TIME_TO_LOOK if end is None else min(_TIME_TO_LOOK, end - time.monotonic())
            if left <= 0:
                return False
            self._ended.wait(left)
        return True

    def close(self, timeout: Union[SupportsFloat, SupportsIndex, None] = 3.0) -> bool:
        """Takes no more: what has not begun is done by other instances.

        Waits at most ``timeout`` seconds for functions that run; returns whether they have ended. Idempotent. Raises
        InvalidArgument in such a function.
        """
        ended = super().close(timeout)
        self._ended.set()
        return ended

    def __repr__(self) -> str:
        if self.forked:
            return "<Service of a parent process>"
        return f"<Service {self._name!r}: {'closed' if self.closed else f'{self.clients} clients'}>"


class Remote(_core.Remote, Closing):
    """A client of a service, of all its instances. Operations are done at most once, unless they are idempotent.

    ``call`` waits for the result, ``submit`` returns a RemoteFuture, ``map`` and ``bulk`` take many arguments. An
    argument is one value of the data model, and so is a result. Any number of threads may share one. Waiting leaves the
    GIL to others and Ctrl-C ends it. As a context manager it closes itself.

    ``mode`` says how operations become requests (docs/patterns/remote.md): ``"auto"`` chooses from what it measures.
    ``timeout`` is that of calls that have none of their own, in seconds. ``parallel``: requests at a time in mode
    async; ``window``: operations sent and not answered in modes pipeline and hybrid; ``bulk_size``: operations in a
    request of mode hybrid. ``submit`` waits while ``max_unfinished`` calls are not complete. An idempotent operation may be lost
    with ``max_losses`` instances; one from which nothing comes for ``liveness_timeout`` seconds is lost. An
    argument has at most ``max_request_bytes``. ``more``: endpoints with connections of their own, which calls go by, too,
    in mode async, and in mode auto where results are long.
    Raises InvalidArgument, Closed.
    """

    def __init__(self, endpoint: Endpoint, service: str, mode: Mode = "auto", *, timeout: float = 30.0,
                 parallel: int = 32, window: int = 1_000, bulk_size: int = 100, max_request_bytes: int = 8 << 20,
                 max_unfinished: int = 100_000, max_losses: int = 3, liveness_timeout: float = 10.0,
                 more: Sequence[Endpoint] = ()) -> None:
        super().__init__(endpoint, service, mode, timeout=timeout, parallel=parallel, window=window,
                         bulk_size=bulk_size, max_request_bytes=max_request_bytes, max_unfinished=max_unfinished,
                         max_losses=max_losses, liveness_timeout=liveness_timeout, more=list(more))
        self._service = service
        self._mode = mode

    def conditions(self) -> RemoteConditions:
        """What it has measured until now."""
        return RemoteConditions(*self.conditions_now())

    def plan(self) -> RemotePlan:
        """How operations travel now."""
        return RemotePlan(*self.plan_now())

    def __repr__(self) -> str:
        if self.forked:
            return "<Remote of a parent process>"
        state = "closed" if self.closed else f"{self.instances} instances, {self.unfinished} unfinished"
        return f"<Remote {self._service!r}, {self._mode}: {state}>"


_open: weakref.WeakSet[Service] = weakref.WeakSet()


def _close_all() -> None:
    """Tells clients while they can still be told; functions that do not end are left behind."""
    end = time.monotonic() + _EXIT_SECONDS
    for service in list(_open):
        if not service.forked:
            with contextlib.suppress(Exception):
                service.close(max(0.0, end - time.monotonic()))


atexit.register(_close_all)  # before endpoints are closed: that was registered earlier
