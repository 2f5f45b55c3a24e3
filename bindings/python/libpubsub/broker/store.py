# SPDX-License-Identifier: BSD-3-Clause
"""Data stores, which this library does not have."""

from __future__ import annotations

import enum
from typing import NoReturn

from ..errors import NotSupported


class Frontend(enum.IntEnum):
    """The two sides of a data store."""

    Clone = 0
    Master = 1


class Backend(enum.IntEnum):
    """Where a data store keeps its entries."""

    Memory = 0
    SQLite = 1


def refuse(name: object) -> NoReturn:
    """Raises NotSupported, a ``NotImplementedError``, for the store ``name``."""
    raise NotSupported(f"the data store {name!r} cannot be attached: libpubsub carries messages only. Zeek deprecates "
                       "Broker's data stores; keep the data in a database, or publish its changes", "not_supported")


class Store:
    """Exists so that programs can name the type; making one raises ``NotImplementedError``."""

    def __init__(self, internal_store: object = None) -> None:
        refuse(internal_store)
