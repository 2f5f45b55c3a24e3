// The tuned numbers of this room, each with its unit and its reason.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace pubsub::routing_tuning {

/// Time after which nodes that have not answered are asked again: an answer may be lost with its
/// link.
inline constexpr std::chrono::milliseconds time_between_questions{200};
/// Time after which a flush is sent again, for the same reason.
inline constexpr std::chrono::milliseconds time_between_flushes{100};
/// How long a flush is waited for. What a link holds is gone when its peer reads it; a peer that
/// reads nothing is for liveness to find. Where a full queue does not make its producers wait, a
/// flush does not make them wait for long either.
inline constexpr std::chrono::seconds patience_of_producers_that_wait{10};
inline constexpr std::chrono::seconds patience_of_others{1};
/// How long after the link was closed: answers come over other links, and come only if it was
/// closed in good order.
inline constexpr std::chrono::milliseconds patience_after_closing{200};
/// Changes of its Broker peers' subscriptions that a node reports in a second, and at once: a peer
/// may change them faster, and its relay is not to seem one that reports without end (neighbours
/// take a quarter more, node/flow/tuning.hpp).
inline constexpr std::uint64_t changes_of_broker_peers_per_second = 40'000;
inline constexpr std::size_t changes_of_broker_peers_at_once = 2'000;
/// Topics, and bytes of their texts (each has up to 65,535), whose routes a thread remembers.
inline constexpr std::size_t max_cached_topics = 4096;
inline constexpr std::size_t max_cached_bytes = 1024 * 1024;

} // namespace pubsub::routing_tuning
