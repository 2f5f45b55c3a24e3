# SPDX-License-Identifier: BSD-3-Clause
"""A drop-in for Zeek's Python module ``broker``: ``import libpubsub.broker as broker``.

>>> import libpubsub.broker as broker
>>> with broker.Endpoint() as one, broker.Endpoint() as other, one.make_subscriber("/test") as subscriber:
...     other.peer("127.0.0.1", one.listen("127.0.0.1", 0))
...     other.publish("/test", ["ping", broker.Count(1)])
...     subscriber.get()
True
('/test', ('ping', Count(1)))

What to change, what is better and what differs: ``docs/migrating-from-broker.md``. New programs are better served by
``libpubsub`` itself.
"""

from __future__ import annotations

import enum
from datetime import timezone

from . import zeek
from .configuration import BrokerOptions, Configuration
from .data import Data, ImmutableData, Set, Table, Vector
from .endpoint import Endpoint
from .publisher import Publisher
from .status import (EC, SC, EndpointInfo, Error, NetworkInfo, OptionalNetworkInfo, PeerFlags, PeerInfo, PeerStatus,
                     Status)
from .store import Backend, Frontend, Store
from .subscriber import SafeSubscriber, StatusSubscriber, Subscriber
from .topic import Topic
from .values import Address, Count, Enum, Port, Subnet, Timespan, Timestamp, now

utc = timezone.utc
"""The time zone of every ``datetime`` received."""


class APIFlags(enum.IntEnum):
    """Kinds of endpoints that Broker once had."""

    Blocking = 1
    NonBlocking = 2


class Version:
    """The version of Broker whose module this one stands in for."""

    MAJOR = 2
    MINOR = 8
    PATCH = 0
    PROTOCOL = 2

    @staticmethod
    def string() -> str:
        """``2.8.0``."""
        return f"{Version.MAJOR}.{Version.MINOR}.{Version.PATCH}"

    @staticmethod
    def compatible(version: int) -> bool:
        """Whether ``version`` is our PROTOCOL."""
        return version == Version.PROTOCOL


__all__ = [
    "APIFlags", "Address", "Backend", "BrokerOptions", "Configuration", "Count", "Data", "EC", "Endpoint",
    "EndpointInfo", "Enum", "Error", "Frontend", "ImmutableData", "NetworkInfo", "OptionalNetworkInfo", "PeerFlags",
    "PeerInfo", "PeerStatus", "Port", "Publisher", "SC", "SafeSubscriber", "Set", "Status", "StatusSubscriber",
    "Store", "Subnet", "Subscriber", "Table", "Timespan", "Timestamp", "Topic", "Vector", "Version", "now", "utc",
    "zeek",
]
