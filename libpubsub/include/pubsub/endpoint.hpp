// The node: publishes, subscribes, peers with other nodes, and relays between them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/condition.hpp>
#include <pubsub/counters.hpp>
#include <pubsub/data_message.hpp>
#include <pubsub/endpoint_options.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/filter.hpp>
#include <pubsub/message_screen.hpp>
#include <pubsub/network_subscriber.hpp>
#include <pubsub/peer_info.hpp>
#include <pubsub/publisher.hpp>
#include <pubsub/queue_options.hpp>
#include <pubsub/status.hpp>
#include <pubsub/status_subscriber.hpp>
#include <pubsub/stream.hpp>
#include <pubsub/subscriber.hpp>
#include <pubsub/trace.hpp>
#include <pubsub/value/endpoint_id.hpp>

namespace pubsub {

class endpoint_core;

/// A node of the publish/subscribe network. Thread-safety: every member may be called from any
/// thread. Handles made from it (publishers, subscribers) may outlive it; they are then closed.
class PUBSUB_EXPORT endpoint {
public:
  endpoint();
  /// Options that `check` finds fault with make an endpoint that is closed, whose `listen` and
  /// `peer` return what `check` does.
  explicit endpoint(endpoint_options options);
  endpoint(endpoint&&) noexcept;
  endpoint& operator=(endpoint&&) noexcept;
  /// Closes with `close_timeout`.
  ~endpoint();

  /// Its name in the network.
  const endpoint_id& id() const noexcept;
  /// What people call it (`endpoint_options::name`).
  const std::string& name() const noexcept;

  // -- peering ---------------------------------------------------------------------------------

  /// Accepts peers at `tcp://host:port` or `host:port`, unencrypted, at `tls://host:port`
  /// (`endpoint_options::tls`); IPv6 as `[v6]:port`. Port 0 picks one, an empty host or `*` means
  /// every address. Or within the host at `unix:///path`, a socket with the permissions that the
  /// umask leaves: who may write to it may connect. Returns the port, 0 for a path. Errors:
  /// invalid_argument, address_in_use, cannot_listen, shutting_down, and those of
  /// `check(tls_options)`.
  expected<std::uint16_t> listen(std::string_view uri);
  /// Connects to a peer, at an address as `listen` takes them or one that
  /// `endpoint_options::gateways` know, and waits until the peering is established. Errors:
  /// invalid_argument, peer_unavailable (also when a later retry may still
  /// succeed), tls_failed (the same; only one side uses TLS, or does not accept the other),
  /// peer_incompatible, shutting_down, and those of `check(tls_options)`; the context names the
  /// address and the cause.
  expected<void> peer(std::string_view uri, const peer_options& options = {});
  /// As `peer`, but returns at once; success and failures appear as status events.
  expected<void> peer_async(std::string_view uri, const peer_options& options = {});
  /// Ends a peering after what is queued for it has been sent, waiting at most `timeout` for the
  /// goodbye. Errors: peer_invalid, request_timeout (the link was cut).
  expected<void> unpeer(const endpoint_id& id,
                        std::chrono::nanoseconds timeout = std::chrono::seconds{3});
  /// The same by the address that was given to `peer`.
  expected<void> unpeer(std::string_view uri,
                        std::chrono::nanoseconds timeout = std::chrono::seconds{3});
  /// Every peer, those that are being connected to or were lost included.
  std::vector<peer_info> peers() const;
  /// Every gateway that `peer` has made, whether those behind it are reached or not; after `close`,
  /// with all that they have counted.
  std::vector<gateway_info> gateways() const;
  /// Every other node this endpoint knows of, those out of reach included.
  std::vector<node_info> nodes() const;
  /// Waits until at least `n` peers are peered. Returns false on timeout.
  [[nodiscard]] bool wait_for_peers(std::size_t n, std::chrono::nanoseconds timeout) const;
  /// Waits until this peer is peered. Returns false on timeout.
  [[nodiscard]] bool wait_for_peer(const endpoint_id& id, std::chrono::nanoseconds timeout) const;

  // -- publishing ------------------------------------------------------------------------------

