# Made by bindings/python/generate_stubs; do not edit.
"""
Compiled half of libpubsub.
"""
from __future__ import annotations
import collections.abc
import libpubsub.errors
import libpubsub.times
import libpubsub.values
import libpubsub.versions
import typing
__all__: list[str] = ['BridgeEngine', 'BridgeSink', 'BridgeSource', 'CompletionQueue', 'Condition', 'Endpoint', 'EndpointCounters', 'Event', 'Exchange', 'GatewayInfo', 'LinkCounters', 'Message', 'NetworkEvent', 'NetworkSubscriber', 'NodeInfo', 'PeerInfo', 'Publisher', 'PublisherCounters', 'Readiness', 'RecordReader', 'RecordWriter', 'RecordedMessage', 'Remote', 'RemoteFuture', 'Replica', 'Service', 'Status', 'StatusSubscriber', 'Subscriber', 'SubscriberCounters', 'Task', 'TaskQueue', 'TraceHop', 'VersionedGroup', 'VersionedMessage', 'clickhouse_ddl', 'clickhouse_type', 'decode', 'encode', 'event_reader', 'from_json', 'join_background_work', 'parse_log_values', 'read_access_rules', 'summarize_recording', 'to_json', 'version']
class Event:
    """
    A flag that threads wait for. What `threading.Event` is, but Ctrl-C ends the wait whenever it comes.
    """
    def __init__(self) -> None:
        ...
    def clear(self) -> None:
        """
        Lets them wait again.
        """
    def is_set(self) -> bool:
        ...
    def set(self) -> None:
        """
        Ends all waits.
        """
    def wait(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> bool:
        """
        Waits until it is set, at most `timeout` seconds; returns whether it is.
        """
class Message:
    """
    A received message. ``topic, data = message`` takes it apart; it may be kept as long as needed. Where the value is a string, the message is a read-only buffer of its bytes: ``memoryview(message)`` and ``numpy.frombuffer(message)`` copy nothing.
    """
    __match_args__: typing.ClassVar[tuple[str, str]] = ('topic', 'data')
    def __buffer__(self, flags: int, /) -> memoryview:
        ...
    def __iter__(self) -> typing.Iterator[typing.Any]:
        """
        Implement iter(self).
        """
    def __repr__(self) -> str:
        """
        Return repr(self).
        """
    def to_json(self) -> str:
        """
        Topic and value as a json::v1 data message, as Zeek's WebSocket clients see it.
        """
    def view(self, *path: int) -> memoryview:
        """
        The bytes of a string in the value, read-only and in place: `path` are the indices that lead to it through vectors. The view keeps the message's memory. Raises IndexError, or TypeError where there is no vector or string.
        """
    @property
    def data(self) -> typing.Any:
        """
        The value, decoded on first access. Raises DecodeError where it has no faithful form in Python.
        """
    @property
    def origin(self) -> tuple[str, int, int] | None:
        """
        Who published it, and which of its messages it is: endpoint id, stream, number in the stream. None for messages of this process that were not encoded, and of version-1 peers. Counts from the beginning of the batch it came in.
        """
    @property
    def raw(self) -> bytes:
        """
        The value as encoded bytes (format bin::v1).
        """
    @property
    def topic(self) -> str:
        """
        The topic; bytes that are not UTF-8 are surrogate escapes.
        """
class Condition:
    """
    A condition in its canonical spelling. Use libpubsub.Condition.
    """
    def __init__(self, text: str, unknown: bool, columns: collections.abc.Sequence[tuple[str, str]]) -> None:
        ...
    def judge(self, value: typing.Any, topic: str = '') -> str:
        """
        What a message with this value and this topic answers: yes, no, absent, unknown. Columns are known where they were given.
        """
    @property
    def columns(self) -> list[tuple[str, str]]:
        """
        Names and types as they were given.
        """
    @property
    def text(self) -> str:
        """
        The condition in its canonical spelling.
        """
    @property
    def unknown(self) -> bool:
        """
        Whether messages pass whose answer is unknown.
        """
class PublisherCounters:
    """
    One publisher: every attempt is in published, would_block or refused.
    """
    def __repr__(self) -> str:
        ...
    def as_dict(self) -> dict[str, int]:
        """
        All counters by name.
        """
    @property
    def dropped(self) -> int:
        """
        Of those, messages that at least one full queue did not take without loss.
        """
    @property
    def published(self) -> int:
        """
        Taken, unwanted and dropped ones included.
        """
    @property
    def refused(self) -> int:
        """
        The sum of those not taken.
        """
    @property
    def refused_closed(self) -> int:
        """
        Not taken: the endpoint was closed.
        """
    @property
    def refused_empty(self) -> int:
        """
        Not taken: an empty message.
        """
    @property
    def refused_size(self) -> int:
        """
        Not taken: longer than a frame may be.
        """
    @property
    def refused_topic(self) -> int:
        """
        Not taken: reserved or over-long topic.
        """
    @property
    def unwanted(self) -> int:
        """
        Of those, messages nobody had subscribed to.
        """
    @property
    def would_block(self) -> int:
        """
        Given up: no room in time, and nobody got it.
        """
class SubscriberCounters:
    """
    One subscriber: offered == delivered + dropped + queued.
    """
    def __repr__(self) -> str:
        ...
    def as_dict(self) -> dict[str, int]:
        """
        All counters by name.
        """
    @property
    def conflated(self) -> int:
        """
        Replaced by a newer one, policy conflate.
        """
    @property
    def decode_errors(self) -> int:
        """
        Received bytes that are not a valid value.
        """
    @property
    def delivered(self) -> int:
        """
        Handed to the program.
        """
    @property
    def dropped(self) -> int:
        """
        All of them that were offered and not delivered.
        """
    @property
    def dropped_closed(self) -> int:
        """
        Queued or arriving when it was closed.
        """
    @property
    def dropped_newest(self) -> int:
        """
        Queue full, policy drop_newest.
        """
    @property
    def dropped_oldest(self) -> int:
        """
        Queue full, policy drop_oldest.
        """
    @property
    def dropped_overflow(self) -> int:
        """
        Queue full, policy disconnect; also what came later.
        """
    @property
    def filtered(self) -> int:
        """
        Did not fulfil the condition of the subscriber.
        """
    @property
    def missed(self) -> int:
        """
        Published, but never arrived here, so not among `offered`: numbers missing in streams of one topic.
        """
    @property
    def offered(self) -> int:
        """
        Messages that matched its topics.
        """
    @property
    def queued(self) -> int:
        """
        Waiting now.
        """
    @property
    def restarts(self) -> int:
        """
        Streams that started again from a lower number.
        """
class LinkCounters:
    """
    One link to a peer: offered == sent + dropped + queued.
    """
    def __repr__(self) -> str:
        ...
    def as_dict(self) -> dict[str, int]:
        """
        All counters by name.
        """
    @property
    def bytes_received(self) -> int:
        """
        Bytes.
        """
    @property
    def bytes_sent(self) -> int:
        """
        Bytes.
        """
    @property
    def conflated(self) -> int:
        """
        Replaced by a newer one, policy conflate.
        """
    @property
    def credit_waits(self) -> int:
        """
        Times that messages had to wait because the peer had given no credit for more; 0 in version 1.
        """
    @property
    def dropped(self) -> int:
        """
        All of them that were offered and not sent.
        """
    @property
    def dropped_gone(self) -> int:
        """
        The peer went away before they were written.
        """
    @property
    def dropped_newest(self) -> int:
        """
        Outbox full, policy drop_newest.
        """
    @property
    def dropped_oldest(self) -> int:
        """
        Outbox full, policy drop_oldest.
        """
    @property
    def dropped_overflow(self) -> int:
        """
        Outbox full, policy disconnect; also what came later.
        """
    @property
    def offered(self) -> int:
        """
        Data messages that matched the peer's filter.
        """
    @property
    def queued(self) -> int:
        """
        Waiting now.
        """
    @property
    def received(self) -> int:
        """
        Data messages read from the peer.
        """
    @property
    def sent(self) -> int:
        """
        Data messages written to the socket.
        """
class EndpointCounters:
    """
    One endpoint, all its publishers, links and subscribers, past and present.
    """
    def __repr__(self) -> str:
        ...
    def as_dict(self) -> dict[str, int]:
        """
        All counters by name.
        """
    @property
    def denied(self) -> int:
        """
        What access rules have refused.
        """
    @property
    def dropped(self) -> int:
        """
        Of those, messages that at least one full queue did not take without loss.
        """
    @property
    def duplicates(self) -> int:
        """
        Received again, or behind later ones.
        """
    @property
    def forwarded(self) -> int:
        """
        Passed on between peers, counted per target.
        """
    @property
    def limited(self) -> int:
        """
        What their limits have refused or held back.
        """
    @property
    def links(self) -> LinkCounters:
        """
        The sums over all its links.
        """
    @property
    def malformed_frames(self) -> int:
        """
        Frames from peers that were no valid message.
        """
    @property
    def no_subscriber(self) -> int:
        """
        Received for subscribers here of which there are none.
        """
    @property
    def published(self) -> int:
        """
        Messages taken from publishers of this endpoint.
        """
    @property
    def received(self) -> int:
        """
        Data messages read from peers.
        """
    @property
    def refused(self) -> int:
        """
        The sum of those not taken.
        """
    @property
    def refused_closed(self) -> int:
        """
        Not taken: the endpoint was closed.
        """
    @property
    def refused_empty(self) -> int:
        """
        Not taken: an empty message.
        """
    @property
    def refused_size(self) -> int:
        """
        Not taken: longer than a frame may be.
        """
    @property
    def refused_topic(self) -> int:
        """
        Not taken: reserved or over-long topic.
        """
    @property
    def screened_out(self) -> int:
        """
        Received, and not let pass by rules.
        """
    @property
    def silent_peers(self) -> int:
        """
        Links cut because nothing was heard.
        """
    @property
    def subscribers(self) -> SubscriberCounters:
        """
        The sums over all its subscribers.
        """
    @property
    def ttl_expired(self) -> int:
        """
        Not passed on: hop limit used up.
        """
    @property
    def unreachable(self) -> int:
        """
        Not passed on: no path to a node that a message was for; counted per node.
        """
    @property
    def unwanted(self) -> int:
        """
        Of those, messages nobody had subscribed to.
        """
    @property
    def withheld(self) -> int:
        """
        Not sent to a peer because they fulfil no condition behind it, per peer.
        """
    @property
    def would_block(self) -> int:
        """
        Attempts given up: no room by the deadline.
        """
class PeerInfo:
    """
    One peer of an endpoint.
    """
    def __repr__(self) -> str:
        ...
    @property
    def access(self) -> str | None:
        """
        The name of the access rule that holds for it; None where none does.
        """
    @property
    def client(self) -> bool:
        """
        Whether it passes nothing on, and only its relays know it.
        """
    @property
    def counters(self) -> LinkCounters:
        """
        What went over the link.
        """
    @property
    def held_bytes(self) -> dict[str, int]:
        """
        What is held because of it: topics that it has announced, reports, frames it has not read.
        """
    @property
    def id(self) -> str | None:
        """
        Its endpoint id; None until the first handshake.
        """
    @property
    def name(self) -> str:
        """
        What it calls itself; empty where not known.
        """
    @property
    def network(self) -> tuple[str, int] | None:
        """
        Its host and port; None where not known.
        """
    @property
    def outgoing(self) -> bool:
        """
        Whether this endpoint connects to it (`peer`), and again when it is lost.
        """
    @property
    def state(self) -> str:
        """
        connecting, peered or lost.
        """
    @property
    def topics(self) -> list[str]:
        """
        The topic prefixes it wants.
        """
    @property
    def wire_version(self) -> int:
        """
        Version of the peering protocol; 0 unless peered.
        """
class GatewayInfo:
    """
    What stands for others that speak another protocol, such as a Zeek cluster.
    """
    @property
    def counters(self) -> dict[str, int]:
        """
        How often each has happened, by name.
        """
    @property
    def lost(self) -> int:
        """
        Messages that did not get through.
        """
    @property
    def problem(self) -> str:
        """
        Why the others are not reached, in one sentence; empty where they are.
        """
    @property
    def uri(self) -> str:
        """
        The address that was given to `peer`.
        """
class TraceHop:
    """
    One node that a message on a traced topic comes to.
    """
    def __repr__(self) -> str:
        ...
    @property
    def name(self) -> str:
        """
        What it calls itself; empty: not known.
        """
    @property
    def node(self) -> str:
        """
        Its id.
        """
    @property
    def outcome(self) -> str:
        """
        `reached`; `broker_peer`: it speaks version 1 and cannot be asked; `refused`: it does not tell, or this endpoint may not ask; `out_of_reach`; `no_answer`: not in time.
        """
    @property
    def previous(self) -> str | None:
        """
        Id of the hop before; None where the trace begins.
        """
    @property
    def queued(self) -> int:
        """
        Messages that wait, at the hop before, to be written to this one.
        """
    @property
    def remarks(self) -> list[str]:
        """
        Why messages, or some of them, go no further; a list of sentences.
        """
    @property
    def round_trip(self) -> float:
        """
        Seconds from the hop before to this one and back, without what lies behind it.
        """
    @property
    def subscribers(self) -> int:
        """
        How many subscribers of the node itself want the topic.
        """
    @property
    def waiting(self) -> int:
        """
        Messages in the fullest of their queues.
        """
class NodeInfo:
    """
    One node of the network, at any distance.
    """
    def __repr__(self) -> str:
        ...
    @property
    def id(self) -> str:
        """
        Its endpoint id.
        """
    @property
    def name(self) -> str:
        """
        What it calls itself; empty where not known.
        """
    @property
    def neighbours(self) -> list[str]:
        """
        Ids of its peers, as it reports them.
        """
    @property
    def next_hop(self) -> str | None:
        """
        Id of the peer that messages for it go to; None if it is out of reach.
        """
    @property
    def relays(self) -> bool:
        """
        Whether it passes messages on.
        """
    @property
    def topics(self) -> list[str]:
        """
        The topic prefixes it wants.
        """
class Endpoint:
    """
    A node of the publish/subscribe network.
    """
    def __init__(self, id: str | None, forwarding: bool | None, own_messages: bool, io_threads: typing.SupportsInt | typing.SupportsIndex, link_capacity: typing.SupportsInt | typing.SupportsIndex, link_capacity_bytes: typing.SupportsInt | typing.SupportsIndex, link_policy: str, forward_topics: collections.abc.Sequence[str], connect_timeout: typing.SupportsFloat | typing.SupportsIndex, handshake_timeout: typing.SupportsFloat | typing.SupportsIndex, close_timeout: typing.SupportsFloat | typing.SupportsIndex, liveness_timeout: typing.SupportsFloat | typing.SupportsIndex, serve_status: bool, certificate: str, key: str, passphrase: str, ca_file: str, ca_path: str, name: str, broker_transit: bool, shared_memory: bool, memory_ring: typing.SupportsInt | typing.SupportsIndex, huge_pages: bool, numa_node: typing.SupportsInt | typing.SupportsIndex | None) -> None:
        ...
    def close(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = 3.0) -> None:
        """
        Sends what is queued, says goodbye to all peers, waits at most `timeout` seconds, and closes everything: subscribers drain and end. Idempotent.
        """
    def counters(self) -> EndpointCounters:
        """
        What it published and passed on.
        """
    def drain(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> int:
        """
        Waits until everything published or received before the call has been taken out of the queues of local subscribers, and every peer has confirmed that it has read all that was sent to it; at most `timeout` seconds. Returns the number of messages left: 0 on success; a peer that has not confirmed counts at least 1.
        """
    def flush(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> int:
        """
        Waits until everything published so far has been written to the peers' sockets, at most `timeout` seconds. Returns the number of messages still waiting: 0 on success.
        """
    def gateways(self) -> list[GatewayInfo]:
        """
        What stands for others that have an address of another protocol, one for each that was given to `peer`.
        """
    def listen(self, uri: str) -> int:
        """
        Accepts peers at `tcp://host:port`, encrypted at `tls://host:port`, or at `unix:///path` within the host, and returns the port; port 0 picks one, an empty host or `*` means every address. Raises InvalidArgument, ListenError, FileError (certificates), Closed.
        """
    def metrics_text(self) -> str:
        """
        How it is, in the text format of Prometheus (`text/plain; version=0.0.4`), and what the process uses.
        """
    def network_text(self, max_bytes: typing.SupportsInt | typing.SupportsIndex = 256000) -> str:
        """
        As `network`, as JSON.
        """
    def network_text_of(self, node: str, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None, max_bytes: typing.SupportsInt | typing.SupportsIndex = 256000) -> str:
        """
        As `network_of`, as JSON.
        """
    def nodes(self) -> list[NodeInfo]:
        """
        Every other node it knows of, those out of reach included.
        """
    def peer(self, uri: str, retry: typing.SupportsFloat | typing.SupportsIndex | None = 1.0, timeout: typing.SupportsFloat | typing.SupportsIndex | None = 10.0, max_retry: typing.SupportsFloat | typing.SupportsIndex = 30.0) -> None:
        """
        Connects to a peer at `tcp://host:port`, `tls://host:port` or `unix:///path`, or to a Zeek cluster at `zeek+zmq://host` (docs/zeek.md), and waits until the peering is established, at most `timeout` seconds. `retry` is the time in seconds before the second attempt; it doubles with each further one, up to `max_retry`, give or take a quarter. Attempts go on after the time-out and after a loss; None means a single attempt. Raises InvalidArgument, PeerUnavailable, TlsFailed, PeerIncompatible, FileError (certificates), Closed.
        """
    def peer_async(self, uri: str, retry: typing.SupportsFloat | typing.SupportsIndex | None = 1.0, max_retry: typing.SupportsFloat | typing.SupportsIndex = 30.0) -> None:
        """
        As `peer`, but returns at once; success and failures appear as status events.
        """
    def peers(self) -> list[PeerInfo]:
        """
        All peers, also those not reached yet.
        """
    def publish(self, topic: str, value: typing.Any, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> libpubsub.values.PublishResult:
        """
        Publishes to every subscriber here and at any number of hops. Waits while a queue with policy `block` is full, at most `timeout` seconds: then the result is WOULD_BLOCK, and nobody got the message. Raises InvalidArgument (topic), EncodeError, LimitExceeded, Closed.
        """
    def publish_batch(self, topic: str, values: collections.abc.Iterable[typing.Any]) -> int:
        """
        Publishes every value of an iterable, one message each, and returns their number.
        """
    def retire(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> bool:
        """
        For a relay that is to be closed while others go on: lets them choose routes that do not lead over it, passes on what is on its way, and parts from its clients; at most `timeout` seconds. Returns whether all that was done in time.
        """
    def set_access_rules(self, rules: collections.abc.Sequence[tuple[str, collections.abc.Sequence[str], collections.abc.Sequence[str], collections.abc.Sequence[str], bool, bool, collections.abc.Sequence[str] | None, collections.abc.Sequence[str] | None, typing.Annotated[collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], "FixedSize(6)"]]] | None) -> None:
        ...
    def set_tls_files(self, certificate: str, key: str, passphrase: str, ca_file: str, ca_path: str) -> None:
        ...
    def status_text(self) -> str:
        """
        How it is, as JSON; see `status`.
        """
    def status_text_of(self, node: str, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None, max_bytes: typing.SupportsInt | typing.SupportsIndex = 64000) -> str:
        """
        As `status_of`, as JSON.
        """
    def subscribers(self, topic: str) -> int:
        """
        Number of local subscribers plus number of peers that want `topic`.
        """
    def trace(self, topic: str, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> list[TraceHop]:
        """
        Where a message on this topic would go now, were it published here: every node that it comes to, each behind the one it comes from, this endpoint first. A node asks 64 of its peers at most. No message is published.
        
        Raises InvalidArgument (no topic), PeerUnavailable, Timeout, Closed.
        """
    def try_publish(self, topic: str, value: typing.Any) -> libpubsub.values.PublishResult:
        """
        As `publish`, but never waits: WOULD_BLOCK says that nobody got it.
        """
    def unpeer(self, peer: str, timeout: typing.SupportsFloat | typing.SupportsIndex | None = 3.0) -> None:
        """
        Ends a peering, given by URI or endpoint id, after what is queued for it has been sent; waits at most `timeout` seconds for the goodbye. Raises NotAPeer, Timeout (the link was cut), Closed.
        """
    def wait_for_peer(self, id: str, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> bool:
        """
        Waits until the peer with this endpoint id is peered. Returns False on time-out.
        """
    def wait_for_peers(self, n: typing.SupportsInt | typing.SupportsIndex = 1, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> bool:
        """
        Waits until at least `n` peers are peered, at most `timeout` seconds. Returns False on time-out.
        """
    def wait_for_subscribers(self, topic: str, n: typing.SupportsInt | typing.SupportsIndex = 1, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> bool:
        """
        Waits until at least `n` subscribers or peers want `topic`; a peer that relays counts once. Returns False on time-out.
        """
    @property
    def closed(self) -> bool:
        """
        Whether `close` was called.
        """
    @property
    def forked(self) -> bool:
        """
        Whether it belongs to a parent process.
        """
    @property
    def id(self) -> str:
        """
        Its name in the network, a UUID.
        """
    @property
    def name(self) -> str:
        """
        What people call it.
        """
    @property
    def topics(self) -> list[str]:
        """
        What it announces: the topics of its subscribers, of its peers, and `forward_topics`.
        """
class Status:
    """
    One event about a peer: a change of status, or an error.
    """
    def __repr__(self) -> str:
        ...
    def __str__(self) -> str:
        ...
    @property
    def code(self) -> str:
        """
        What happened, in Broker's words: peer_added, peer_removed, peer_lost, endpoint_discovered, endpoint_unreachable, or for an error its name, such as peer_unavailable.
        """
    @property
    def in_good_order(self) -> bool:
        """
        Whether a peer that is lost has said goodbye before.
        """
    @property
    def is_error(self) -> bool:
        """
        Whether this is an error.
        """
    @property
    def message(self) -> str:
        """
        A sentence for people.
        """
    @property
    def name(self) -> str:
        """
        What the peer calls itself; empty where not known.
        """
    @property
    def network(self) -> tuple[str, int] | None:
        """
        Host and port of the peer; None where not known.
        """
    @property
    def peer(self) -> str | None:
        """
        Id of the peer concerned; None where it is not known (yet).
        """
class StatusSubscriber:
    """
    Receives status and error events of an endpoint's peerings, or the errors only, in order, from its creation on; keeps the latest 65,536.
    """
    def __init__(self, endpoint: Endpoint, errors_only: bool = False) -> None:
        ...
    def __next__(self) -> Status:
        ...
    def available(self) -> int:
        """
        Number of events that can be read without waiting.
        """
    def fileno(self) -> int:
        """
        A descriptor that is readable while an event is available or the endpoint is closed.
        """
    def get(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> Status | None:
        """
        Waits for the next event, at most `timeout` seconds, for ever by default. Returns None on time-out. Raises Closed once the endpoint is closed and all events are read.
        """
    def next_nowait(self) -> Status | None:
        """
        The next event, or None where there is none yet. Raises StopIteration at the end.
        """
    def poll(self) -> list[Status]:
        """
        All events there are, at once; possibly none.
        """
    @property
    def closed(self) -> bool:
        """
        Whether no event can come any more.
        """
    @property
    def dropped(self) -> int:
        """
        Events discarded because too many were unread.
        """
class NetworkEvent:
    """
    A node has come or gone, or what it has subscribed to has changed.
    """
    def __repr__(self) -> str:
        ...
    def __str__(self) -> str:
        ...
    @property
    def change(self) -> str:
        """
        What has happened: node_added (messages can reach the node), node_lost (they cannot any more, and its topics are gone), topic_added (what is published here on such topics from now on reaches it), topic_removed.
        """
    @property
    def client(self) -> bool:
        """
        Whether it is a client of this endpoint: no other nodes know of it.
        """
    @property
    def name(self) -> str:
        """
        What the node calls itself; empty where not known.
        """
    @property
    def node(self) -> str:
        """
        Its endpoint id.
        """
    @property
    def relays(self) -> bool:
        """
        Whether it passes messages on, as it has said when it was added.
        """
    @property
    def topic(self) -> str:
        """
        Of topic_added and topic_removed: the prefix, perhaps empty.
        """
class NetworkSubscriber:
    """
    Tells which nodes of the network there are, at any distance, and which topics they want: those that are known now, then what changes.
    """
    def __init__(self, endpoint: Endpoint) -> None:
        ...
    def __next__(self) -> NetworkEvent:
        ...
    def close(self) -> None:
        """
        Ends it; what has not been read is forgotten. Idempotent.
        """
    def fileno(self) -> int:
        """
        A descriptor that is readable while an event may be there or this is closed.
        """
    def get(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> NetworkEvent | None:
        """
        Waits for the next event, at most `timeout` seconds, for ever by default. Returns None on time-out. Raises Closed once this or the endpoint is closed and all events are read.
        """
    def next_nowait(self) -> NetworkEvent | None:
        """
        The next event, or None where there is none yet. Raises StopIteration at the end.
        """
    def poll(self) -> list[NetworkEvent]:
        """
        All events there are, at once; possibly none.
        """
    @property
    def closed(self) -> bool:
        """
        Whether no event can come any more.
        """
class Publisher:
    """
    Publishes to one topic; faster than ``Endpoint.publish``. Several threads may use one. Every subscriber sees the messages of one publisher in the order of publishing.
    """
    def __init__(self, endpoint: Endpoint, topic: str) -> None:
        """
        Raises InvalidArgument for a topic that cannot be used, Closed.
        """
    def __repr__(self) -> str:
        ...
    def counters(self) -> PublisherCounters:
        """
        What became of everything handed to it.
        """
    def publish(self, value: typing.Any, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> libpubsub.values.PublishResult:
        """
        Publishes `value`. Waits while a queue with policy `block` is full, at most `timeout` seconds: then the result is WOULD_BLOCK, and nobody got the message. Raises EncodeError, LimitExceeded for a value longer than a frame may be, Closed.
        """
    def publish_batch(self, values: collections.abc.Iterable[typing.Any]) -> int:
        """
        Publishes every value of an iterable, one message each, and returns their number. Each is on its way before the next is taken. Raises as `publish` does; what came before has then been published.
        """
    def subscribers(self) -> int:
        """
        Number of local subscribers plus number of peers that want this topic.
        """
    def try_publish(self, value: typing.Any) -> libpubsub.values.PublishResult:
        """
        As `publish`, but never waits: WOULD_BLOCK says that nobody got the message.
        """
    def wait_for_subscribers(self, n: typing.SupportsInt | typing.SupportsIndex = 1, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> bool:
        """
        Waits until at least `n` subscribers or peers want this topic, at most `timeout` seconds. Returns False on time-out.
        """
    @property
    def topic(self) -> str:
        ...
class Readiness:
    """
    Whether a subscription is known everywhere.
    """
    def fileno(self) -> int:
        """
        A descriptor that is readable once this is ready, or never will be.
        """
    @property
    def ready(self) -> bool:
        """
        Whether every node within reach knows the subscription.
        """
class Subscriber:
    """
    Receives the messages of some topics through a bounded queue. Threads may share one: they take turns.
    """
    def __init__(self, endpoint: Endpoint, topics: collections.abc.Sequence[str], capacity: typing.SupportsInt | typing.SupportsIndex, capacity_bytes: typing.SupportsInt | typing.SupportsIndex, policy: str, where: Condition | None) -> None:
        ...
    def __iter__(self) -> Subscriber:
        """
        Implement iter(self).
        """
    def __next__(self) -> Message:
        """
        Implement next(self).
        """
    def _begin_ready(self) -> Readiness:
        """
        Begins to find out the same.
        """
    def add_topic(self, prefix: str) -> None:
        """
        Also receive topics that start with `prefix`. Effective here when the call returns; peers follow.
        """
    def available(self) -> int:
        """
        Number of messages that can be taken without waiting.
        """
    def close(self) -> None:
        """
        Ends the subscription; what is queued is discarded and counted. Idempotent.
        """
    def counters(self) -> SubscriberCounters:
        """
        What came and what became of it.
        """
    def fileno(self) -> int:
        """
        A descriptor that is readable while a message is available or the subscriber is closed (level-triggered), for select, poll and event loops; do not read from it. An iteration that was broken off may leave messages that it does not show: call `poll` before waiting on it.
        """
    def get(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> Message | None:
        """
        Waits for the next message, at most `timeout` seconds, for ever by default. Returns None on time-out. Raises Closed once the subscriber or its endpoint is closed and nothing is left.
        """
    def get_batch(self, max: typing.SupportsInt | typing.SupportsIndex = 1024, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> list[Message]:
        """
        Waits for at least one message, then takes what is there, at most `max`. Returns an empty list on time-out. Raises Closed as `get` does.
        """
    def next_nowait(self) -> Message | None:
        """
        The next message, or None where there is none yet. Raises StopIteration at the end.
        """
    def poll(self) -> list[Message]:
        """
        Everything that is there, at once; possibly nothing. Never raises Closed.
        """
    def remove_topic(self, prefix: str) -> None:
        """
        Removes exactly this prefix; others that also match keep matching.
        """
    def wait_ready(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> bool:
        """
        Waits until every node within reach knows this subscription, at most `timeout` seconds: what they publish from then on arrives. Returns whether they do.
        """
    @property
    def closed(self) -> bool:
        """
        Whether the subscription has ended.
        """
    @property
    def topics(self) -> list[str]:
        """
        The prefixes subscribed to, sorted, without those that another one covers.
        """
class Task:
    """
    One piece of work that a queue has given out. Call `done`, or send its result with `Exchange.send_result`; what is neither goes to another queue when it is garbage.
    """
    def done(self) -> None:
        """
        It is done: acknowledges it, at once or together with others.
        """
    def reject(self) -> None:
        """
        It cannot be done here: another queue gets it, or the dead letters if that happens too often.
        """
    @property
    def number(self) -> int:
        """
        The number it got there: 0, 1, 2 ...
        """
    @property
    def redelivered(self) -> bool:
        """
        Whether another queue has had it, and may have done it.
        """
    @property
    def source(self) -> str:
        """
        Id of the exchange that it entered the pipeline by.
        """
    @property
    def value(self) -> typing.Any:
        """
        What is to be done.
        """
class Exchange:
    """
    A named output: what is sent goes to the queues bound to it, wherever they are. Threads may share one.
    """
    def __init__(self, endpoint: Endpoint, name: str = '', *, window: typing.SupportsInt | typing.SupportsIndex = 20000, style: str = 'load_balancing', balancing: str = 'least_outstanding', on_worker_loss: str = 'redeliver', max_losses: typing.SupportsInt | typing.SupportsIndex = 3, dead_letters: str = '', scope: str = 'global', liveness_timeout: typing.SupportsFloat | typing.SupportsIndex = 3.0) -> None:
        """
        `window` is the number of tasks in flight, unacknowledged, at most. `style` is load_balancing (one queue gets a task) or data_distribution (all do), `balancing` least_outstanding or round_robin, `on_worker_loss` redeliver or drop. A task that was lost with `max_losses` workers goes to the queue `dead_letters`, if that is named. `scope` is global or local: names mean something in this endpoint only. A queue that is silent for `liveness_timeout` seconds is lost. Raises InvalidArgument, Closed.
        """
    def bind(self, queue: str) -> None:
        """
        Gives tasks to all queues of this name, now and in future.
        """
    def close(self) -> None:
        """
        Ends all waits. Tasks in flight are abandoned: call `drain` before. Idempotent.
        """
    def counters(self) -> dict[str, int]:
        """
        What became of tasks, by name: sent, done, redelivered, dropped, dead; and batches, the messages they travelled in.
        """
    def drain(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> int:
        """
        Waits until all tasks are acknowledged, at most `timeout` seconds; returns how many are not.
        """
    def send(self, value: typing.Any, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> bool:
        """
        Sends a task. Waits while the window is full, at most `timeout` seconds; False then: it is not sent. Raises EncodeError, Closed.
        """
    def send_pending(self) -> None:
        """
        Sends what is held back until a batch is full. Never blocks.
        """
    def send_result(self, value: typing.Any, task: Task) -> None:
        """
        Sends the result of a task, under its number. The task is acknowledged when the result is. Raises EncodeError, Closed, InvalidArgument if it was sent before.
        """
    def wait_for_queues(self, n: typing.SupportsInt | typing.SupportsIndex = 1, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> bool:
        """
        Waits until `n` queues are bound, at most `timeout` seconds; returns whether they are.
        """
    @property
    def closed(self) -> bool:
        ...
    @property
    def id(self) -> str:
        """
        Tasks that begin here have it as source.
        """
    @property
    def in_flight(self) -> int:
        """
        Tasks sent and not acknowledged.
        """
    @property
    def queues(self) -> int:
        """
        Number of queues bound.
        """
class TaskQueue:
    """
    A named input, or one without a name that is bound to exchanges. Threads may share one.
    """
    def __init__(self, endpoint: Endpoint, name: str = '', *, credit: typing.SupportsInt | typing.SupportsIndex = 10000, batch: typing.SupportsInt | typing.SupportsIndex = 10, concurrency: typing.SupportsInt | typing.SupportsIndex = 1, ordered: bool = False, scope: str = 'global') -> None:
        """
        `credit` is the number of tasks that may be here unacknowledged, `batch` how many one acknowledgement covers, `concurrency` how many are worked on at a time. An `ordered` queue gives out tasks by their numbers. Raises InvalidArgument, Closed.
        """
    def available(self) -> int:
        """
        Tasks that can be taken without waiting.
        """
    def bind(self, exchange: str) -> None:
        """
        Takes part in the tasks of all exchanges of this name, now and in future.
        """
    def close(self) -> None:
        """
        Ends all waits. What is here and not done goes to other queues. Idempotent.
        """
    def get(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> Task:
        """
        The next task; None after `timeout` seconds without one. Raises Closed once closed.
        """
    def wait_for_exchanges(self, n: typing.SupportsInt | typing.SupportsIndex = 1, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> bool:
        """
        Waits until `n` exchanges that it is bound to are known here, at most `timeout` seconds; returns whether they are: else a name may be wrong, or a link missing. Raises Closed.
        """
    @property
    def closed(self) -> bool:
        ...
    @property
    def exchanges(self) -> int:
        """
        How many exchanges that it is bound to are known here.
        """
class VersionedMessage:
    """
    A message as a replica hands it out.
    """
    def __repr__(self) -> str:
        ...
    @property
    def client(self) -> str | None:
        """
        Id of the VersionedGroup that has sent it; None where the number is void.
        """
    @property
    def client_number(self) -> int:
        """
        Which of the client's messages it is: 1, 2, 3 ...
        """
    @property
    def is_void(self) -> bool:
        """
        The client was lost between getting this version and sending its message: all replicas agree that there is none.
        """
    @property
    def value(self) -> typing.Any:
        """
        What was sent; None where the number is void.
        """
    @property
    def version(self) -> libpubsub.versions.MessageVersion | None:
        """
        Its MessageVersion; None where the client uses scheme none.
        """
class Replica:
    """
    One of the servers of a group: hands out the same messages under the same versions as the others. Threads may share one.
    """
    def __init__(self, endpoint: Endpoint, name: str, *, id: str = '', group_size: typing.SupportsInt | typing.SupportsIndex = 3, history: typing.SupportsInt | typing.SupportsIndex = 1000000, history_bytes: typing.SupportsInt | typing.SupportsIndex = 268435456, liveness_timeout: typing.SupportsFloat | typing.SupportsIndex = 2.0, snapshot: typing.Any = None, restore: typing.Any = None) -> None:
        """
        `id` is its name in the group, which no other replica has (random if empty); `group_size` the number of servers the group was planned with. `history` messages, and `history_bytes`, are kept for replicas that come late. A replica that is silent for `liveness_timeout` seconds is lost. `snapshot()` returns the state after all that was handed out, `restore(state, version)` takes one over; both are called by the thread that is in `get`. Raises InvalidArgument, Closed.
        """
    def __iter__(self) -> Replica:
        ...
    def __next__(self) -> VersionedMessage:
        ...
    def close(self) -> None:
        """
        Leaves the group at once, as if the process had ended. Ends all waits. Idempotent.
        """
    def counters(self) -> dict[str, int]:
        """
        By name: handed_out, messages, and of those voids; numbered, messages that got their version here; elections, epochs in which this replica became the sequencer; fetched, messages that the sequencer has sent again; refused, messages of others that were malformed or of a past epoch.
        """
    def get(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> VersionedMessage | None:
        """
        The next message; None after `timeout` seconds without one. Raises Closed once closed; where it had to leave its group InvalidArgument (another replica has its id, or others have another group_size), NotSupported (what it has missed is in no history any more), PeerError (another group of this name has begun).
        """
    def get_batch(self, max: typing.SupportsInt | typing.SupportsIndex, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> list[VersionedMessage]:
        """
        The next messages, those that are here, at most `max`; an empty list after `timeout` seconds without one. Raises as `get`.
        """
    def wait_ready(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> bool:
        """
        Waits until this replica is a member, at most `timeout` seconds; returns whether it is. Raises as `get`.
        """
    @property
    def applied(self) -> libpubsub.versions.MessageVersion | None:
        """
        MessageVersion of the last message that was handed out, or restored; None before.
        """
    @property
    def closed(self) -> bool:
        ...
    @property
    def forked(self) -> bool:
        """
        Whether it belongs to a parent process.
        """
    @property
    def held(self) -> libpubsub.versions.MessageVersion | None:
        """
        MessageVersion of the last message that is here without gap, whether other replicas hold it or not; None before.
        """
    @property
    def id(self) -> str:
        """
        Its name in the group.
        """
    @property
    def is_sequencer(self) -> bool:
        """
        Whether this replica gives messages their versions now.
        """
    @property
    def replicas(self) -> int:
        """
        Members that are alive, as far as this replica knows.
        """
    @property
    def state(self) -> str:
        """
        joining, catching_up, member or closed.
        """
class VersionedGroup:
    """
    A client of a group of replicas: each of its messages is handed out by all of them, once. Threads may share one.
    """
    def __init__(self, endpoint: Endpoint, name: str, scheme: str = 'one_hop_ack_client', *, replicas: typing.SupportsInt | typing.SupportsIndex = 1, window: typing.SupportsInt | typing.SupportsIndex = 1000, window_bytes: typing.SupportsInt | typing.SupportsIndex = 67108864, timeout: typing.SupportsFloat | typing.SupportsIndex = 10.0, reports: str = 'failures') -> None:
        """
        `scheme` is none, version_request, message_returns_version, one_hop, one_hop_ack_client or tagged. `replicas` is how many members the group must have before anything is sent; `window` messages, and `window_bytes`, are in flight at most. A message that is not acknowledged after `timeout` seconds is given up. `reports` says which messages that are posted `take_completions` reports: none, failures or all. Raises InvalidArgument, Closed.
        """
    def close(self) -> None:
        """
        Ends all waits. Messages in flight are abandoned: call `drain` before. Idempotent.
        """
    def counters(self) -> dict[str, int]:
        """
        What became of messages, by name: sent, acknowledged, failed; and batches, the messages on the wire that carried them, and of those resent.
        """
    def drain(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> int:
        """
        Waits until all messages are acknowledged or given up, at most `timeout` seconds; returns how many are not.
        """
    def post(self, value: typing.Any) -> int:
        """
        Sends a message and returns its number, 1, 2, 3 ..., as soon as there is room in the window. Raises EncodeError, LimitExceeded, Closed: then it is not sent.
        """
    def send(self, value: typing.Any) -> libpubsub.versions.MessageVersion | None:
        """
        Sends a message and waits until all members hold it; returns its MessageVersion, None with scheme none. Raises EncodeError, LimitExceeded (it is too long), PeerUnavailable (it was not sent), Timeout (it may have been taken), Closed.
        """
    def send_pending(self) -> None:
        """
        Messages that were posted go now, even where their batch is not full. Does not wait.
        """
    def take_completions(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = 0.0) -> list[libpubsub.versions.Completion]:
        """
        What has become of messages that were posted, in no order, as far as `reports` asks for it; waits for the first completion at most `timeout` seconds. If they are not taken, the oldest are dropped beyond a million.
        """
    def wait_for_replicas(self, n: typing.SupportsInt | typing.SupportsIndex = 1, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> bool:
        """
        Waits until the group has `n` members that are alive, at most `timeout` seconds; returns whether it has.
        """
    @property
    def closed(self) -> bool:
        ...
    @property
    def forked(self) -> bool:
        """
        Whether it belongs to a parent process.
        """
    @property
    def id(self) -> str:
        """
        By which replicas know this client.
        """
    @property
    def in_flight(self) -> int:
        """
        Messages sent and not acknowledged.
        """
    @property
    def replicas(self) -> int:
        """
        Members that are alive, as far as is known here.
        """
class Service:
    """
    An instance of a service: named operations that clients anywhere within reach can call. Threads may share one.
    """
    def __init__(self, endpoint: Endpoint, name: str, *, workers: typing.SupportsInt | typing.SupportsIndex = 1, queue: typing.SupportsInt | typing.SupportsIndex = 100000, max_result_bytes: typing.SupportsInt | typing.SupportsIndex = 33554432, failed: typing.Any) -> None:
        """
        `workers` threads call functions; `queue` operations wait here, in round numbers, before clients are held back. A result is at most `max_result_bytes` long. `failed(operation, exception)` returns the text of the caller's error, `type: text`. Raises InvalidArgument, Closed.
        """
    def add_function(self, operation: str, function: typing.Any, idempotent: bool = False) -> None:
        """
        Before `start`. `function(argument)` returns the result. What is `idempotent` is done by another instance where this one is lost with it. Raises InvalidArgument.
        """
    def close(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = 3.0) -> bool:
        """
        Takes no more: what has not begun is done by other instances. Waits at most `timeout` seconds for functions that run; returns whether they have ended. Idempotent. Raises InvalidArgument in such a function.
        """
    def counters(self) -> dict[str, int]:
        """
        By name: requests, messages that carried operations; operations, those that are done, and of those failed; cancelled before they began; refused, messages.
        """
    def start(self) -> None:
        """
        Takes calls from now on. Raises Closed.
        """
    @property
    def clients(self) -> int:
        """
        Clients that are known here and within reach.
        """
    @property
    def closed(self) -> bool:
        ...
    @property
    def forked(self) -> bool:
        """
        Whether it belongs to a parent process.
        """
class RemoteFuture:
    """
    A result that is on its way. Always completes, at the timeout of the call at the latest. Wait with `result`, or `await` it. Threads may share one.
    """
    def __await__(self) -> collections.abc.Generator[typing.Any, None, typing.Any]:
        ...
    def __repr__(self) -> str:
        ...
    def cancel(self) -> bool:
        """
        Completes it with Cancelled; it is not done if it has not begun. False if it was complete before.
        """
    def cancelled(self) -> bool:
        ...
    def done(self) -> bool:
        """
        Whether it is complete. Never waits.
        """
    def exception(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> libpubsub.errors.PubsubError | None:
        """
        What `result` would raise about the call; None if it is well. Raises Timeout if it is not complete after `timeout` seconds.
        """
    def result(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> typing.Any:
        """
        The result. Waits at most `timeout` seconds, then raises Timeout; the call goes on. Raises what became of the call: OperationFailed, Cancelled, NoSuchOperation, NoSuchService, ServiceLost, Timeout (of the call), LimitExceeded, Closed; or the error that a function in C++ has returned.
        """
class CompletionQueue:
    """
    Tells which futures are complete.
    """
    def __init__(self) -> None:
        ...
    def add(self, future: RemoteFuture, key: typing.SupportsInt | typing.SupportsIndex) -> None:
        """
        `take` returns `key` once `future` is complete.
        """
    def fileno(self) -> int:
        """
        A descriptor, readable while there are keys.
        """
    def take(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> list[int]:
        """
        Keys of futures that are complete, each once; waits for the first at most `timeout` seconds.
        """
class Remote:
    """
    A client of a service, of all its instances. Threads may share one.
    """
    def __init__(self, endpoint: Endpoint, service: str, mode: str = 'auto', *, timeout: typing.SupportsFloat | typing.SupportsIndex = 30.0, parallel: typing.SupportsInt | typing.SupportsIndex = 32, window: typing.SupportsInt | typing.SupportsIndex = 1000, bulk_size: typing.SupportsInt | typing.SupportsIndex = 100, max_request_bytes: typing.SupportsInt | typing.SupportsIndex = 8388608, max_unfinished: typing.SupportsInt | typing.SupportsIndex = 100000, max_losses: typing.SupportsInt | typing.SupportsIndex = 3, liveness_timeout: typing.SupportsFloat | typing.SupportsIndex = 10.0, more: collections.abc.Sequence[Endpoint] = ()) -> None:
        """
        `timeout` is that of calls that have none of their own, in seconds. `parallel` requests at a time in mode async; `window` operations sent and not answered in modes pipeline and hybrid; `bulk_size` operations in a request of mode hybrid. `submit` waits while `max_unfinished` are not finished. An idempotent operation may be lost with `max_losses` instances; one from which nothing comes for `liveness_timeout` seconds is lost. In mode async calls go by the endpoints `more`, too, in mode auto those with long results. Raises InvalidArgument, Closed.
        """
    def bulk(self, operation: str, arguments: collections.abc.Iterable[typing.Any], *, return_exceptions: bool = False) -> list[typing.Any]:
        """
        As `map`, but in one request to each instance, whatever the mode.
        """
    def call(self, operation: str, argument: typing.Any = None, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> typing.Any:
        """
        Calls an operation and waits for its result, at most `timeout` seconds. Raises as `RemoteFuture.result`, and EncodeError.
        """
    def close(self) -> None:
        """
        Ends all waits: what is unfinished raises Closed. Idempotent.
        """
    def conditions_now(self) -> tuple[float, float, float, float]:
        ...
    def counters(self) -> dict[str, int]:
        """
        What became of calls, by name: submitted, done, failed; and requests, messages that carried them; repeated, given to another instance; refused, messages of others.
        """
    def drain(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> int:
        """
        Waits until nothing is unfinished, at most `timeout` seconds; returns how much is.
        """
    def map(self, operation: str, arguments: collections.abc.Iterable[typing.Any], *, return_exceptions: bool = False) -> list[typing.Any]:
        """
        Calls an operation once for each argument and waits for all; results in the order of the arguments. Of those that fail the first is raised, and what has not begun is cancelled; with `return_exceptions` exceptions are among the results. Raises EncodeError: then nothing is called.
        """
    def plan_now(self) -> tuple[str, int, int]:
        ...
    def send_pending(self) -> None:
        """
        Sends what was submitted as soon as the mode allows, without waiting for more calls that could go in the same request. Never waits.
        """
    def submit(self, operation: str, argument: typing.Any = None, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> RemoteFuture:
        """
        Calls an operation and returns at once, unless there is no room (`max_unfinished`); from now on it may take `timeout` seconds. Raises EncodeError.
        """
    def submit_all(self, operation: str, arguments: collections.abc.Iterable[typing.Any], *, bulk: bool = False) -> list[RemoteFuture]:
        """
        Calls an operation once for each argument and returns their futures; with `bulk` in one request to each instance. Raises EncodeError: then nothing is called.
        """
    def wait_for_instances(self, n: typing.SupportsInt | typing.SupportsIndex = 1, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> bool:
        """
        Waits until `n` instances are known and within reach, at most `timeout` seconds; returns whether they are. Raises Closed.
        """
    @property
    def closed(self) -> bool:
        ...
    @property
    def forked(self) -> bool:
        """
        Whether it belongs to a parent process.
        """
    @property
    def instances(self) -> int:
        """
        Instances of the service that are known and within reach.
        """
    @property
    def unfinished(self) -> int:
        """
        Calls that are not complete.
        """
class RecordedMessage:
    """
    A message of a recording.
    """
    def __repr__(self) -> str:
        ...
    @property
    def data(self) -> typing.Any:
        """
        The value, decoded on first access. Raises DecodeError, or NotSupported for an encoding that is not this library's.
        """
    @property
    def encoding(self) -> str:
        ...
    @property
    def log_time(self) -> libpubsub.times.Timestamp:
        """
        When it was recorded.
        """
    @property
    def origin(self) -> tuple[str, int, int] | None:
        """
        Who published it: endpoint id, stream, number in the stream; None where the recorder did not know.
        """
    @property
    def publish_time(self) -> libpubsub.times.Timestamp:
        """
        The network time of a Zeek event that has one, otherwise `log_time`.
        """
    @property
    def raw(self) -> bytes:
        """
        The payload as it was recorded: with `encoding` x-pubsub-bin-v1 the value as encoded bytes.
        """
    @property
    def sequence(self) -> int:
        """
        The number in the file: that of the origin, or one that the recorder has given.
        """
    @property
    def topic(self) -> str:
        """
        The topic; bytes that are not UTF-8 are surrogate escapes.
        """
class RecordReader:
    def __init__(self, path: str, topics: collections.abc.Sequence[str], start: typing.Any | None, end: typing.Any | None) -> None:
        ...
    def close(self) -> None:
        """
        Reads no more.
        """
    def read(self) -> RecordedMessage | None:
        """
        The next message; None at the end. Raises DecodeError, NotSupported, LimitExceeded or FileError, which name the place in the file; the next call goes on behind it.
        """
    @property
    def damage(self) -> str:
        """
        Once the end is reached: where the file breaks off, or why it has no index; empty if it is whole.
        """
    @property
    def indexed(self) -> bool:
        """
        True if the file has an index that is right.
        """
    @property
    def path(self) -> str:
        ...
class RecordWriter:
    def __init__(self, path: str, format: str, level: typing.SupportsInt | typing.SupportsIndex, chunk_bytes: typing.SupportsInt | typing.SupportsIndex, chunk_seconds: typing.SupportsFloat | typing.SupportsIndex, split_bytes: typing.SupportsInt | typing.SupportsIndex, split_seconds: typing.SupportsFloat | typing.SupportsIndex, replace: bool, about: collections.abc.Mapping[str, str]) -> None:
        ...
    def close(self) -> None:
        """
        Writes what has been gathered, and the index. Idempotent. Raises FileError.
        """
    def flush(self) -> None:
        """
        Writes what has been gathered. Raises FileError.
        """
    def note_gap(self, missed: typing.SupportsInt | typing.SupportsIndex = 0, dropped: typing.SupportsInt | typing.SupportsIndex = 0) -> None:
        """
        Notes that messages are missing in front of the next one.
        """
    def write_data(self, topic: str, data: typing.Any, *, log_time: typing.Any | None = None, publish_time: typing.Any | None = None, origin: tuple[str, typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex] | None = None) -> None:
        """
        Records a value in the format bin. Times are of type Timestamp or aware datetimes, and now if they are not given. Raises EncodeError, FileError.
        """
    def write_message(self, message: Message, log_time: typing.Any | None = None) -> None:
        """
        Records a message that a subscriber has received.
        """
    def write_recorded(self, message: RecordedMessage) -> None:
        """
        Records a message of another recording, with its times and origin.
        """
    @property
    def files(self) -> int:
        """
        Begun so far.
        """
    @property
    def messages(self) -> int:
        """
        Recorded so far.
        """
    @property
    def path(self) -> str:
        """
        The file that is written, or was the last.
        """
class BridgeEngine:
    """
    Where a bridge leads to.
    """
    @staticmethod
    def jetstream(url: str, stream: str, subjects: str, credentials: str, ca: str, certificate: str, key: str) -> BridgeEngine:
        ...
    @staticmethod
    def kafka(brokers: str, settings: collections.abc.Mapping[str, str], transactional_id: str, positions: str) -> BridgeEngine:
        ...
    @staticmethod
    def redis(url: str, max_length: typing.SupportsInt | typing.SupportsIndex, field: str, list: str) -> BridgeEngine:
        ...
class BridgeSink:
    def __init__(self, endpoint: Endpoint, engine: BridgeEngine, topics: collections.abc.Sequence[str], pipeline: str, where: Condition | None, to: str, key: str, format: str, headers: bool, dead_letters: str, network: str, except_own: bool, capacity: typing.SupportsInt | typing.SupportsIndex, capacity_bytes: typing.SupportsInt | typing.SupportsIndex, policy: str, close_timeout: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    def close(self) -> None:
        """
        Takes no more, waits until the engine has confirmed what was taken, for `close_timeout` seconds at most, and ends. Idempotent.
        """
    def counters_now(self) -> tuple[dict[str, int], dict[str, int]]:
        """
        All counters by name, and what was rejected by reason.
        """
    def drain(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> int:
        """
        Waits until everything that was published or sent, and is here, is with the engine, at most `timeout` seconds; returns how many messages or tasks are not.
        """
    def wait_ready(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> bool:
        """
        Waits until every node within reach knows which topics are wanted, or an exchange is bound, at most `timeout` seconds. Returns whether they do; False if it is closed meanwhile.
        """
    @property
    def closed(self) -> bool:
        """
        Whether it has come to its end, by `close` or because of a `failure`.
        """
    @property
    def failure(self) -> libpubsub.errors.PubsubError | None:
        """
        Why it has come to its end by itself: an exception that says what the engine has said. None if it has not.
        """
    @property
    def forked(self) -> bool:
        """
        Whether it belongs to a parent process.
        """
    @property
    def last_problem(self) -> str:
        """
        What the engine's library has complained about last, such as an address that does not answer; empty if nothing. It goes on trying.
        """
class BridgeSource:
    def __init__(self, endpoint: Endpoint, engine: BridgeEngine, from_: collections.abc.Sequence[str], group: str, start: typing.Any, publish: str, pipeline: str, format: str | None, rate: typing.SupportsFloat | typing.SupportsIndex, until_end: bool, returned: bool, network: str, dead_letters: str, commit_interval: typing.SupportsFloat | typing.SupportsIndex, close_timeout: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    def close(self) -> None:
        """
        Reads no more, waits until what was read is confirmed, for `close_timeout` seconds at most, tells the engine, and ends. Idempotent.
        """
    def counters_now(self) -> tuple[dict[str, int], dict[str, int]]:
        """
        All counters by name, and what was rejected by reason.
        """
    def wait_end(self, timeout: typing.SupportsFloat | typing.SupportsIndex | None = None) -> bool:
        """
        Waits until it has come to its end (`until_end`, `close`, a failure), at most `timeout` seconds; returns whether it has.
        """
    @property
    def closed(self) -> bool:
        """
        Whether it has come to its end, by `close` or because of a `failure`.
        """
    @property
    def failure(self) -> libpubsub.errors.PubsubError | None:
        """
        Why it has come to its end by itself: an exception that says what the engine has said. None if it has not.
        """
    @property
    def forked(self) -> bool:
        """
        Whether it belongs to a parent process.
        """
    @property
    def last_problem(self) -> str:
        """
        What the engine's library has complained about last, such as an address that does not answer; empty if nothing. It goes on trying.
        """
def clickhouse_ddl(path: str, columns: collections.abc.Sequence[tuple[str, str]], database: str, table: str, brokers: str, topic: str, group: str) -> str:
    ...
def clickhouse_type(zeek_type: str) -> str:
    ...
def decode(data: bytes) -> typing.Any:
    """
    Decodes exactly one value in bin::v1. Raises DecodeError, or LimitExceeded for more than 64 containers inside each other.
    """
def encode(value: typing.Any) -> bytes:
    """
    Encodes `value` in Zeek's binary format (bin::v1). Raises EncodeError, or EncodeTypeError for a type that has no counterpart.
    """
def event_reader(event: type) -> typing.Any:
    """
    A function that turns a Message into an object of the class `event`, which is that of Zeek's events, or into None where it holds none. The function raises DecodeError as `Message.data` does.
    """
def from_json(text: str) -> typing.Any:
    """
    Reads one json::v1 value. Raises DecodeError, or NotSupported in a build without a JSON parser.
    """
def join_background_work(limit: typing.SupportsFloat | typing.SupportsIndex) -> None:
    """
    Waits at most `limit` seconds until calls that Ctrl-C has interrupted have ended in the background.
    """
def parse_log_values(serialized: bytes) -> typing.Any:
    """
    Reads the record in a LogWrite of Zeek: a tuple with one value for each column, None where it is unset. Raises DecodeError, NotSupported for a type that logs cannot hold, or LimitExceeded for more than 64 containers inside each other.
    """
def read_access_rules(path: str) -> list[tuple[str, list[str], list[str], list[str], bool, bool, list[str] | None, list[str] | None, typing.Annotated[list[int], "FixedSize(6)"]]]:
    ...
def summarize_recording(path: str) -> typing.Any:
    ...
def to_json(value: typing.Any) -> str:
    """
    Renders `value` as json::v1. Raises as `encode` does.
    """
version: str = '0.2.0'
