// The tuned constants of the mailbox: how patient its threads are. Times are judged by
// `pubsub bench remote --only speed` (a thread that changes places with another too often) and
// `pubsub bench batch-ack` (one that does so too late).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>

namespace pubsub::pattern::tuning {

/// A blocked read ends after this time at the latest: closing is noticed by then on any path.
inline constexpr std::chrono::milliseconds longest_read{50};
/// A thread that waited is likely to wait again: the mailbox's own thread stays away for this time,
/// which is longer than most callers think between two calls.
inline constexpr std::chrono::milliseconds after_a_wait{1};
/// Ends of waits do not wake the mailbox's own thread, which would cost each of them: it looks by
/// itself after this time.
inline constexpr std::chrono::milliseconds longest_absence{5};
/// The shortest sleep of a thread that waits for another one's read: what is due sooner is not
/// worth a timer.
inline constexpr std::chrono::milliseconds shortest_sleep{1};
/// Messages taken between two moments in which other threads get the mutex. 256 gains nothing
/// over 64.
inline constexpr std::size_t messages_at_once = 64;

/// Between looks at whether partners are within reach: each look asks the routes once a partner.
inline constexpr std::chrono::milliseconds time_between_looks{20};
/// What a partner said before it left may travel longer than the news that it left.
inline constexpr std::chrono::milliseconds time_for_last_words{100};
/// What was sent by a partner that is out of reach may still be on its way, and come twice: what is
/// known of it is kept for this time.
inline constexpr std::chrono::seconds memory_of_partners{60};

/// Parts whose endpoints are remembered, and of those the ones of one endpoint: beyond it parts
/// that have been silent for `memory_of_partners` are forgotten, and then new ones are not heard.
inline constexpr std::size_t most_parts = 65'536;
inline constexpr std::size_t most_parts_of_endpoint = 4'096;

/// Announcements to a name begin close together, because links may just be coming up, and end with
/// the pace at which a newcomer is found where an announcement was lost.
inline constexpr std::chrono::milliseconds first_announcement_pause{2};
inline constexpr std::chrono::milliseconds longest_announcement_pause{250};

} // namespace pubsub::pattern::tuning
