// The tuned constants of this room. Each names its reason and the command that measures it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>

namespace pubsub::tuning {

// How a consumer waits: `pubsub bench stream --mode both`, `pubsub bench latency --limit`.

/// A consumer looks for so long before it sleeps, where its last wait was over soon: longer than a
/// wake-up costs (20 to 60 us on a virtual machine), so that looking is never dearer than sleeping.
inline constexpr std::chrono::microseconds watch_length{50};
/// A wait that was over in this time was a short one: a round trip with two wake-ups is.
inline constexpr std::chrono::microseconds short_wait{150};
/// Between two looks a consumer pauses until a look finds so many messages: every look takes the
/// length of the run from the publisher's processor.
inline constexpr std::size_t few_messages = 64;
inline constexpr std::size_t many_messages = 512;
/// The longest of these pauses: so long takes a publisher for `few_messages`.
inline constexpr std::chrono::microseconds longest_pause{12};
/// A processor that was given away and comes back later than this is used by other programs, and is
/// not given away again for a while: a yield there costs the time slice of a stranger.
inline constexpr std::chrono::microseconds late_return{500};
inline constexpr std::chrono::milliseconds crowded_for{100};
/// The deadline of a wait in the I/O loop is rounded up to this.
inline constexpr std::chrono::milliseconds loop_clock{1};

/// What a condition selects of a run is copied where it is less than this part of the bytes: a
/// queue may then hold four times the memory that its bounds say, and not a read buffer for each
/// message.
inline constexpr std::uint64_t copied_part = 4;

} // namespace pubsub::tuning
