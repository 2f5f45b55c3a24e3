// The tuned numbers of this room, each with its unit and its reason.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>

namespace pubsub::peering_tuning {

/// How long a side that was left waits for flushes before it answers the goodbye. The other side
/// waits for that answer with a limit of its own, which we do not know.
inline constexpr std::chrono::nanoseconds patience_of_those_left = std::chrono::milliseconds{500};
/// How long the side that leaves waits for flushes at most.
inline constexpr std::chrono::nanoseconds longest_patience = std::chrono::seconds{1};
/// The same warning about connections that are turned away is not logged more often, or strangers
/// could flood the log.
inline constexpr std::chrono::seconds time_between_warnings{1};
/// Where there is no room for a connection, one that has begun its handshake makes room only after
/// this time: a few round trips over any distance.
inline constexpr std::chrono::seconds patience_with_handshakes{1};
/// Ids whose certificates are remembered; beyond it those of peers that are away are forgotten.
inline constexpr std::size_t max_remembered_owners = 65'536;
/// A peering that ends sooner counts as short, and after so many of them in a row reconnecting is
/// delayed.
inline constexpr std::chrono::seconds short_peering{1};
inline constexpr unsigned suspicious_peerings = 3;
/// Bytes of answers that are due to one peer at a time: what it asks beyond that is refused. What
/// is asked of one peer at a time is less, so that nodes that keep to this are never refused.
inline constexpr std::size_t most_bytes_due = 768 * 1024;
inline constexpr std::size_t most_bytes_asked = 512 * 1024;
/// An answer counts for at least so many bytes, since making it costs time.
inline constexpr std::size_t least_bytes_due = 4'096;
/// Peers that one node asks on behalf of one trace; the others are counted.
inline constexpr std::size_t max_peers_traced = 64;
/// Of the time for a question, the part that a node keeps for passing on the answer.
inline constexpr int part_of_time_kept = 16;
/// Open questions are looked through for those whose time is over at least so often.
inline constexpr std::chrono::nanoseconds longest_look_at_questions = std::chrono::seconds{10};
/// Longer waits count as waits of this length: sums of longer ones overflow the clock.
inline constexpr std::chrono::nanoseconds longest_wait = std::chrono::hours{24 * 365};

} // namespace pubsub::peering_tuning