  /// Publishes on `topic`, to every subscriber here and at any number of hops: a value, encoded
  /// bytes (which are copied and must be valid), or the value of a message. Blocks while a queue
  /// with policy `block` is full. Keeps the order of messages of one thread.
  publish_result publish(std::string_view topic, publishable what);
  /// As `publish`, but blocks for at most `timeout`; then the result is `would_block`.
  publish_result publish_for(std::string_view topic, publishable what,
                             std::chrono::nanoseconds timeout);
  /// As `publish`, but never blocks; `would_block` where it would.
  publish_result try_publish(std::string_view topic, publishable what);
  /// Publishes to the subscribers of one other endpoint only, whether it has announced the topic or
  /// not. Over nodes of this library it may be any number of hops away; behind a Broker peer it
  /// is out of reach. Blocks as `publish`. `unwanted` if there is no path to it.
  publish_result publish_to(const endpoint_id& receiver, std::string_view topic, publishable what);
  /// As `publish_to`, but blocks for at most `timeout`; then the result is `would_block`.
  publish_result publish_to_for(const endpoint_id& receiver, std::string_view topic,
                                publishable what, std::chrono::nanoseconds timeout);
  /// Makes the handle to publish many messages on one topic with.
  publisher make_publisher(std::string_view topic);
  /// Makes the handle to publish with what comes from elsewhere: on any topic, and never to
  /// `except`, a subscriber of this endpoint, which may be closed or destroyed earlier.
  bridge_publisher make_bridge_publisher(const subscriber& except);
  /// Pulls messages from `next` as room appears, until it returns an empty message.
  stream publish_all(std::function<data_message()> next, task_runner runner = {});
  /// Number of local subscribers plus number of nodes, at any distance, that want `topic`. A
  /// Broker peer counts as one, whatever is behind it.
  std::size_t subscribers(std::string_view topic) const;
  /// Waits until at least `n` of those want `topic`: each can then be reached. Returns false on
  /// timeout.
  [[nodiscard]] bool wait_for_subscribers(std::string_view topic, std::size_t n,
                                          std::chrono::nanoseconds timeout) const;

  // -- subscribing -----------------------------------------------------------------------------

  /// Subscribes to all topics that begin with one of `topics`. Options out of range make a
  /// subscriber that is closed; `check` finds them earlier.
  subscriber make_subscriber(pubsub::filter topics, const queue_options& options = {});
  /// The same, of the messages on these topics that fulfil a condition. The others count as
  /// `filtered`.
  subscriber make_subscriber(pubsub::filter topics, const condition& where,
                             const queue_options& options = {});
  /// Calls `on_message` for every message, one at a time, on the thread `runner` provides.
  stream subscribe(pubsub::filter topics, std::function<void(const data_message&)> on_message,
                   const queue_options& options = {}, task_runner runner = {});
  /// The same, for every message that fulfils a condition.
  stream subscribe(pubsub::filter topics, std::function<void(const data_message&)> on_message,
                   const condition& where, const queue_options& options = {},
                   task_runner runner = {});
  /// Sees what happens to peerings from now on.
  status_subscriber make_status_subscriber(status_events which = status_events::all);
  /// Sees which nodes there are, and which topics they want: those that are known now, and what
  /// changes.
  network_subscriber make_network_subscriber();
  /// What this endpoint announces to a peer that brings nothing itself: the union of its
  /// subscribers' filters, `forward_topics` and its peers' filters.
  pubsub::filter filter() const;

  /// From now on these rules hold for peers that connect, or have connected, to this endpoint;
  /// nothing: they may do everything. Links stay, and lose nothing, except those of peers that no
  /// rule is for any more, and of relays that may not relay any more; `topics` and `subscriptions`
  /// are looked at when more come. Errors: as of `check`; then the old rules stay.
  expected<void> set_access(std::optional<access_rules> rules);

  /// From now on messages that peers send to this node, for subscribers here or for others, are
  /// looked at with this screen before they go anywhere; null: with none. Batches that links are
  /// just reading may still go with the old one. It is kept until no link uses it any more.
  void set_screen(std::shared_ptr<const message_screen> screen);

