// Exact accounting: what was published, delivered and dropped, and why.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace pubsub {

/// One publisher. Every attempt to publish a message counts once: in `published`, `would_block` or
/// one of the refusals.
struct publisher_counters {
  std::uint64_t published = 0;     ///< taken, `unwanted` and `dropped` ones included
  std::uint64_t unwanted = 0;      ///< of those, messages on topics without subscribers
  std::uint64_t dropped = 0;       ///< of those, messages that at least one full queue did not take
                                   ///< without loss; the queue's counters say what was lost
  std::uint64_t would_block = 0;   ///< attempts given up: no room by the deadline
  std::uint64_t refused_topic = 0; ///< reserved or over-long topic
  std::uint64_t refused_size = 0;  ///< longer than a frame may be
  std::uint64_t refused_closed = 0; ///< the endpoint was closed
  std::uint64_t refused_empty = 0;  ///< an empty message

  std::uint64_t refused() const noexcept {
    return refused_topic + refused_size + refused_closed + refused_empty;
  }
};

/// One subscriber. At any time `offered == delivered + dropped() + filtered + queued`.
struct subscriber_counters {
  std::uint64_t offered = 0;          ///< messages that matched its filter
  std::uint64_t delivered = 0;        ///< handed to the consumer
  std::uint64_t queued = 0;           ///< waiting now
  std::uint64_t dropped_oldest = 0;   ///< queue full, policy drop_oldest
  std::uint64_t dropped_newest = 0;   ///< queue full, policy drop_newest
  std::uint64_t decode_errors = 0;    ///< received bytes that are not a valid value
  std::uint64_t dropped_closed = 0;   ///< still queued or arriving when the subscriber was closed
  std::uint64_t conflated = 0;        ///< replaced by a newer one of its topic, policy conflate
  std::uint64_t dropped_overflow = 0; ///< queue full, policy disconnect; also what came later
  std::uint64_t filtered = 0;         ///< did not fulfil the condition; neither dropped nor missed

  /// Messages that were published but never arrived here, so they are not among `offered`: numbers
  /// missing in streams of one topic that came over version-2 links, from the first one seen on. A
  /// gap shows when the next message of its stream arrives.
  std::uint64_t missed = 0;
  /// Streams that came over version-2 links and have started again from a lower number: the
  /// publisher has restarted under the same endpoint id.
  std::uint64_t restarts = 0;

  std::uint64_t dropped() const noexcept {
    return dropped_oldest + dropped_newest + decode_errors + dropped_closed + conflated +
           dropped_overflow;
  }
};

/// One link to a peer. At any time `offered == sent + dropped() + queued`.
struct link_counters {
  std::uint64_t offered = 0;          ///< data messages that matched the peer's filter
  std::uint64_t sent = 0;             ///< data messages written to the socket
  std::uint64_t queued = 0;           ///< waiting now
  std::uint64_t dropped_oldest = 0;   ///< outbox full, policy drop_oldest
  std::uint64_t dropped_newest = 0;   ///< outbox full, policy drop_newest
  std::uint64_t dropped_gone = 0;     ///< the peer went away before they were written
  std::uint64_t conflated = 0;        ///< replaced by a newer one of its topic, policy conflate
  std::uint64_t dropped_overflow = 0; ///< outbox full, policy disconnect; also what came later
  std::uint64_t received = 0;         ///< data messages read from the peer
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t credit_waits = 0; ///< times that messages had to wait because the peer had given no
                                  ///< credit for more; 0 in version 1, which has none

  std::uint64_t dropped() const noexcept {
    return dropped_oldest + dropped_newest + dropped_gone + conflated + dropped_overflow;
  }
};

/// One endpoint, over all its publishers, links and subscribers, past and present.
struct endpoint_counters {
  std::uint64_t published = 0;      ///< messages taken from publishers of this endpoint
  std::uint64_t unwanted = 0;       ///< of those, messages on topics without subscribers
  std::uint64_t dropped = 0;        ///< of those, as in `publisher_counters`
  std::uint64_t would_block = 0;    ///< as in `publisher_counters`
  std::uint64_t refused_topic = 0;  ///< not taken: reserved or over-long topic
  std::uint64_t refused_size = 0;   ///< not taken: longer than a frame may be
  std::uint64_t refused_closed = 0; ///< not taken: the endpoint was closed
  std::uint64_t refused_empty = 0;  ///< not taken: an empty message
  std::uint64_t received = 0;       ///< data messages read from peers
  std::uint64_t forwarded = 0;      ///< passed on from one peer to another, counted per target
  std::uint64_t ttl_expired = 0;    ///< not passed on because their hop limit was used up
  std::uint64_t unreachable = 0;    ///< not passed on because no path leads to a node that a
                                    ///< message was for; counted per node
  std::uint64_t no_subscriber = 0;  ///< received for subscribers here of which there are none any
                                    ///< more, or that there never were (`publish_to`)
  std::uint64_t duplicates = 0;     ///< received again, or behind later ones of their stream
  std::uint64_t withheld = 0;       ///< not sent to a peer because nothing behind it wants them:
                                    ///< no condition there is fulfilled; counted per peer
  std::uint64_t screened_out = 0;   ///< received, and not let pass (`endpoint::set_screen`)
  std::uint64_t denied = 0;         ///< what access rules have refused: connections, messages that
                                    ///< came and per peer those that were to go, subscriptions,
                                    ///< reports of other nodes
  std::uint64_t limited = 0;        ///< what limits of access rules have refused or held back:
                                    ///< connections, links cut, pauses of a peer that is too fast
  std::uint64_t malformed_frames = 0; ///< frames from peers that were no valid message
  std::uint64_t silent_peers = 0;     ///< links cut because nothing was heard (`liveness_timeout`)
  subscriber_counters subscribers;    ///< the sums over all its subscribers
  link_counters links;                ///< the sums over all its links

  std::uint64_t refused() const noexcept {
    return refused_topic + refused_size + refused_closed + refused_empty;
  }
};

} // namespace pubsub
