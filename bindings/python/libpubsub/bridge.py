# SPDX-License-Identifier: BSD-3-Clause
"""Bridges to engines that keep messages: Kafka, NATS JetStream, Redis; there and back.

>>> import libpubsub
>>> from libpubsub import bridge
>>> redis = bridge.Redis("redis://127.0.0.1:6379")
>>> with libpubsub.Endpoint() as endpoint:  # doctest: +SKIP
...     with bridge.Sink(endpoint, redis, topics="sensor/", to="readings", format="binary") as sink:
...         endpoint.publish("sensor/1", [1, "two", 3.0])
...         sink.drain(timeout=5)
...     subscriber = endpoint.make_subscriber("again/")
...     how = {"publish": "again/{origin-topic}", "returned": True, "until_end": True}
...     with bridge.Source(endpoint, redis, from_="readings", **how) as source:
...         subscriber.get(timeout=5).data
...         source.wait_end(timeout=5)
<PublishResult.TAKEN: 'taken'>
0
(1, 'two', 3.0)
True

A sink counts a message as delivered once the engine has confirmed it, and a source tells the engine that it has come so
far once what it has read was taken: nothing is lost with either. Everything is accounted for: in Counters,
``consumed == delivered + sum(rejected.values()) + in_flight``. This module is not imported by ``import libpubsub``; it
raises ImportError where the package was built without the engines' libraries.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Optional, Union

from . import _core
from ._closing import Closing
from .conditions import condition_of
from .subscriber import DEFAULT_CAPACITY, DEFAULT_CAPACITY_BYTES, Where, topic_list

try:
    from ._core import BridgeEngine
except ImportError:
    raise ImportError("this libpubsub was built without the libraries of engines, which bridges need "
                      "(Debian: librdkafka-dev libnats-dev libhiredis-dev)") from None

if TYPE_CHECKING:
    from typing import Literal

    from .endpoint import Endpoint
    from .subscriber import Policy

    SinkFormat = Literal["zeek-json", "json", "binary", "avro"]
    SourceFormat = Literal["zeek-json", "json", "binary", "plain-json", "string"]

__all__ = ["Counters", "Engine", "JetStream", "Kafka", "Redis", "Sink", "Source", "clickhouse_ddl", "clickhouse_type"]

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Kafka:
    """Apache Kafka, or what speaks its protocol.

    ``brokers`` are ``host:port``; several are separated by commas. ``settings`` are any properties of librdkafka by the
    names they have there (``{"compression.type": "zstd", "security.protocol": "SSL"}``); what promises stand on
    (``enable.idempotence``, ``acks``, ``enable.auto.commit``) cannot be set. They are not shown by ``repr``, as they may
    have passwords. With a ``transactional_id`` a Sink that takes a pipeline writes in transactions: readers of committed
    records see each task once, across restarts; one Sink at a time has an id. The topic ``positions`` then keeps the last
    number of every source of tasks; it is made where it is missing.
    """

    brokers: str = "127.0.0.1:9092"
    settings: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False)
    transactional_id: Optional[str] = None
    positions: str = "pubsub.positions"

    def _engine(self) -> BridgeEngine:
        return BridgeEngine.kafka(self.brokers, dict(self.settings), self.transactional_id or "", self.positions)


@dataclass(frozen=True)
class JetStream:
    """Streams of a NATS server.

    ``url`` is ``nats://host:port`` or ``tls://host:port``; several are separated by commas. It is not shown by ``repr``,
    as it may have a password. A Source reads ``stream``; a Sink makes sure that it exists, and makes it where it is
    missing if ``subjects`` says what it is to take, such as ``"zeek.>"``. ``credentials`` is a file. For ``tls://``:
    ``ca`` is whom to trust, by default whom the system does; ``certificate`` and ``key`` are as whom to appear; PEM files.
    """

    url: str = dataclasses.field(default="nats://127.0.0.1:4222", repr=False)
    stream: str = ""
    subjects: str = ""
    credentials: Optional[Path] = None
    ca: Optional[Path] = None
    certificate: Optional[Path] = None
    key: Optional[Path] = None

    def _engine(self) -> BridgeEngine:
        files = [os.fspath(each or "") for each in (self.credentials, self.ca, self.certificate, self.key)]
        return BridgeEngine.jetstream(self.url, self.stream, self.subjects, *files)


@dataclass(frozen=True)
class Redis:
    """Streams or lists of a Redis server.

    ``url`` is ``redis://[[user]:password@]host:port[/database]`` or ``unix:///path``; it is not shown by ``repr``. A
    stream that a Sink writes keeps about ``max_length`` entries, 0 for all. ``field`` is the field of an entry that holds
    the value; a Source takes the only field of an entry where there is none of this name, as Suricata's entries have
    ``eve``.

    With ``list`` names are those of lists, which writers push to by ``"rpush"`` (Logstash), or by ``"lpush"`` (Suricata's
    ``mode: list``). An element is the value alone: without key and headers, so a Source does not know what a Sink of its
    own network has written. A Source reads one list, without a group and from the oldest element, and what is done is
    removed.
    """

    url: str = dataclasses.field(default="redis://127.0.0.1:6379", repr=False)
    max_length: int = 0
    field: str = "payload"
    list: Optional[Literal["rpush", "lpush"]] = None

    def _engine(self) -> BridgeEngine:
        return BridgeEngine.redis(self.url, self.max_length, self.field, self.list or "")


Engine = Union[Kafka, JetStream, Redis]
"""Where a bridge leads to."""


def _engine_of(x: object) -> BridgeEngine:
    if not isinstance(x, (Kafka, JetStream, Redis)):
        raise TypeError(f"an engine is a Kafka, JetStream or Redis of libpubsub.bridge, not {x!r:.100}")
    return x._engine()


@dataclass(frozen=True)
class Counters:
    """Messages, tasks or records. At any time ``consumed == delivered + sum(rejected.values()) + in_flight``."""

    consumed: int
    """Taken from where they come from."""
    delivered: int
    """Confirmed by where they go to."""
    in_flight: int
    """Not confirmed yet."""
    dead_letters: int
    """Of those rejected, kept as dead letters."""
    redelivered: int
    """Of those consumed, that may have been passed on before."""
    bytes: int
    """Of the values that were delivered, as the engine has them."""
    lag: int
    """Of a source: records that the engine has behind those that were consumed, as far as is known."""
    rejected: Mapping[str, int]
    """What was not passed on, by reason; every reason is there.

    ``announcement`` (tells the columns of a log, and is no record itself), ``not_a_record``, ``unknown_columns``,
    ``no_such_field`` (the key needs it), ``bad_name``, ``bad_payload``, ``refused`` (too large, not allowed),
    ``timed_out``, ``returned`` (has come from where it would go to), ``already_there`` (written before a restart),
    ``unwanted`` (no subscriber), ``dead`` (lost with too many workers).
    """


def _counters(end: Union[_core.BridgeSink, _core.BridgeSource]) -> Counters:
    numbers, rejected = end.counters_now()
    return Counters(rejected=rejected, **numbers)


def _described(end: Union[Sink, Source]) -> str:
    engine = end.__dict__.get("_engine")  # of one that could not be made there is nothing to ask
    if engine is None:
        return f"<{type(end).__name__}>"
    if end.forked:
        return f"<{type(end).__name__} of a parent process>"
    now = end.counters()
    state = "closed, " if end.closed else ""
    return f"<{type(end).__name__} {engine}: {state}{now.consumed} consumed, {now.delivered} delivered>"


class Sink(_core.BridgeSink, Closing):
    """Takes messages or tasks of an endpoint, as long as it is open, and hands them to an engine.

    It takes the messages of ``topics`` (prefixes, one or several) that fulfil ``where``, as Endpoint.make_subscriber does,
    or, if ``pipeline`` names a queue, the tasks of exchanges of the same name; a task is done once the engine has confirmed
    it. It takes no more than the engine confirms: where that is slow or away, messages wait in a queue of ``capacity``
    messages and ``capacity_bytes``, whose ``policy`` is that of subscribers: with ``"block"`` publishers wait and nothing
    is lost. The engine need not be there yet; see ``last_problem``.

    ``to`` is where a record goes: ``{topic}`` is the topic of the message (of a task, the name of the pipeline), ``{path}``
    the path of the log that a record is of, ``{event}`` the name of a Zeek event; what the engine does not allow in names
    becomes ``.`` (for ``/``) or ``_``. ``key`` is Kafka's: ``"origin"`` (publisher and topic, which keeps their order),
    ``"topic"``, ``"field:NAME"`` (a column of a record), ``"community_id"`` or ``"none"``. ``format`` is how values are
    written: ``"zeek-json"`` (records of logs only, as Zeek's JSON writer has them), ``"json"`` and ``"binary"`` (any value,
    with types; JSON has times to the millisecond). ``headers`` say where a record comes from; without them a Source cannot
    tell what has come from its own ``network``. What cannot be written goes to ``dead_letters`` of the engine, as binary
    with the header ``pubsub-reason``, if that is named. ``except_own`` leaves out what this endpoint has published, for one that has a
    Source, too. ``close_timeout`` is the number of seconds that ``close`` waits for what was taken.

    As a context manager it closes itself. Threads may share one. Raises InvalidArgument for options that are out of range,
    do not fit together, or that the engine's library does not take; NotSupported for what the engine does not do; Closed;
    and what Condition raises. For example::

        with bridge.Sink(endpoint, bridge.Kafka("kafka:9092"), topics="zeek/records/", to="zeek.{path}") as sink:
            ...
            sink.drain(timeout=10)  # 0: all is with Kafka
    """

    def __init__(self, endpoint: Endpoint, engine: Engine, *, topics: Union[str, Iterable[str]] = (),
                 pipeline: Optional[str] = None, where: Where = None, to: str = "{topic}", key: str = "origin",
                 format: SinkFormat = "zeek-json", headers: bool = True, dead_letters: Optional[str] = None,
                 network: str = "pubsub", except_own: bool = False, capacity: int = DEFAULT_CAPACITY,
                 capacity_bytes: int = DEFAULT_CAPACITY_BYTES, policy: Policy = "block", close_timeout: float = 5.0) -> None:
        super().__init__(endpoint, _engine_of(engine), topic_list(topics), pipeline or "", condition_of(where), to, key, format,
                         headers, dead_letters or "", network, except_own, capacity, capacity_bytes, policy, close_timeout)
        self._engine = engine

    def counters(self) -> Counters:
        """What became of everything that it has taken."""
        return _counters(self)

    def __repr__(self) -> str:
        return _described(self)


class Source(_core.BridgeSource, Closing):
    """Reads records of an engine, as long as it is open, and publishes them at an endpoint, or makes tasks of them.

    ``from_`` names what to read, one or several: topics of Kafka (``^`` begins a regular expression), subjects of
    JetStream's stream (none: all), or streams of Redis. The engine shares the records among the sources of a ``group`` (of
    JetStream: a durable consumer) and keeps how far that has come: what was passed on counts as done only once every peer
    has confirmed that it has read it and subscribers here have taken it, or the workers of the pipeline have acknowledged
    it; what was not comes again after a restart. Without a group all is read and nothing kept. ``start`` is ``"stored"``
    (behind what the group has confirmed; the default if there is one), ``"beginning"`` (the default otherwise), ``"end"``,
    ``"time:2026-11-28T01:00:00Z"`` or an aware datetime, ``"offset:N"`` (as the engine numbers records).

    ``publish`` is the topic: ``{topic}`` is the name that the record is kept under, ``{key}`` its key, ``{origin-topic}``
    the topic that a Sink took it from, or ``{topic}`` where none did. If ``pipeline`` names an exchange, each record becomes
    a task instead. ``format`` is how values are read: ``"zeek-json"``, ``"json"``, ``"binary"``, ``"plain-json"`` (any JSON;
    objects become tables), ``"string"`` (bytes as they are); None: as the record says, and plain JSON if it says nothing.
    At most ``rate`` records a second, 0 for no limit. With ``until_end`` it ends once it has passed on all that is kept,
    and that was taken: what subscribers of this endpoint have to get meanwhile.
    What a Sink of the same ``network`` has written does not come back but with ``returned``. What cannot be read is
    published on the topic ``dead_letters`` as ``(reason, name, key, payload)``, if that is given. The engine is told every
    ``commit_interval`` seconds how far it has come, at least 0.01; ``close`` waits at most ``close_timeout`` seconds for
    what was read to be taken.

    As a context manager it closes itself. Threads may share one. Raises InvalidArgument for options that are out of range,
    do not fit together, or that the engine's library does not take; NotSupported for what the engine does not do; Closed;
    EncodeError for a naive datetime. For example::

        with bridge.Source(endpoint, bridge.Redis(), from_="suricata", group="hunters", publish="suricata/events") as source:
            source.wait_end()  # until Ctrl-C, or until the engine says something that it cannot go on with: `failure`
    """

    def __init__(self, endpoint: Endpoint, engine: Engine, *, from_: Union[str, Iterable[str]] = (),
                 group: Optional[str] = None, start: Union[str, datetime, None] = None, publish: str = "{origin-topic}",
                 pipeline: Optional[str] = None, format: Optional[SourceFormat] = None, rate: float = 0.0,
                 until_end: bool = False, returned: bool = False, network: str = "pubsub",
                 dead_letters: Optional[str] = None, commit_interval: float = 1.0, close_timeout: float = 5.0) -> None:
        super().__init__(endpoint, _engine_of(engine), topic_list(from_), group or "", start, publish, pipeline or "", format,
                         rate, until_end, returned, network, dead_letters or "", commit_interval, close_timeout)
        self._engine = engine

    def counters(self) -> Counters:
        """What became of everything that it has read."""
        return _counters(self)

    def __repr__(self) -> str:
        return _described(self)


def clickhouse_type(zeek_type: str) -> str:
    """The type of a column in ClickHouse for a type of Zeek's logs. Raises NotSupported.

    >>> clickhouse_type("set[string]")
    'Array(String)'
    """
    return _core.clickhouse_type(zeek_type)


def clickhouse_ddl(path: str, columns: Iterable[tuple[str, str]], *, database: str = "zeek", table: Optional[str] = None,
                   brokers: Optional[str] = None, topic: Optional[str] = None, group: str = "clickhouse") -> str:
    """Statements in SQL, each with a semicolon, that make a table of ClickHouse for the records of a log.

    ``path`` is that of the log, such as ``conn``, and ``columns`` are pairs of a name and a type as Zeek writes it, such as
    ``("id.orig_h", "addr")``; the ``schemas`` of zeek.RecordReader have them. The table is called ``table``, by default as
    the path, and ordered by ``ts`` where there is one. With ``brokers`` (``host:port`` of Kafka as ClickHouse reaches it)
    there are also a table that reads ``topic``, by default ``<database>.<table>``, as ``group``, and a view that moves what
    comes, as a Sink with the format zeek-json has written it. Raises InvalidArgument (no columns), NotSupported (a type that
    logs cannot hold), which name the column.

    >>> print(clickhouse_ddl("dns", [("ts", "time"), ("query", "string")]))  # doctest: +ELLIPSIS
    CREATE DATABASE IF NOT EXISTS ...
    """
    return _core.clickhouse_ddl(path, [(name, type) for name, type in columns], database, table or "", brokers or "",
                                topic or "", group)
