// How much a bounded place holds and what happens when it is full.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pubsub {

/// What a full queue does with the next message.
enum class overflow_policy : std::uint8_t {
  block, ///< the publisher waits; over links the wait travels back hop by hop. Nothing is lost
  drop_oldest, ///< the longest waiting message goes, and is counted
  drop_newest, ///< the arriving message goes, and is counted
};

/// Bounds of a subscriber queue or of the outbox of a link. A queue is full once it holds as much
/// as either bound says, so the last message may exceed `capacity_bytes`. With `block`, what one
/// read of a link brings in is taken whole, so a queue fed by a link can exceed its bounds by one
/// read buffer, and publishers that find the same last place free exceed them by a message each.
struct queue_options {
  overflow_policy policy = overflow_policy::block;
  /// Messages held at most; at least 1.
  std::size_t capacity_messages = 65'536;
  /// Bytes held before the queue counts as full; at least 1. A message counts its topic and payload
  /// as encoded, and 41 bytes of envelope where it is held encoded.
  std::size_t capacity_bytes = 64 * 1024 * 1024;
};

} // namespace pubsub
