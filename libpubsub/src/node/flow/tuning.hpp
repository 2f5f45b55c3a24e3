// The tuned numbers of this room, each with its unit and its reason.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>

#include "node/routing/tuning.hpp"

namespace pubsub::flow_tuning {

/// Bytes of all topics that one peer has announced and anything holds, a queue for example, with
/// their destinations. Beyond the first number the peer gets no credit: with a topic of its own for
/// each message, queues of the default capacities come close to it. Beyond the second, which takes
/// a peer that does not keep to its credit, the link is cut.
inline constexpr std::size_t enough_announced_bytes = 64 * 1024 * 1024;
inline constexpr std::size_t max_announced_bytes = 256 * 1024 * 1024;
/// Links and subscriptions of its own that a peer may report in a second, and a tenth of that at
/// once. Every node of the network takes them in, at a few microseconds each: a peer that never
/// stops costs each of them a fifth of a processor.
inline constexpr std::uint64_t own_items_per_second =
    routing_tuning::changes_of_peers_per_second / 4 * 5;
/// The same for what it reports in all, and as much as that at once: what an honest peer passes on
/// of one that never stops does not hold the honest one back.
inline constexpr std::uint64_t reported_items_per_second = 2 * own_items_per_second;
/// What each prefix in a filter of a Broker peer counts: a filter replaces the one before, so that
/// as many may be gone.
inline constexpr std::size_t items_per_prefix_of_broker_peers = 2;
/// How often it is looked whether those that wrote have gone down.
inline constexpr std::chrono::milliseconds time_between_looks{10};
/// Bytes of flushes of one peer that wait behind its messages: a node whose flush is dropped sends
/// it again.
inline constexpr std::size_t max_waiting_flush_bytes = 1024 * 1024;
/// What is smaller than this part of the buffer it came in is copied, so that it does not keep all
/// of that alive.
inline constexpr std::size_t least_part_of_buffer = 8;

/// Refusals that a peer is told on one link, and listened to: beyond that it says nothing new.
inline constexpr std::size_t most_refusals_told = 64;

} // namespace pubsub::flow_tuning
