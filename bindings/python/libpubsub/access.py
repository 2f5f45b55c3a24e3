# SPDX-License-Identifier: BSD-3-Clause
"""Rights of peers: rules for those that connect to an endpoint."""

from __future__ import annotations

import os
from dataclasses import astuple, dataclass
from typing import Any, Iterable, List, Optional, Sequence, Tuple, Union

from . import _core


@dataclass(frozen=True)
class AccessRule:
    """For whom a rule is, and what they may do. The first rule that is for a peer holds; a peer for which there is
    none is refused.

    ``name``: of the rule, in the status and in messages. ``certificates``: common or alternative names in certificates;
    ``*`` for any, ``*.example.org`` for all that end so. ``users``: names or numbers of users that connect over
    ``unix://``. ``tokens``: digests (``sha256:`` and 64 digits) of tokens that WebSocket clients show. ``anonymous``: for
    those that show none of these.

    ``relay``: whether it may pass on what others publish. ``publish``, ``subscribe``: topic prefixes of messages from it
    and to it; None for all. Limits, 0 for any amount: ``messages_per_second`` and ``bytes_per_second`` hold a peer back
    and lose nothing; ``subscriptions`` and ``topics`` end its link; ``queued_bytes``: that wait for it;
    ``connections``: peers at a time for which the rule is.
    """

    name: str
    certificates: Sequence[str] = ()
    users: Sequence[str] = ()
    tokens: Sequence[str] = ()
    anonymous: bool = False
    relay: bool = False
    publish: Optional[Iterable[str]] = None
    subscribe: Optional[Iterable[str]] = None
    messages_per_second: int = 0
    bytes_per_second: int = 0
    subscriptions: int = 0
    topics: int = 0
    queued_bytes: int = 0
    connections: int = 0

    def __post_init__(self) -> None:
        for name in ("certificates", "users", "tokens", "publish", "subscribe"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise TypeError(f"{name} is a list of strings, not one")
            object.__setattr__(self, name, None if value is None else tuple(value))

    def _fields(self) -> Tuple[Any, ...]:
        everything = astuple(self)
        return (*everything[:8], everything[8:])


def read_access_rules(path: Union[str, os.PathLike[str]]) -> List[AccessRule]:
    """Reads rules from a TOML file (docs/security.md). Raises FileError; InvalidArgument with line and column;
    NotSupported in a build without toml++."""
    return [AccessRule(*fields[:8], *fields[8]) for fields in _core.read_access_rules(os.fspath(path))]
