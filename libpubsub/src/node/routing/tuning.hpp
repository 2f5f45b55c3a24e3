// The tuned numbers of this room, each with its unit and its reason.
// SPDX-License-Identifier: BSD-3-Clause
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
/// Changes of its clients' and Broker peers' subscriptions that a node reports in a second, and at
/// once: a peer may change them faster, and its relay is not to seem one that reports without end
/// (neighbours take a quarter more, node/flow/tuning.hpp).
inline constexpr std::uint64_t changes_of_peers_per_second = 40'000;
inline constexpr std::size_t changes_of_peers_at_once = 2'000;
/// Reports of either kind that a node makes in a second, and at once, and for how long what follows
/// is collected: what every node of the network is told of costs each of them as much as a message
/// does, however little it says. What few do is to be known without delay.
inline constexpr std::chrono::milliseconds collecting{2};
inline constexpr std::uint64_t reports_per_second = std::chrono::seconds{1} / collecting;
inline constexpr std::size_t reports_at_once = 16;
/// Topics, and bytes of their texts, that a client asks about and its relay answers for: about as
/// many as a publishing thread remembers. What goes out on others goes to the relay, wanted or not.
inline constexpr std::size_t max_topics_asked = 4096;
inline constexpr std::size_t max_bytes_asked = 1024 * 1024;
/// Conditions on one topic, and bytes of them, that a relay tells a client that publishes on it:
/// few save most, and each costs the client for every message.
inline constexpr std::size_t max_conditions_told = 64;
inline constexpr std::size_t max_bytes_of_conditions_told = 16 * 1024;
/// Subscribers with conditions that are looked at for that, with each that comes or goes.
inline constexpr std::size_t max_subscribers_asked = 1024;
/// How long a client may take to confirm that it knows what is wanted: one that has stopped is not
/// to keep subscribers from being ready.
inline constexpr std::chrono::seconds patience_with_clients{1};
/// How long a new neighbour may take to report its link with this node, which it collects with
/// others for a moment: who asks is not answered meanwhile, and one that never does so is not to
/// keep subscribers from being ready.
inline constexpr std::chrono::seconds patience_with_neighbours{1};
/// Clients of other relays of which a node knows which relay that is, at most.
inline constexpr std::size_t max_located_clients = 65'536;
/// Subscribers of a topic, as far as a relay counts them for a client that wants to know.
inline constexpr std::uint32_t most_counted = 1'000'000;
/// How long a client that is asked how many want a topic waits for its relay to tell.
inline constexpr std::chrono::seconds patience_with_relay{1};
/// Conditions behind the links of one route, at most: what a message may cost a node. Of these so
/// many that cannot be looked up by a value, and are evaluated one by one. Beyond it links get
/// everything.
inline constexpr std::size_t max_conditions_of_route = 16'384;
inline constexpr std::size_t max_conditions_evaluated = 1'024;
/// Different choices among the links of one route that a thread remembers; a further one is all of
/// them.
inline constexpr std::size_t max_choices_of_route = 16'384;
/// Topics, and bytes of their texts (each has up to 65,535), whose routes a thread remembers.
inline constexpr std::size_t max_cached_topics = 4096;
inline constexpr std::size_t max_cached_bytes = 1024 * 1024;

} // namespace pubsub::routing_tuning
