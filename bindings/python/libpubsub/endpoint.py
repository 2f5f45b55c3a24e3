# SPDX-License-Identifier: BSD-3-Clause
"""Endpoint: the node of the network, as a context manager with keyword options."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import uuid
import weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Optional, Union

from . import _core
from ._closing import Closing
from .access import AccessRule, read_access_rules
from .stream import Stream
from .subscriber import (DEFAULT_CAPACITY, DEFAULT_CAPACITY_BYTES, NetworkSubscriber, StatusSubscriber, Subscriber,
                         topic_list)

if TYPE_CHECKING:
    from .subscriber import Policy, Where

AnyPath = Union[str, "os.PathLike[str]"]

_EXIT_SECONDS = 3.0

_open: weakref.WeakSet[Endpoint] = weakref.WeakSet()


class Endpoint(_core.Endpoint, Closing):
    """A node of the publish/subscribe network: publishes, subscribes, peers, and relays between peers.

    Every method may be called from any thread. As a context manager it closes itself; so does dropping
    the last reference, and leaving the interpreter. It does not survive ``os.fork()``: in the child its
    methods raise ForkError.

    ``id``: its name in the network, a UUID; random by default. ``name``: what people call it, in the logs and the
    status of others too: at most 64 letters, digits and ``-._:@/``; the name of the host by default. ``forwarding``: whether it passes messages
    from one peer on to another (True) or is a client of those it peers with (False). By default it is a
    client until it listens, or has a peer that is a client itself or speaks version 1; then it peers again
    with those that took it for one: listen first, where both is to be done. ``broker_transit``: whether what one Broker peer has sent
    goes to the others; False where they are linked with one another, as the nodes of a Zeek cluster.
    ``own_messages``: whether its own subscribers receive what it publishes.
    ``io_threads``: threads that serve links; 0: it shares them with all endpoints of the process that say so,
    which is for hundreds and more in one process. ``link_capacity``, ``link_capacity_bytes``, ``link_policy``:
    the queue towards each peer, as for subscribers. ``forward_topics``: topics to announce although
    nobody here subscribes. ``connect_timeout``, ``handshake_timeout``, ``close_timeout``: seconds.
    ``liveness_timeout``: seconds without a sign of life after which a peer is cut off; 0 for never; times
    below 15 must be given to both sides. ``serve_status``: whether peers may ask for its status.

    ``shared_memory``: whether links at ``unix://`` that have carried 64 KiB move from their socket to memory that both
    processes share, if both want that. ``memory_ring``: bytes of it for each direction of a link that this side has
    connected, 4 KiB to 1 GiB; ``huge_pages``, ``numa_node``: how that memory is placed, if the system can.

    ``certificate``, ``key``, ``ca_file``: PEM files, ``ca_path``: a folder, ``passphrase``: of the key; for
    connections at ``tls://``. With none of them these are anonymous, with any of them both sides must present a
    certificate that the other trusts. ``access``: as for set_access. Raises InvalidArgument, FileError (a file that cannot be read).
    """

    def __init__(self, id: Union[str, uuid.UUID, None] = None, *, forwarding: Optional[bool] = None,
                 own_messages: bool = True, io_threads: int = 1,
                 link_capacity: int = DEFAULT_CAPACITY,
                 link_capacity_bytes: int = DEFAULT_CAPACITY_BYTES, link_policy: Policy = "block",
                 forward_topics: Union[str, Iterable[str]] = (), connect_timeout: float = 3.0,
                 handshake_timeout: float = 10.0, close_timeout: float = 3.0,
                 liveness_timeout: float = 30.0, serve_status: bool = True, certificate: AnyPath = "",
                 key: AnyPath = "", passphrase: str = "", ca_file: AnyPath = "", ca_path: AnyPath = "",
                 access: Union[AnyPath, Iterable[AccessRule], None] = None, name: str = "",
                 broker_transit: bool = True, shared_memory: bool = True, memory_ring: int = 1024 * 1024,
                 huge_pages: bool = False, numa_node: Optional[int] = None) -> None:
        super().__init__(None if id is None else str(id), forwarding, own_messages, io_threads,
                         link_capacity, link_capacity_bytes, link_policy, topic_list(forward_topics),
                         connect_timeout, handshake_timeout, close_timeout, liveness_timeout,
                         serve_status, os.fspath(certificate), os.fspath(key), passphrase, os.fspath(ca_file),
                         os.fspath(ca_path), name, broker_transit, shared_memory, memory_ring, huge_pages,
                         numa_node)
        _open.add(self)
        if access is not None:
            self.set_access(access)

    def set_access(self, rules: Union[AnyPath, Iterable[AccessRule], None]) -> None:
        """From now on these rules hold for peers that connect, or have connected, to this endpoint; a path is that of a
        TOML file; None: they may do everything. Links stay, and lose nothing, except those of peers that no rule is for
        any more, or that may now relay, or do so no more. Raises InvalidArgument, FileError, NotSupported, as
        read_access_rules; then the old rules stay."""
        if isinstance(rules, (str, os.PathLike)):
            rules = read_access_rules(rules)
        self.set_access_rules(None if rules is None else [rule._fields() for rule in rules])

    def set_tls(self, certificate: AnyPath = "", key: AnyPath = "", *, passphrase: str = "", ca_file: AnyPath = "",
                ca_path: AnyPath = "") -> None:
        """From now on connections at ``tls://`` use these files, which are read now; connections that exist go on with
        theirs. Raises InvalidArgument, FileError; then nothing has changed."""
        self.set_tls_files(os.fspath(certificate), os.fspath(key), passphrase, os.fspath(ca_file), os.fspath(ca_path))

    def make_publisher(self, topic: str) -> _core.Publisher:
        """A publisher for one topic; faster than ``publish``. Raises InvalidArgument, Closed."""
        return _core.Publisher(self, topic)

    def make_subscriber(self, topics: Union[str, Iterable[str]], *,
                        capacity: int = DEFAULT_CAPACITY,
                        capacity_bytes: int = DEFAULT_CAPACITY_BYTES,
                        policy: Policy = "block", where: Where = None) -> Subscriber:
        """A subscriber for every topic that starts with one of ``topics``; see Subscriber."""
        return Subscriber(self, topics, capacity=capacity, capacity_bytes=capacity_bytes,
                          policy=policy, where=where)

    def subscribe(self, topics: Union[str, Iterable[str]],
                  on_message: Callable[[_core.Message], object], *,
                  capacity: int = DEFAULT_CAPACITY, capacity_bytes: int = DEFAULT_CAPACITY_BYTES,
                  policy: Policy = "block", where: Where = None) -> Stream:
        """Calls ``on_message`` for every message, on a thread of its own; see Stream."""
        return Stream(self.make_subscriber(topics, capacity=capacity, capacity_bytes=capacity_bytes,
                                           policy=policy, where=where),
                      on_message)

    def make_status_subscriber(self, *, errors_only: bool = False) -> StatusSubscriber:
        """Sees what happens to peerings from now on, or only what fails. Raises Closed."""
        return StatusSubscriber(self, errors_only=errors_only)

    def make_network_subscriber(self) -> NetworkSubscriber:
        """Sees which nodes there are, and which topics they want; see NetworkSubscriber. Raises Closed."""
        return NetworkSubscriber(self)

    def status(self) -> Dict[str, Any]:
        """How this endpoint is: id, version, uptime, counters, peers and subscribers, as ``pubsub status --json``."""
        result: Dict[str, Any] = json.loads(self.status_text())
        return result

    def network(self) -> Dict[str, Any]:
        """The network as this endpoint knows it: ``id``, ``nodes`` (id, name, next hop, neighbours and topics of
        each) and how many were ``left_out``."""
        result: Dict[str, Any] = json.loads(self.network_text())
        return result

    def status_of(self, node: str, timeout: Optional[float] = None) -> Dict[str, Any]:
        """The ``status`` of the node with this id, as it tells it, within ``timeout`` seconds.

        The node may be any number of relays away, or a client of the relay this endpoint is linked with. Raises
        DecodeError (no id), PeerError (no node that is known has this id), NotSupported (it speaks version 1 or
        does not tell), PubsubError (this endpoint may not inspect), PeerUnavailable (a link was lost), Timeout, Closed.
        """
        result: Dict[str, Any] = json.loads(self.status_text_of(node, timeout))
        return result

    def network_of(self, node: str, timeout: Optional[float] = None) -> Dict[str, Any]:
        """The ``network`` as the node with this id knows it. Raises as ``status_of`` does."""
        result: Dict[str, Any] = json.loads(self.network_text_of(node, timeout))
        return result

    def __repr__(self) -> str:
        if self.forked:
            return "<Endpoint of a parent process>"
        return f"<Endpoint {self.id}: {'closed' if self.closed else f'{len(self.peers())} peers'}>"


def _close_all() -> None:
    """Ends every wait in other threads while the interpreter can still let them go."""
    for endpoint in list(_open):
        if not (endpoint.forked or endpoint.closed):
            with contextlib.suppress(Exception):
                endpoint.close(_EXIT_SECONDS)
    _core.join_background_work(_EXIT_SECONDS)


atexit.register(_close_all)
