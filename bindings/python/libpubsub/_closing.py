# SPDX-License-Identifier: BSD-3-Clause
"""The end of a ``with`` block, for everything that is closed there."""

from __future__ import annotations

import contextlib
from types import TracebackType
from typing import TYPE_CHECKING, Optional, TypeVar

from .errors import ForkError

_Self = TypeVar("_Self", bound="Closing")


class Closing:
    """Closes itself at the end of a ``with`` block. To be the last of the bases: others have ``close``."""

    __slots__ = ()

    if TYPE_CHECKING:
        def close(self) -> object: ...

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self._leave()

    def _leave(self) -> None:
        with contextlib.suppress(ForkError):  # a child may leave the block, too
            self.close()
