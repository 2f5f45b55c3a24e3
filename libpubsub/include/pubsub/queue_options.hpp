// How much a bounded place holds and what happens when it is full.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub {

/// What a full queue does with the next message.
enum class overflow_policy : std::uint8_t {
  block, ///< the publisher waits; over links the wait travels back hop by hop. Nothing is lost
  drop_oldest, ///< the longest waiting message goes, and is counted
  drop_newest, ///< the arriving message goes, and is counted
  /// The newest message of each topic: a message that still waits when a newer one of its topic
  /// arrives goes, and is counted as conflated. The newer one takes its place in the order of
  /// arrival, behind all others: what is read is always a part of what was published, in the order
  /// of publishing. Where more topics wait than there is room for, the longest waiting message
  /// goes, and is counted as `dropped_oldest`: of a topic without news a reader is more likely to
  /// know the state already, and the message that has just arrived is never the one that goes.
  conflate,
  /// The queue ends: a consumer that cannot keep up learns it, instead of seeing a part. Of a
  /// subscriber, what was queued can still be read, then it is closed; a link is closed with
  /// `limit_exceeded`, "the peer did not keep up". The message that found no room, and all that
  /// come later, are counted as `dropped_overflow`.
  disconnect,
};

inline constexpr overflow_policy all_overflow_policies[] = {
    overflow_policy::block, overflow_policy::drop_oldest, overflow_policy::drop_newest,
    overflow_policy::conflate, overflow_policy::disconnect};

/// The name of the enumerator, e.g. `drop_oldest`.
PUBSUB_EXPORT std::string_view to_string(overflow_policy x) noexcept;

/// Bounds of a subscriber queue or of the outbox of a link. A queue is full once it holds as much
/// as either bound says, so the last message may exceed `capacity_bytes`. With `block`, what a peer
/// had credit for is taken, so a queue fed by a link can exceed its bounds by 512 KiB for each
/// number of hops its messages have come (by one read buffer if the peer speaks version 1), and
/// publishers that find the same last place free exceed them by a message each. A link has these
/// bounds once for what its endpoint publishes, and once for all that it relays of others, of which
/// messages that have come the same number of hops may hold a thirty-second part whatever the
/// others hold.
struct queue_options {
  /// What happens when it is full.
  overflow_policy policy = overflow_policy::block;
  /// Messages held at most; at least 1.
  std::size_t capacity_messages = 65'536;
  /// Bytes held before the queue counts as full; at least 1. A message counts its topic and payload
  /// as encoded, and 41 bytes of envelope where it is held encoded.
  std::size_t capacity_bytes = 64 * 1024 * 1024;
};

/// Whether all fields are in range. Errors: invalid_argument; the context names the field.
PUBSUB_EXPORT expected<void> check(const queue_options& options);

} // namespace pubsub
