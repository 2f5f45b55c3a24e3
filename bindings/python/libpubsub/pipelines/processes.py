# SPDX-License-Identifier: BSD-3-Clause
"""Processes of stages: started, watched, started again where they end, and ended with their parent."""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import logging
import multiprocessing
import multiprocessing.util  # its own work at exit must come after ours, which is registered later
import os
import signal
import threading
import time
import weakref
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Callable, Optional, Sequence

from .._core import Event
from ..errors import StageError
from . import child
from .stages import Stage, pickled

_SOME_WORK = 1.0  # seconds after which a process that was ready counts as one that can work
_TIME_TO_END = 3.0  # seconds after it was asked to
_TIME_TO_DIE = 2.0  # seconds after it was made to

_log = logging.getLogger(__name__)
_spawn = multiprocessing.get_context("spawn")
_all: weakref.WeakSet[Processes] = weakref.WeakSet()


@dataclasses.dataclass
class _Slot:
    """One worker of a stage: a process, and after that the next."""

    stage: Stage
    function: bytes
    wiring: child.Wiring
    process: Optional[SpawnProcess] = None
    pipe: Optional[Connection] = None
    ready_at: Optional[float] = None  # monotonic
    completed: int = 0  # tasks of the whole pipeline when it was started
    in_vain: int = 0  # processes that ended one after the other and had done nothing


