# SPDX-License-Identifier: BSD-3-Clause
"""The endpoint: listens, peers, publishes and subscribes as Broker's does, over the library's own."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Any, Iterable, Mapping, NoReturn, Optional, Type, TypeVar, Union

from .._closing import Closing
from .._core import NodeInfo
from ..endpoint import Endpoint as NativeEndpoint
from ..errors import ForkError, ListenError, PeerError, PubsubError, Timeout
from ..subscriber import Subscriber as NativeSubscriber
from . import store
from .configuration import Configuration, address_uri, certificates, log
from .publisher import Publisher, publish_converted
from .status import PeerInfo, peer_from_native
from .subscriber import SafeSubscriber, StatusSubscriber, Subscriber
from .topic import Topic, topic_name, topic_names

AnyTopic = Union[Topic, str]
AnyTopics = Union[Topic, str, Iterable[Union[Topic, str]]]
AnySubscriber = TypeVar("AnySubscriber", bound=Subscriber)

QUEUE_MESSAGES = 1 << 20
"""Messages a subscriber holds before its publishers wait."""
QUEUE_BYTES = 256 * 1024 * 1024
"""Bytes a subscriber holds before its publishers wait."""

_AWAIT_SECONDS = 10.0
_GOODBYE_SECONDS = 3.0
_GLANCE_SECONDS = 0.02  # how soon `await_peer` notices a node that is no direct peer
_SETTLE_SECONDS = 0.25  # how long `await_peer` waits for the wants of such a node


class Endpoint(Closing):
    """A node of the network, made from a Configuration or with the usual options.

    Its own subscribers do not receive what it publishes. As a context manager it shuts itself down; so does
    dropping the last reference. All methods may be called from any thread. Connections are encrypted unless
    ``disable_ssl`` is set. Raises InvalidArgument and FileError for certificates that cannot be used.
    """

    def __init__(self, configuration: Optional[Configuration] = None) -> None:
        self._configuration = Configuration() if configuration is None else configuration
        self._node = NativeEndpoint(forwarding=not self._configuration.options.disable_forwarding,
                                    own_messages=False, io_threads=max(1, self._configuration.max_threads),
                                    **certificates(self._configuration))
        self._forwarding: list[NativeSubscriber] = []

    def node_id(self) -> str:
        """Its name in the network, a UUID."""
        return self._node.id

    # -- peering ----------------------------------------------------------------------------------

    def listen(self, address: str = "", port: int = 0) -> int:
        """Accepts peers and returns the port; port 0 picks one, an empty address means all.

        Returns 0 if that is not possible; why, the log ``libpubsub.broker`` tells. Raises Closed.
        """
        try:
            return self._node.listen(self._uri(address, port))
        except ListenError as error:
            log.warning("cannot listen: %s", error)
            return 0

    def _uri(self, host: str, port: int) -> str:
        return address_uri(self._configuration, host, port)

    def peer(self, addr: str, port: int, retry: float = 10.0) -> bool:
        """Connects to a peer and waits until that has succeeded, or the only attempt has failed.

        ``retry``: whole seconds between attempts, for ever, and again when the peering is lost; below 1 there is
        one attempt. Each failure is an Error for status subscribers. Raises InvalidArgument, Closed.
        """
        seconds = _retry(retry)
        try:
            self._node.peer(self._uri(addr, port), retry=seconds, timeout=None, max_retry=seconds or 1.0)
        except PeerError as error:
            log.info("cannot peer: %s", error)
            return False
        return True

    def peer_nosync(self, addr: str, port: int, retry: float = 10.0) -> None:
        """As ``peer``, but returns at once."""
        seconds = _retry(retry)
        self._node.peer_async(self._uri(addr, port), retry=seconds, max_retry=seconds or 1.0)

    def unpeer(self, addr: str, port: int) -> bool:
        """Ends the peering made with this address after what is queued is sent. False if there is none."""
        try:
            self._node.unpeer(self._uri(addr, port), _GOODBYE_SECONDS)
        except Timeout as error:
            log.info("%s", error)
        except PeerError:
            return False
        return True

    def unpeer_nosync(self, addr: str, port: int) -> None:
        """As ``unpeer``, but returns at once."""

        def part() -> None:
            try:
                self.unpeer(addr, port)
            except PubsubError as error:  # the endpoint may have been shut down meanwhile
                log.info("cannot unpeer: %s", error)

        threading.Thread(target=part, name="libpubsub unpeer", daemon=True).start()

    def peers(self) -> list[PeerInfo]:
        """The established peers."""
        return [peer_from_native(peer) for peer in self._node.peers() if peer.state == "peered"]

    def peer_subscriptions(self) -> list[Topic]:
        """The topics that peers want, sorted."""
        return [Topic(name) for name in sorted({name for peer in self._node.peers() for name in peer.topics})]

    def await_peer(self, node: str, timeout: Optional[float] = None) -> bool:
        """Waits until the endpoint with this id is a peer, or can be reached through others.

        What a distant one wants is told a moment after its existence: it counts once it is known to want something,
        or nothing for a quarter of a second. False after ``timeout`` seconds, 10 by default. Raises ``ValueError``
        if it is no id.
        """
        end = time.monotonic() + (timeout or _AWAIT_SECONDS)
        settled = end
        while not self._node.wait_for_peer(node, max(0.0, min(_GLANCE_SECONDS, end - time.monotonic()))):
            distant = self._reached(node)
            now = time.monotonic()
            if distant is not None:
                settled = min(settled, now + _SETTLE_SECONDS)
                if distant.topics or now >= settled:
                    return True
            elif now >= end:
                return False
        return True

    def _reached(self, node: str) -> Optional[NodeInfo]:
        """The node with this id if there is a way to it."""
        return next((each for each in self._node.nodes() if each.id == node and each.next_hop is not None), None)

    # -- publishing -------------------------------------------------------------------------------

    def publish(self, topic: AnyTopic, data: Any) -> None:
        """Publishes to every subscriber in reach but this endpoint's own.

        ``data``: whatever Data takes. Waits while a queue is full. Raises as Data does, InvalidArgument (the
        topic), Closed.
        """
        name = topic_name(topic)
        publish_converted(lambda value: self._node.publish(name, value), data)

    def publish_batch(self, *batch: tuple[AnyTopic, Any]) -> None:
        """Publishes ``(topic, data)`` pairs."""
        for topic, data in batch:
            self.publish(topic, data)

    def make_publisher(self, topic: AnyTopic) -> Publisher:
        """Publishes to one topic; see Publisher."""
        return Publisher(self._node, topic_name(topic))

    def forward(self, topics: AnyTopics) -> None:
        """Announces topics although nobody here subscribes: peers then send them, and this endpoint passes them on.

        Peers of this library need no such help: they learn by themselves who wants what behind whom.
        """
        announced = self._node.make_subscriber(topic_names(topics), capacity=1, policy="drop_oldest")
        self._forwarding.append(announced)  # nobody reads it

    # -- subscribing ------------------------------------------------------------------------------

    def make_subscriber(self, topics: AnyTopics, qsize: int = 20,
                        subscriber_class: Type[AnySubscriber] = Subscriber,  # type: ignore[assignment]
                        ) -> AnySubscriber:
        """Receives every topic that starts with one of ``topics``.

        ``qsize``: messages it may hold; less than QUEUE_MESSAGES counts as that. Raises InvalidArgument, Closed.
        """
        capacity = max(qsize, QUEUE_MESSAGES)
        return subscriber_class(self._node.make_subscriber(topic_names(topics), capacity=capacity,
                                                           capacity_bytes=QUEUE_BYTES))

    def make_safe_subscriber(self, topics: AnyTopics, qsize: int = 20) -> SafeSubscriber:
        """A subscriber that gives immutable, hashable values."""
        return self.make_subscriber(topics, qsize, SafeSubscriber)

    def make_status_subscriber(self, receive_statuses: bool = False) -> StatusSubscriber:
        """Receives the errors of this endpoint's peerings from now on, with ``receive_statuses`` also changes."""
        return StatusSubscriber(self._node.make_status_subscriber(errors_only=not receive_statuses))

    # -- data stores ------------------------------------------------------------------------------

    def attach_master(self, name: str, type: Optional[store.Backend] = None,
                      opts: Mapping[str, Any] = {}) -> NoReturn:
        """Raises ``NotImplementedError``: there are no data stores."""
        store.refuse(name)

    def attach_clone(self, name: str) -> NoReturn:
        """Raises ``NotImplementedError``: there are no data stores."""
        store.refuse(name)

    # -- life cycle -------------------------------------------------------------------------------

    def shutdown(self) -> None:
        """Sends what is queued, says goodbye to peers, in at most 3 seconds, and closes. Idempotent."""
        self._node.close()

    def _leave(self) -> None:
        with contextlib.suppress(ForkError):  # a child may leave the block, too
            self.shutdown()

    def __repr__(self) -> str:
        return self.node_id()


def _retry(seconds: float) -> Optional[float]:
    """The interval as the library takes it: whole seconds, None for a single attempt."""
    return float(int(seconds)) if seconds >= 1 else None
