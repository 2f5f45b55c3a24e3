// The tuned constants of this room. Each names its reason and the command that measures it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace pubsub::tuning {

// Which thread runs a loop: `pubsub bench latency --limit --rate 0,500,1000,2000`.

/// A loop that a consumer has left is run by its own thread after this time. More than 1 ms, so
/// that a round trip every millisecond wakes no thread but the one it is for.
inline constexpr std::chrono::microseconds longest_absence{1250};
/// A loop that has made another thread wait is closed to consumers for so long: what waits because
/// a consumer is away does so once in this time, which is 1 % of it.
inline constexpr std::chrono::milliseconds closed_for{100};

// Links within a host: `pubsub bench chain --transport unix`.

/// Bytes that a connection has carried, in both directions, before it moves to shared memory: most
/// clients never say as much, and cost no memory of this kind.
inline constexpr std::uint64_t bytes_before_memory = 64 * 1024;
/// Bytes of a ring that this side agrees to, if its own options do not say more.
inline constexpr std::size_t most_agreed_ring_bytes = 64 * 1024 * 1024;

} // namespace pubsub::tuning