  /// From now on connections are made and accepted with these keys and certificates, whose files
  /// are read now; connections that exist go on with theirs. Errors: those of `check(tls_options)`,
  /// and the old ones stay.
  expected<void> set_tls(const tls_options& options);
  /// When the certificate that new connections show expires; nothing without one.
  std::optional<std::chrono::sys_seconds> certificate_expiry() const;

  /// What this endpoint has counted since it was made.
  endpoint_counters counters() const;
  /// How this endpoint is, as one JSON object: id, version, uptime, counters, and as many peers,
  /// relays first, and subscribers as fit into `max_bytes` (docs/cli.md, `pubsub status`).
  std::string status_text(std::size_t max_bytes = 64'000) const;
  /// The same for Prometheus, in its text format (`text/plain; version=0.0.4`), and what the
  /// process uses: docs/monitoring.md lists the metrics. At most 1,000 links and 1,000 subscribers
  /// are told apart, and no clients where there are more than 100; the others are added up.
  std::string metrics_text() const;
  /// The network as this endpoint knows it, as one JSON object: its id, and as many nodes as fit
  /// into `max_bytes`, those within reach first; the others are counted.
  std::string network_text(std::size_t max_bytes = 256'000) const;

  // What other nodes tell. Relays pass the questions on and the answers back; each call blocks
  // until there is one. Errors: request_timeout; no_path_to_peer (no node that is known has this
  // id; the clients of other relays are not known); not_supported (it speaks version 1, or does not
  // tell); denied (by an access rule, this endpoint may not inspect: `access_rule::inspect`);
  // peer_unavailable (a link was lost meanwhile); limit_exceeded (too much was asked at once).

  /// What `status_text` returns at a node at any distance, or at a client of the relay that this
  /// endpoint is linked with.
  expected<std::string> status_of(const endpoint_id& node, std::chrono::nanoseconds timeout,
                                  std::size_t max_bytes = 64'000) const;
  /// What `network_text` returns there.
  expected<std::string> network_of(const endpoint_id& node, std::chrono::nanoseconds timeout,
                                   std::size_t max_bytes = 256'000) const;
  /// Where a message on this topic would go now, were it published here: every node that it comes
  /// to, each behind the one it comes from, this endpoint first. Nodes that do not answer are
  /// listed as such; a node asks 64 of its peers at most. No message is published.
  expected<std::vector<trace_hop>> trace(std::string_view topic,
                                         std::chrono::nanoseconds timeout) const;

  // -- life cycle ------------------------------------------------------------------------------

  /// For a relay that is to end while others go on: lets them choose routes that do not lead over
  /// it, and passes on what is on its way; then parts from its clients, which take another relay if
  /// they have one. So nothing that has another way is lost by the `close` that is to follow. What
  /// it publishes itself, and what its own subscribers want, is not affected. Blocks until all this
  /// is done. Returns false at `timeout`, or once the endpoint is closed.
  [[nodiscard]] bool retire(std::chrono::nanoseconds timeout);

  /// Waits until everything published so far has been written to the peers' sockets. Returns the
  /// number of messages still waiting at `timeout`, 0 on success.
  [[nodiscard]] std::size_t flush(std::chrono::nanoseconds timeout);
  /// Waits until everything that was published or received here before the call has been taken out
  /// of the queues of local subscribers, and every peer has confirmed that it has read all that was
  /// published here. What is on its way from others to others, and what peers do with what they
  /// have read, is not waited for. Returns the number of messages left at `timeout`, or once the
  /// endpoint is closed; 0 on success: for each subscriber what it still holds of them, for each
  /// peer that has not confirmed what is not written yet, at least 1.
  [[nodiscard]] std::size_t drain(std::chrono::nanoseconds timeout);
  /// Says goodbye to all peers after sending what is queued, waits at most `timeout`, and closes
  /// everything. Idempotent; never throws.
  void close(std::chrono::nanoseconds timeout);
  /// As above, with `close_timeout`.
  void close();

  /// The same endpoint for a component that works on it: stays valid when this object is moved or
  /// destroyed, and does not close the endpoint when it is released.
  std::shared_ptr<endpoint> share() const;

private:
  explicit endpoint(std::shared_ptr<endpoint_core> core);

  std::shared_ptr<endpoint_core> core_;
};

} // namespace pubsub
