// Exact accounting: what was published, delivered and dropped, and why.
#pragma once

#include <cstdint>

namespace pubsub {

/// One subscriber. At any time `offered == delivered + dropped() + queued`.
struct subscriber_counters {
  std::uint64_t offered = 0;        ///< messages that matched its filter
  std::uint64_t delivered = 0;      ///< handed to the consumer
  std::uint64_t queued = 0;         ///< waiting now
  std::uint64_t dropped_oldest = 0; ///< queue full, policy drop_oldest
  std::uint64_t dropped_newest = 0; ///< queue full, policy drop_newest
  std::uint64_t decode_errors = 0;  ///< received bytes that are not a valid value
  std::uint64_t dropped_closed = 0; ///< still queued or arriving when the subscriber was closed

  std::uint64_t dropped() const noexcept {
    return dropped_oldest + dropped_newest + decode_errors + dropped_closed;
  }
};

/// One link to a peer. At any time `offered == sent + dropped() + queued`.
struct link_counters {
  std::uint64_t offered = 0;        ///< data messages that matched the peer's filter
  std::uint64_t sent = 0;           ///< data messages written to the socket
  std::uint64_t queued = 0;         ///< waiting now
  std::uint64_t dropped_oldest = 0; ///< outbox full, policy drop_oldest
  std::uint64_t dropped_newest = 0; ///< outbox full, policy drop_newest
  std::uint64_t dropped_gone = 0;   ///< the peer went away before they were written
  std::uint64_t received = 0;       ///< data messages read from the peer
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;

  std::uint64_t dropped() const noexcept { return dropped_oldest + dropped_newest + dropped_gone; }
};

/// One endpoint, over all its publishers and links, past and present.
struct endpoint_counters {
  std::uint64_t published = 0;        ///< messages taken from publishers of this endpoint
  std::uint64_t unwanted = 0;         ///< of those, messages nobody had subscribed to
  std::uint64_t refused = 0;          ///< not taken: reserved or over-long topic, too large, closed
  std::uint64_t received = 0;         ///< data messages read from peers
  std::uint64_t forwarded = 0;        ///< passed on from one peer to another, counted per target
  std::uint64_t ttl_expired = 0;      ///< not passed on because their hop limit was used up
  std::uint64_t malformed_frames = 0; ///< frames from peers that were no valid message
};

} // namespace pubsub