class Processes:
    """The processes of all stages. A thread of its own starts and watches them.

    ``completed()`` tells how many tasks the pipeline has completed. ``failed(error)`` is called, on that thread, when a
    stage cannot be kept going: then all processes are ended. ``max_restarts``: so many processes of one worker may end
    in a row without having done anything.
    """

    def __init__(self, stages: Sequence[Stage], wirings: Sequence[child.Wiring], uri: str, *, max_restarts: int,
                 completed: Callable[[], int], failed: Callable[[BaseException], None]) -> None:
        self._slots = [_Slot(each, function, wiring) for each, wiring in zip(stages, wirings)
                       for function in [pickled(each)] for _ in range(each.workers)]
        self._uri = uri
        self._max_restarts = max_restarts
        self._completed = completed
        self._failed = failed
        self._parent = os.getpid()
        self._all_work = Event()  # or all is ended
        self._telling = threading.Lock()  # the event says what is so
        self.restarts = 0
        self._stopping = False
        self._gently = False
        self._woken, self._wake = _spawn.Pipe(duplex=False)
        self._thread = threading.Thread(target=self._run, name="libpubsub processes", daemon=True)
        _all.add(self)
        self._tell()  # a pipeline may have no process here

    def start(self) -> None:
        self._thread.start()

    def ids(self) -> dict[str, list[int]]:
        """Process ids by stage."""
        result: dict[str, list[int]] = {each.stage.name: [] for each in self._slots}
        for each in self._slots:
            if each.process is not None and each.process.pid is not None:
                result[each.stage.name].append(each.process.pid)
        return result

    def wait_ready(self, timeout: Optional[float]) -> bool:
        """Waits until every process works, at most ``timeout`` seconds; False then, or when all is ended."""
        return self._all_work.wait(timeout) and not self._stopping

    def _tell(self) -> None:
        """Wakes who waits for it, where every process works or all is ended."""
        with self._telling:
            if self._stopping or all(each.ready_at is not None for each in self._slots):
                self._all_work.set()
            else:
                self._all_work.clear()

    def stop(self, gently: bool = True) -> None:
        """Ends all; returns when they have ended, after 5 seconds at most. Gently: what they are at may be finished."""
        if os.getpid() != self._parent:
            return  # a forked child has no part in it
        self._gently = gently
        self._stopping = True
        self._tell()
        if not self._thread.ident:
            return
        with contextlib.suppress(OSError):
            self._wake.send(None)
        if threading.current_thread() is not self._thread:
            self._thread.join(_TIME_TO_END + 2 * _TIME_TO_DIE)

    # -- what follows runs in the thread

    def _run(self) -> None:
        # Ctrl-C goes to every process of the terminal; ours are born with it blocked, and have no use for it.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            for each in self._slots:
                if self._stopping:
                    break
                self._start(each)
            while not self._stopping:
                self._look()
        except BaseException as failure:
            self._failed(failure)
        finally:
            self._stopping = True
            self._tell()
            self._end_all()

    def _start(self, slot: _Slot) -> None:
        ours, theirs = _spawn.Pipe()
        process = _spawn.Process(target=child.main, name=f"libpubsub {slot.stage.name}",
                                 args=(slot.function, slot.wiring, self._uri, self._parent, theirs))
        slot.completed = self._completed()
        slot.pipe = ours
        try:
            process.start()
        except OSError as failure:
            raise StageError(f"stage {slot.stage.name!r}: a process cannot be started: {failure}") from failure
        finally:
            theirs.close()
        slot.process = process

    def _look(self) -> None:
        """Waits until something happens to a process, or somebody stops all."""
        sources: dict[Any, _Slot] = {}
        for each in self._slots:
            if each.process is not None:
                sources[each.process.sentinel] = each
            if each.pipe is not None:
                sources[each.pipe] = each
        for source in wait([self._woken, *sources]):
            slot = sources.get(source)
            if slot is not None and source is slot.pipe:
                self._hear(slot)
        for each in self._slots:
            if not self._stopping and each.process is not None and not each.process.is_alive():
                self._ended(each)

    def _hear(self, slot: _Slot) -> None:
        assert slot.pipe is not None
        try:
            what, text = slot.pipe.recv()
        except (EOFError, OSError):  # it ends
            slot.pipe.close()
            slot.pipe = None
            return
        if what == child.CANNOT_START:
            raise StageError(f"stage {slot.stage.name!r} cannot start: {text}")
        slot.ready_at = time.monotonic()
        self._tell()

    def _ended(self, slot: _Slot) -> None:
        """Its tasks go to others; so does its place."""
        assert slot.process is not None
        if slot.pipe is not None and slot.pipe.poll():  # its last words
            self._hear(slot)
        how = describe_exit(slot.process.exitcode)
        worked = slot.ready_at is not None and (time.monotonic() - slot.ready_at > _SOME_WORK or
                                                self._completed() > slot.completed)
        slot.in_vain = 0 if worked else slot.in_vain + 1
        if slot.in_vain > self._max_restarts:
            raise StageError(f"stage {slot.stage.name!r}: {slot.in_vain} processes in a row ended before they had done "
                             f"anything, the last by {how}; what they printed on stderr may tell why (is the main part "
                             "of the program under `if __name__ == \"__main__\":`?)")
        _log.warning("a process of stage %r ended by %s and is started again", slot.stage.name, how)
        self._release(slot)
        slot.ready_at = None
        self._tell()
        self.restarts += 1
        self._start(slot)

    def _release(self, slot: _Slot) -> None:
        if slot.pipe is not None:
            slot.pipe.close()
        if slot.process is not None:
            slot.process.join()
            slot.process.close()
        slot.pipe = slot.process = None

    def _end_all(self) -> None:
        running = [each for each in self._slots if each.process is not None]
        for each in running:
            assert each.process is not None
            with contextlib.suppress(OSError):
                if self._gently and each.pipe is not None:
                    each.pipe.send(child.STOP)
                else:
                    each.process.terminate()
        self._wait_for_all(running, _TIME_TO_END if self._gently else _TIME_TO_DIE)
        for each in running:
            assert each.process is not None
            each.process.kill()
            self._release(each)
        self._woken.close()

    def _wait_for_all(self, running: Sequence[_Slot], seconds: float) -> None:
        end = time.monotonic() + seconds
        left = {each.process.sentinel for each in running if each.process is not None}
        while left and (rest := end - time.monotonic()) > 0:
            left.difference_update(wait(left, rest))


def describe_exit(code: Optional[int]) -> str:
    """Such as ``exit code 3`` or ``SIGKILL``."""
    if code is None or code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _stop_all() -> None:
    for each in list(_all):
        each.stop(gently=False)


atexit.register(_stop_all)
