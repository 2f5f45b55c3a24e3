"""Ctrl-C while Python waits for Python."""

from __future__ import annotations

import contextlib
from concurrent.futures import Future
from typing import Any, Iterator, Optional


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Lets Ctrl-C end what waits with a KeyboardInterrupt, whenever it comes.

    Where it comes while ``threading.Condition`` gives its lock away or takes it back, that ends in a RuntimeError
    ("release unlocked lock") instead, with the interrupt as its context. Events and futures wait with conditions.
    """
    try:
        yield
    except RuntimeError as failure:
        if isinstance(failure.__context__, KeyboardInterrupt):
            raise failure.__context__ from None
        raise


class InterruptibleFuture(Future[Any]):
    """A future that Ctrl-C ends waiting for as it does everything else."""

    def result(self, timeout: Optional[float] = None) -> Any:
        with interruptible():
            return super().result(timeout)

    def exception(self, timeout: Optional[float] = None) -> Optional[BaseException]:
        with interruptible():
            return super().exception(timeout)
