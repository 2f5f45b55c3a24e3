// The tuned numbers of this room, each with its unit and its reason.
#pragma once

#include <cstddef>

namespace pubsub::flow_tuning {

/// Bytes of all topics that one peer has announced and anything holds, a queue for example, with
/// their destinations.
inline constexpr std::size_t max_announced_bytes = 64 * 1024 * 1024;
/// Bytes of flushes of one peer that wait behind its messages: a node whose flush is dropped sends
/// it again.
inline constexpr std::size_t max_waiting_flush_bytes = 1024 * 1024;
/// What is smaller than this part of the buffer it came in is copied, so that it does not keep all
/// of that alive.
inline constexpr std::size_t least_part_of_buffer = 8;

} // namespace pubsub::flow_tuning
