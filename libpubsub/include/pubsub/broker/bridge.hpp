// A bridge between an endpoint of Broker and one of this library: the component pubsub::broker.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include <pubsub/endpoint.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/filter.hpp>
#include <pubsub/queue_options.hpp>

namespace broker {
class endpoint; // of Broker, whose headers this one does without
}

namespace pubsub::broker {

class bridge_state;

/// Which messages a bridge takes, and how many wait for the other side.
struct bridge_options {
  /// Topics, by prefix, whose messages go from Broker to this library.
  filter from_broker;
  /// Topics, by prefix, whose messages go from this library to Broker.
  filter to_broker;
  /// What has come from Broker and waits to be published. `drop_oldest`, `drop_newest` or `block`:
  /// then Broker keeps what finds no room, without any bound, and holds no publisher back, as it
  /// does for every subscriber that is too slow; what it has sent already exceeds the bounds by a
  /// few thousand messages at most. A message counts its topic and its value as encoded.
  queue_options from_broker_queue{.policy = overflow_policy::drop_newest};
  /// What waits for Broker: the queue of a subscriber, with any policy.
  queue_options to_broker_queue;
  /// How long `close` and the destructor wait for what is queued.
  std::chrono::nanoseconds close_timeout = std::chrono::seconds{2};
};

/// Whether all fields are in range. Errors: invalid_argument; the context names the field.
PUBSUB_EXPORT expected<void> check(const bridge_options& options);

/// One direction of a bridge. At any time `taken == given + dropped() + queued`.
struct bridge_counters {
  std::uint64_t taken = 0;    ///< that came to the bridge
  std::uint64_t given = 0;    ///< handed to the other side
  std::uint64_t queued = 0;   ///< waiting now, or being handed over
  std::uint64_t unwanted = 0; ///< of those given, that no subscriber wanted; not known of Broker
  std::uint64_t full = 0;     ///< dropped: the queue was full
  std::uint64_t unconvertible = 0; ///< dropped: the other side cannot hold the value
  std::uint64_t refused = 0;       ///< dropped: topic reserved or too long, or message too large
  std::uint64_t closed = 0;        ///< dropped: the bridge or an endpoint was closed before

  std::uint64_t dropped() const noexcept { return full + unconvertible + refused + closed; }
};

/// Passes messages on between an endpoint of Broker and one of this library in the same process,
/// without a socket and without text, as long as it exists. Broker's endpoint sees the bridge as a
/// peer: so everything that the program, or a peer of Broker, publishes on `from_broker` topics is
/// published at the other endpoint, in order; and everything that is published there or in its
/// network on `to_broker` topics comes to the subscribers of Broker's endpoint, in order, but not
/// to Broker's peers. What came from a side never goes back to it, even where both filters have
/// the same topics. Thread-safe.
class PUBSUB_EXPORT bridge {
public:
  /// Returns at once. Each endpoint may be closed or destroyed before the bridge or after it, but
  /// not during this call. Errors: invalid_argument (also for two endpoints that have a bridge
  /// already), shutting_down (an endpoint is closed), unspecified (Broker has not let it in),
  /// limit_exceeded (no more threads).
  static expected<bridge> open(::broker::endpoint& theirs, endpoint& ours, bridge_options options);

  bridge(bridge&&) noexcept;
  bridge& operator=(bridge&&) noexcept;
  /// Closes.
  ~bridge();

  /// Waits until Broker and every node of the network within reach know what the bridge takes: what
  /// they publish from then on arrives. False at the timeout, or if closed.
  [[nodiscard]] bool wait_ready(std::chrono::nanoseconds timeout);
  /// Messages on `from_broker` topics since the bridge was opened.
  bridge_counters from_broker() const;
  /// Messages on `to_broker` topics since then.
  bridge_counters to_broker() const;
  /// True once it, or an endpoint, is closed: no more is passed on.
  bool closed() const;
  /// Takes no more, hands over what is queued, for `close_timeout` at most, and leaves both
  /// endpoints. Idempotent.
  void close();

private:
  explicit bridge(std::unique_ptr<bridge_state> made);

  std::unique_ptr<bridge_state> state_;
};

} // namespace pubsub::broker
