// How an endpoint behaves, and how it treats its peers.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/access.hpp>
#include <pubsub/condition.hpp>
#include <pubsub/export.hpp>
#include <pubsub/filter.hpp>
#include <pubsub/gateway.hpp>
#include <pubsub/queue_options.hpp>
#include <pubsub/shared_memory_options.hpp>
#include <pubsub/tls_options.hpp>
#include <pubsub/value/endpoint_id.hpp>

namespace pubsub {

/// Whether an endpoint passes messages from one peer on to another (`on`), or is a client of the
/// nodes it peers with (`off`). `automatic`: `off`, until it listens, or has a peer that is a
/// client itself or speaks version 1; then it peers again with those that took it for a client.
enum class forwarding : std::uint8_t { automatic, on, off };
/// Whether what one Broker peer (version 1 of the wire format) has sent goes to the others, too.
enum class broker_transit : std::uint8_t { on, off };
/// Whether an endpoint's own subscribers receive what the same endpoint publishes.
enum class own_messages : std::uint8_t { deliver, ignore };
/// Whether an endpoint tells others of itself (`endpoint::status_of`, `network_of`, `trace`).
enum class status_service : std::uint8_t { on, off };

/// How an endpoint behaves.
struct endpoint_options {
  /// Name of this endpoint in the network; random if not given. Must be unique.
  std::optional<endpoint_id> id;
  /// What people call this endpoint: peers of version 2 and all who ask for its status are told. At
  /// most 64 letters, digits and -._:@/ ; the name of the host if not given. Need not be unique.
  std::string name;
  /// Of nodes of version 2 only the relays it is linked with know a client, and it costs no others
  /// anything (docs/semantics.md, "Who receives").
  pubsub::forwarding forwarding = pubsub::forwarding::automatic;
  /// `off` where the Broker peers are linked with one another and pass nothing on, as the nodes of
  /// a Zeek cluster: there each gets the messages of the others already.
  pubsub::broker_transit broker_transit = pubsub::broker_transit::on;
  /// Whether its own subscribers receive what it publishes.
  pubsub::own_messages own_messages = pubsub::own_messages::deliver;
  /// Threads that serve links; each link stays on one of them. They start with the first `listen`
  /// or `peer`. Where there is one, a thread that waits for messages, and is the only one to wait,
  /// runs it in place of that thread. 0: the endpoint shares threads, one for each processor, with
  /// all others of the process that say so: for thousands of endpoints, which then cost no thread
  /// each.
  unsigned io_threads = 1;
  /// Outbox of every link.
  queue_options link_queue;
  /// Of links at `unix://`.
  shared_memory_options memory;
  /// Of connections made or accepted at `tls://`. Errors in it are those of `listen` and `peer`;
  /// `check` finds them earlier.
  tls_options tls;
  /// Addresses that `endpoint::peer` takes beside its own: those of other protocols, which
  /// components of the library bring (`pubsub::cluster::gateways`).
  std::vector<gateway_scheme> gateways;
  /// Reads regular expressions in the conditions of others' subscriptions: `&make_re2_matcher` of
  /// the component pubsub::regex. Without it their subscribers are sent all messages on their
  /// topics, and decide themselves.
  text_matcher_maker regex = nullptr;
  /// Topics to announce without a subscriber here, so that peers send them through this relay
  /// (needed between Broker nodes that do not merge filters).
  pubsub::filter forward_topics;
  /// Longest frame sent or accepted once peered, in bytes; a peer that announces more is cut off.
  std::uint32_t max_frame_bytes = 64 * 1024 * 1024;
  /// Longest handshake frame accepted, in bytes. It holds the filter of a Broker peer: room for
  /// tens of thousands of topics, and the most that a stranger can make this side read.
  std::uint32_t max_handshake_frame_bytes = 1024 * 1024;
  /// A connection that is not peered by then is closed.
  std::chrono::nanoseconds handshake_timeout = std::chrono::seconds{10};
  /// How long one attempt to connect may take.
  std::chrono::nanoseconds connect_timeout = std::chrono::seconds{3};
  /// Connections accepted but not yet peered, at most. One more takes the place of the oldest that
  /// has said nothing, or whose handshake takes longer than a second; if there is none, it waits in
  /// the kernel.
  std::size_t max_half_open = 64;
  /// Peers at a time, at most; one more is refused.
  std::size_t max_peers = 16'384;
  /// What peers may do that connect to this endpoint; nothing: everything, like those that it
  /// connects to itself (but for `peer_options::access`). `endpoint::set_access` changes it.
  std::optional<access_rules> access;
  /// The newest version of the peering protocol to offer: 1 is Broker's; 2, spoken between nodes of
  /// this library, carries many messages in a frame (docs/wire-format.md). Peers agree on the
  /// highest both speak.
  std::uint8_t max_wire_version = 2;
  /// A link on which nothing was heard for so long is cut (errc::peer_timeout), 0: never. Time in
  /// which a full queue of this side kept it from reading does not count. A node that has nothing
  /// to send sends a ping every 5 seconds, or four times in its own `liveness_timeout` if that is
  /// shorter than 20 seconds. In version 1 a side whose reading is paused answers none: so give
  /// times below 15 seconds to both sides.
  std::chrono::nanoseconds liveness_timeout = std::chrono::seconds{30};
  /// Whether peers may ask for counters, addresses and topics of this endpoint.
  status_service serve_status = status_service::on;
  /// How long `close` and the destructor wait for queued messages and goodbyes.
  std::chrono::nanoseconds close_timeout = std::chrono::seconds{3};
};

/// Whether all fields are in range; `tls` has a check of its own, which reads files. Errors:
/// invalid_argument; the context names the field, its value and its range.
PUBSUB_EXPORT expected<void> check(const endpoint_options& options);

/// How to treat a peer that cannot be reached or was lost.
struct peer_options {
  /// Time before the second attempt; nothing means a single attempt and no reconnection. Attempts
  /// go on without end, each delay twice the one before, up to `max_retry`, and each changed at
  /// random by up to a quarter. A success starts over. A peering that is lost is tried again at
  /// once, unless it was the third in a row that did not last a second.
  std::optional<std::chrono::nanoseconds> retry = std::chrono::seconds{1};
  /// How long `peer` itself waits for the first success; with `retry`, attempts go on afterwards.
  std::chrono::nanoseconds timeout = std::chrono::seconds{10};
  /// The longest time between attempts; below `retry` it counts as `retry`.
  std::chrono::nanoseconds max_retry = std::chrono::seconds{30};
  /// Outbox of the link to this peer; `endpoint_options::link_queue` if not given. Where both sides
  /// connect, the connection that stays may be the one this peer made: then the latter holds.
  std::optional<queue_options> link_queue = std::nullopt;
  /// What the peer may do; nothing: everything. For whom the rule is, and its limit of connections,
  /// does not matter here. Rules given to `endpoint::set_access` do not change it.
  std::optional<access_rule> access = std::nullopt;
  /// What is shown as the address of the peer, in place of the one that was connected to: for those
  /// who peer on behalf of others.
  std::string alias{};
};

/// As for endpoint_options.
PUBSUB_EXPORT expected<void> check(const peer_options& options);

/// Whether `endpoint::listen` and `peer` understand this address. Errors: invalid_argument; the
/// context says what is wrong with it.
PUBSUB_EXPORT expected<void> check_uri(std::string_view uri);

} // namespace pubsub
