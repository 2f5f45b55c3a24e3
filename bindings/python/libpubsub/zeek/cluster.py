# SPDX-License-Identifier: BSD-3-Clause
"""Programs as members of Zeek clusters, whatever backend these have."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Callable, Generic, Iterable, Iterator, Mapping, Optional, TypeVar, Union

from .._closing import Closing
from ..endpoint import Endpoint
from ..errors import InvalidArgument
from ..subscriber import DEFAULT_CAPACITY
from ..values import PublishResult
from .declarations import Declarations
from .messages import RECORD_TOPIC, Event, LogReader, Record, read_event

if TYPE_CHECKING:
    from .._core import Message
    from ..subscriber import Policy
    from ..subscriber import Subscriber as _Subscriber  # the name alone means several classes to Sphinx

_LOG_TOPIC = "zeek/logs/"

_Item = TypeVar("_Item")


def _time_left(timeout: Optional[float]) -> Callable[[], Optional[float]]:
    """From now on, in seconds."""
    if timeout is None:
        return lambda: None
    end = time.monotonic() + timeout
    return lambda: max(0.0, end - time.monotonic())


class _Feed(Generic[_Item], Closing):
    """What the messages of a subscriber say. Iterate it, with ``for`` or ``async for``; as a context manager it closes
    itself. ``get`` and ``get_async`` wait for the next, at most ``timeout`` seconds, and return None then."""

    def __init__(self, subscriber: _Subscriber) -> None:
        self.subscriber = subscriber
        self._ready: list[_Item] = []
        """Read from a message, in reverse order."""

    def _read(self, message: Message) -> list[_Item]:
        raise NotImplementedError

    def _take(self, message: Message) -> None:
        self._ready = self._read(message)
        self._ready.reverse()

    def __iter__(self) -> Iterator[_Item]:
        while self._ready:
            yield self._ready.pop()
        for message in self.subscriber:
            self._take(message)
            while self._ready:
                yield self._ready.pop()

    def __aiter__(self) -> _Feed[_Item]:
        return self

    async def __anext__(self) -> _Item:
        while not self._ready:
            self._take(await self.subscriber.__anext__())
        return self._ready.pop()

    def get(self, timeout: Optional[float] = None) -> Optional[_Item]:
        """The next one. Raises Closed."""
        left = _time_left(timeout)
        while not self._ready:
            message = self.subscriber.get(left())
            if message is None:
                return None
            self._take(message)
        return self._ready.pop()

    async def get_async(self, timeout: Optional[float] = None) -> Optional[_Item]:
        """As ``get``, for a task of an event loop."""
        left = _time_left(timeout)
        while not self._ready:
            message = await self.subscriber.get_async(left())
            if message is None:
                return None
            self._take(message)
        return self._ready.pop()

    def close(self) -> None:
        """Ends iteration, after what has come already."""
        self.subscriber.close()


class Events(_Feed[Event]):
    """Events of a cluster, in their order, each with its ``topic``; other messages are passed over, and counted:
    ``skipped``."""

    skipped = 0

    def _read(self, message: Message) -> list[Event]:
        event = read_event(message)
        if event is None:
            self.skipped += 1
        return [] if event is None else [event]

    # Both as in general, but without a list for each event.
    def __iter__(self) -> Iterator[Event]:
        for event in map(read_event, self.subscriber):
            if event is None:
                self.skipped += 1
            else:
                yield event

    async def __anext__(self) -> Event:
        while (event := read_event(await self.subscriber.__anext__())) is None:
            self.skipped += 1
        return event


class Records(_Feed[Record]):
    """Records of a cluster's logs, as ``(path, values)`` pairs, ``values`` by the names of the columns. Those that come before
    the columns of their log are known are passed over, and counted: ``skipped``."""

    def __init__(self, subscriber: _Subscriber) -> None:
        super().__init__(subscriber)
        self._reader = LogReader()

    @property
    def skipped(self) -> int:
        """How many have been passed over."""
        return self._reader.skipped

    def _read(self, message: Message) -> list[Record]:
        return self._reader.feed(message.data)


class Cluster(Closing):
    """A Zeek cluster, of which this program is a member; ``connect`` makes it.

    Topics have slashes whatever the cluster's backend is: ``zeek/cluster/worker`` are all workers,
    ``zeek/cluster/node/worker-1/`` is one. What is not here can be done with ``endpoint``: status events, queues, counters.
    As a context manager it closes itself, and leaves the cluster; not so an endpoint that it was given.
    """

    def __init__(self, endpoint: Endpoint, uri: str, owns_endpoint: bool) -> None:
        self.endpoint = endpoint
        self.uri = uri
        self._owns_endpoint = owns_endpoint
        self._declared = Declarations()

    def declare(self, script: str) -> None:
        """Says what events and records look like, in the words of Zeek: ``type R: record { ... };`` and ``global Pkg::done:
        event(n: count, r: R);``, or a whole script, of which the rest is passed over.

        The arguments of events that are published afterwards become what is declared: an int a ``count``, a ``double`` or
        an ``interval``, a str an ``addr``, a ``subnet``, a ``port``, or an enum, a list a ``vector`` or a ``set``, a dict a
        record. Raises InvalidArgument, with the line."""
        self._declared.add(script)

    def publish(self, topic: str, event: Union[Event, str], *args: Any) -> PublishResult:
        """Publishes an event: an Event, or its name and its arguments. As Zeek converts nothing, an event that was not
        declared must have ``count`` as a Count, and enums as an EnumValue. Raises InvalidArgument for arguments that are
        not what is declared; else as ``Endpoint.publish``."""
        if isinstance(event, str):
            event = Event(event, *args)
        elif args:
            raise InvalidArgument("an Event has its arguments already")
        converted = self._declared.convert(event.name, event.args)
        if converted is not event.args:
            event = Event(event.name, *converted, timestamp=event.timestamp, traceparent=event.traceparent,
                          tracestate=event.tracestate)
        return self.endpoint.publish(topic, event)

    def wait_for(self, topic: str, timeout: Optional[float] = None, nodes: int = 1) -> bool:
        """Waits until somebody wants ``topic``, at most ``timeout`` seconds: what is published before that goes nowhere. A
        cluster with the ZeroMQ backend counts as one node. False on time-out."""
        return self.endpoint.wait_for_subscribers(topic, nodes, timeout=timeout)

    def events(self, topics: Union[str, Iterable[str]], *, capacity: int = DEFAULT_CAPACITY,
               policy: Policy = "block") -> Events:
        """The events on topics that begin so. ``capacity``, ``policy``: of the queue, as for a Subscriber."""
        return Events(self.endpoint.make_subscriber(topics, capacity=capacity, policy=policy))

    def records(self, *paths: str, capacity: int = DEFAULT_CAPACITY, policy: Policy = "block") -> Records:
        """The records of these logs, such as ``"conn"``; of all without one.

        They come where nodes of a cluster with the ZeroMQ backend have this program as a logger (``logs=PORT`` in the
        address), from Brokers, from nodes whose backend is this library, and from whoever publishes records (``pubsub pub
        --zeek-log``)."""
        topics = [prefix + path for prefix in (RECORD_TOPIC, _LOG_TOPIC) for path in paths or ("",)]
        return Records(self.endpoint.make_subscriber(topics, capacity=capacity, policy=policy))

    @property
    def problem(self) -> str:
        """Why the cluster is not reached, in one sentence; empty where it is, or where a peer of another kind stands for
        it."""
        return next((each.problem for each in self.endpoint.gateways() if each.uri == self.uri), "")

    @property
    def counters(self) -> Mapping[str, int]:
        """What has come, gone, and got lost, by name; empty where a peer of another kind stands for the cluster:
        ``endpoint.peers()`` has its counters."""
        return next((each.counters for each in self.endpoint.gateways() if each.uri == self.uri), {})

    def close(self) -> None:
        """Leaves the cluster, after what was published has been handed over."""
        if self._owns_endpoint:
            self.endpoint.close()
        else:
            self.endpoint.unpeer(self.uri)

    def __repr__(self) -> str:
        return f"<Cluster at {self.uri}>"


def connect(uri: str, *, timeout: float = 10.0, endpoint: Optional[Endpoint] = None, **options: Any) -> Cluster:
    """Makes this program a member of a Zeek cluster, and waits until it is one, at most ``timeout`` seconds. A cluster that is
    lost later is looked for again.

    ``uri``: ``zeek+zmq://HOST`` for a cluster with the ZeroMQ backend, as Zeek has by default (``?xpub=5556&xsub=5555`` are the
    ports of its proxy, ``logs=PORT`` to receive logs, ``curve=FOLDER`` the keys); ``tcp://`` or ``tls://HOST:PORT`` for
    Broker, or a relay. ``endpoint``: to use this one, with whatever else it is connected to; else one is made with
    ``options``, which are those of Endpoint.

    Raises PeerUnavailable, with the reason, InvalidArgument, NotSupported (this build lacks what the address needs)."""
    if endpoint is not None and options:
        raise InvalidArgument(f"an endpoint that is there has its options already: {', '.join(options)}")
    used = Endpoint(**options) if endpoint is None else endpoint
    try:
        used.peer(uri, timeout=timeout)
    except BaseException:
        if endpoint is None:
            used.close()
        raise
    return Cluster(used, uri, endpoint is None)
