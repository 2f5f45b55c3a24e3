// The node: publishes, subscribes, peers with other nodes, and relays between them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/counters.hpp>
#include <pubsub/data_message.hpp>
#include <pubsub/endpoint_id.hpp>
#include <pubsub/error.hpp>
#include <pubsub/filter.hpp>
#include <pubsub/publisher.hpp>
#include <pubsub/queue_options.hpp>
#include <pubsub/status.hpp>
#include <pubsub/status_subscriber.hpp>
#include <pubsub/stream.hpp>
#include <pubsub/subscriber.hpp>
#include <pubsub/tls_options.hpp>

namespace pubsub {

class endpoint_core;

/// Whether an endpoint passes messages from one peer on to another.
enum class forwarding : std::uint8_t { on, off };
/// Whether an endpoint's own subscribers receive what the same endpoint publishes.
enum class own_messages : std::uint8_t { deliver, ignore };
/// Whether an endpoint tells its peers how it is (`endpoint::peer_status`).
enum class status_service : std::uint8_t { on, off };

struct endpoint_options {
  /// Name of this endpoint in the network; random if not given. Must be unique.
  std::optional<endpoint_id> id;
  pubsub::forwarding forwarding = pubsub::forwarding::on;
  pubsub::own_messages own_messages = pubsub::own_messages::deliver;
  /// Threads that serve links; each link stays on one of them. At least 1. They start with the
  /// first `listen` or `peer`. Where there is one, a thread that waits for messages, briefly again
  /// and again, takes its place.
  unsigned io_threads = 1;
  /// The low-latency mode: a thread that waits for a message (`subscriber::get`, `get_batch`) asks
  /// the sockets itself, again and again, instead of sleeping. Saves the tens of microseconds that
  /// waking two threads takes; costs a processor for each waiting thread. I/O threads step in where
  /// nobody waits.
  bool busy_poll = false;
  /// Outbox of every link.
  queue_options link_queue;
  /// Of connections made or accepted at `tls://`. Errors in it are those of `listen` and `peer`;
  /// `check` finds them earlier.
  tls_options tls;
  /// Topics to announce although nobody here subscribes, so that peers send them through this relay
  /// (needed between Broker nodes that do not merge filters).
  pubsub::filter forward_topics;
  /// Longest frame sent or accepted once peered, in bytes; a peer that announces more is cut off.
  std::uint32_t max_frame_bytes = 64 * 1024 * 1024;
  /// Longest handshake frame accepted, in bytes.
  std::uint32_t max_handshake_frame_bytes = 16 * 1024 * 1024;
  /// A connection that is not peered by then is closed.
  std::chrono::milliseconds handshake_timeout{10'000};
  /// How long one attempt to connect may take.
  std::chrono::milliseconds connect_timeout{3'000};
  /// Connections accepted but not yet peered, at most; further ones wait in the kernel.
  std::size_t max_half_open = 64;
  /// The newest version of the peering protocol to offer: 1 is Broker's; 2, spoken between nodes of
  /// this library, carries many messages in a frame (docs/wire-format.md). Peers agree on the
  /// highest both speak.
  std::uint8_t max_wire_version = 2;
  /// A link on which nothing was heard for so long is cut (errc::peer_timeout), 0: never. Time in
  /// which a full queue of this side kept it from reading does not count. A node that has nothing
  /// to send sends a ping every 5 seconds, or four times in its own `liveness_timeout` if that is
  /// shorter than 20 seconds. In version 1 a side whose reading is paused answers none: so give
  /// times below 15 seconds to both sides.
  std::chrono::milliseconds liveness_timeout{30'000};
  /// Whether peers may ask for counters, addresses and topics of this endpoint.
  status_service serve_status = status_service::on;
  /// How long `close` and the destructor wait for queued messages and goodbyes.
  std::chrono::milliseconds close_timeout{3'000};
};

/// How to treat a peer that cannot be reached or was lost.
struct peer_options {
  /// Time before the second attempt; nothing means a single attempt and no reconnection. Attempts
  /// go on without end, each delay twice the one before, up to `max_retry`, and each changed at
  /// random by up to a quarter. A success starts over. A peering that is lost is tried again at
  /// once, unless it was the third in a row that did not last a second.
  std::optional<std::chrono::milliseconds> retry = std::chrono::milliseconds{1'000};
  /// How long `peer` itself waits for the first success; with `retry`, attempts go on afterwards.
  std::chrono::milliseconds timeout{10'000};
  /// The longest time between attempts; below `retry` it counts as `retry`.
  std::chrono::milliseconds max_retry{30'000};
  /// Outbox of the link to this peer; `endpoint_options::link_queue` if not given. Where both sides
  /// connect, the connection that stays may be the one this peer made: then the latter holds.
  std::optional<queue_options> link_queue = std::nullopt;
};

enum class peer_state : std::uint8_t { connecting, peered, lost };

/// The name of the enumerator, e.g. `peered`.
std::string_view to_string(peer_state x) noexcept;

/// One peer as `endpoint::peers` reports it.
struct peer_info {
  endpoint_id id; ///< nil until the first handshake
  std::optional<network_info> network;
  peer_state state = peer_state::connecting;
  pubsub::filter filter; ///< what the peer wants
  link_counters counters;
  std::uint8_t wire_version = 0; ///< of the peering protocol; 0 unless peered
};

/// One node of the network, at any distance, as `endpoint::nodes` reports it. Peers that speak
/// version 1 are neighbours of nodes but no nodes themselves.
struct node_info {
  endpoint_id id;
  endpoint_id next_hop; ///< the peer that messages for this node go to; nil if out of reach
  std::vector<endpoint_id> neighbours; ///< as the node itself reports them
  bool relays = true;                  ///< passes messages on
  pubsub::filter filter;               ///< what it wants
};

/// A node of the publish/subscribe network. Thread-safety: every member may be called from any
/// thread. Handles made from it (publishers, subscribers) may outlive it; they are then closed.
class endpoint {
public:
  endpoint();
  explicit endpoint(endpoint_options options);
  endpoint(endpoint&&) noexcept;
  endpoint& operator=(endpoint&&) noexcept;
  /// Closes with `close_timeout`.
  ~endpoint();

  const endpoint_id& id() const noexcept;

  // -- peering ---------------------------------------------------------------------------------

  /// Accepts peers at `tcp://host:port` or `host:port`, unencrypted, or at `tls://host:port`
  /// (`endpoint_options::tls`); IPv6 as `[v6]:port`. Port 0 picks one, an empty host or `*` means
  /// every address. Returns the port. Errors: invalid_argument, address_in_use, cannot_listen,
  /// shutting_down, and those of `check(tls_options)`.
  expected<std::uint16_t> listen(std::string_view uri);
  /// Connects to a peer, at an address as `listen` takes them, and waits until the peering is
  /// established. Errors: invalid_argument, peer_unavailable (also when a later retry may still
  /// succeed), tls_failed (the same; only one side uses TLS, or does not accept the other),
  /// peer_incompatible, shutting_down, and those of `check(tls_options)`; the context names the
  /// address and the cause.
  expected<void> peer(std::string_view uri, const peer_options& options = {});
  /// As `peer`, but returns at once; success and failures appear as status events.
  expected<void> peer_async(std::string_view uri, const peer_options& options = {});
  /// Ends a peering after what is queued for it has been sent, waiting at most `timeout` for the
  /// goodbye. Errors: peer_invalid, request_timeout (the link was cut).
  expected<void> unpeer(const endpoint_id& id,
                        std::chrono::milliseconds timeout = std::chrono::seconds{3});
  expected<void> unpeer(std::string_view uri,
                        std::chrono::milliseconds timeout = std::chrono::seconds{3});
  std::vector<peer_info> peers() const;
  /// Every other node this endpoint knows of, those out of reach included.
  std::vector<node_info> nodes() const;
  /// Waits until at least `n` peers are peered. Returns false on timeout.
  bool wait_for_peers(std::size_t n, std::chrono::nanoseconds timeout) const;
  /// Waits until this peer is peered. Returns false on timeout.
  bool wait_for_peer(const endpoint_id& id, std::chrono::nanoseconds timeout) const;

  // -- publishing ------------------------------------------------------------------------------

  /// Publishes to every subscriber here and at any number of hops. Blocks while a queue with policy
  /// `block` is full.
  publish_result publish(std::string_view topic, data value);
  publish_result publish(const data_message& msg);
  /// As above, but blocks for at most `timeout`; then the result is `would_block`.
  publish_result publish(std::string_view topic, data value, std::chrono::nanoseconds timeout);
  publish_result publish(const data_message& msg, std::chrono::nanoseconds timeout);
  /// As above, but never blocks.
  publish_result try_publish(std::string_view topic, data value);
  publish_result try_publish(const data_message& msg);
  /// Publishes to the subscribers of one other endpoint only, whether it has announced the topic or
  /// not. Over nodes of this library it may be any number of hops away; behind a version-1 peer it
  /// is out of reach. Blocks as `publish`. `unwanted` if there is no way to it. (broker-wire-v1,
  /// 6.2: the receiver of a message.)
  publish_result publish_to(const endpoint_id& receiver, std::string_view topic, const data& value);
  publish_result publish_to(const endpoint_id& receiver, std::string_view topic, const data& value,
                            std::chrono::nanoseconds timeout);
  publisher make_publisher(std::string_view topic);
  /// Pulls messages from `next` as room appears, until it returns an empty message.
  stream publish_all(std::function<data_message()> next, task_runner runner = {});
  /// Number of local subscribers plus number of nodes, at any distance, that want `topic`. A
  /// version-1 peer counts as one, whatever is behind it.
  std::size_t subscribers(std::string_view topic) const;
  /// Waits until at least `n` of those want `topic`: each can then be reached. Returns false on
  /// timeout.
  bool wait_for_subscribers(std::string_view topic, std::size_t n,
                            std::chrono::nanoseconds timeout) const;

  // -- subscribing -----------------------------------------------------------------------------

  subscriber make_subscriber(pubsub::filter topics, const queue_options& options = {});
  /// Calls `on_message` for every message, one at a time, on the thread `runner` provides.
  stream subscribe(pubsub::filter topics, std::function<void(const data_message&)> on_message,
                   const queue_options& options = {}, task_runner runner = {});
  /// Sees what happens to peerings from now on.
  status_subscriber make_status_subscriber(status_events which = status_events::all);
  /// What this endpoint announces to a peer that brings nothing itself: the union of its
  /// subscribers' filters, `forward_topics` and its peers' filters.
  pubsub::filter filter() const;

  endpoint_counters counters() const;
  /// How this endpoint is, as one JSON object: id, version, uptime, counters, and as many peers and
  /// subscribers as fit into 64,000 bytes (docs/cli.md, `pubsub status`).
  std::string status_text() const;
  /// What `status_text` returns at a peer. Blocks until it answers. Errors: peer_invalid,
  /// not_supported (the peer speaks version 1, or does not tell), peer_unavailable (the link was
  /// lost), request_timeout.
  expected<std::string> peer_status(const endpoint_id& peer,
                                    std::chrono::nanoseconds timeout) const;

  // -- life cycle ------------------------------------------------------------------------------

  /// Waits until everything published so far has been written to the peers' sockets. Returns the
  /// number of messages still waiting at `timeout`, 0 on success.
  std::size_t flush(std::chrono::nanoseconds timeout);
  /// Waits until everything that was published or received here before the call has been taken out
  /// of the queues of local subscribers, and every peer has confirmed that it has read all that was
  /// published here. What is on its way from others to others, and what peers do with what they
  /// have read, is not waited for. Returns the number of messages left at `timeout`, or once the
  /// endpoint is closed; 0 on success: for each subscriber what it still holds of them, for each
  /// peer that has not confirmed what is not written yet, at least 1.
  std::size_t drain(std::chrono::nanoseconds timeout);
  /// Says goodbye to all peers after sending what is queued, waits at most `timeout`, and closes
  /// everything. Idempotent; never throws.
  void close(std::chrono::milliseconds timeout);
  void close();

private:
  std::shared_ptr<endpoint_core> core_;
};

} // namespace pubsub
