// How frames of version 2 are told apart (docs/wire-format.md).
#pragma once

#include <cstdint>

namespace pubsub::wire {

/// The highest version this library speaks.
inline constexpr std::uint8_t newest_version = 2;

/// Set in the length of a version-2 frame; version-1 frames are shorter than that.
inline constexpr std::uint32_t batch_flag = 0x8000'0000;

enum class frame_kind : std::uint8_t {
  records = 1,    ///< a batch
  topics = 2,     ///< topics and their destinations, for the batches that follow
  neighbours = 3, ///< the links of a node (wire/native/network.hpp)
  filter = 4,     ///< the subscriptions of a node
  known = 5,      ///< the sender has reported all it knew when the link began
  credit = 6,     ///< the sender can take so many more bytes of records
  question = 7,   ///< whether nodes know the filter of another one (wire/native/network.hpp)
  answer = 8,     ///< to that
  flush = 9,      ///< follows messages on a route that is retired (wire/native/network.hpp)
  flushed = 10,   ///< it has arrived
};

} // namespace pubsub::wire
