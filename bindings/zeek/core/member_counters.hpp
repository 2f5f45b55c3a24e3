// What became of the events and logs of a Zeek process.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace pubsub::zeek::backend {

/// `published + dropped + would_block + refused` is the number of calls to `member::publish`.
struct event_counters {
  std::uint64_t published = 0;   ///< taken by every link concerned, or wanted by no node
  std::uint64_t unwanted = 0;    ///< of those, events that no node wants
  std::uint64_t dropped = 0;     ///< the queue of at least one link was full
  std::uint64_t would_block = 0; ///< no room within `block_timeout`; no node got them
  std::uint64_t refused = 0;     ///< too long, or a topic that is reserved
  std::uint64_t received = 0;    ///< handed to Zeek
  std::uint64_t no_event = 0;    ///< received, and something else than an event
  std::uint64_t late_hellos = 0; ///< greetings of nodes that are not in reach any more
};

/// Batches, of which each has any number of records; with `log_transport::records`, records.
/// `taken + dropped + waiting` is the number of those that Zeek has written.
struct log_counters {
  std::uint64_t taken = 0;     ///< by a logger's link, or by the network
  std::uint64_t dropped = 0;   ///< neither a logger nor the backlog had room
  std::uint64_t waiting = 0;   ///< in the backlog now
  std::uint64_t received = 0;  ///< handed to Zeek for writing
  std::uint64_t malformed = 0; ///< received, and no batch
};

} // namespace pubsub::zeek::backend
