// The next hop to every node of a network. Pure: no I/O, no threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>

#include <pubsub/value/endpoint_id.hpp>

namespace pubsub {

/// The cost of a link: one hop, and a fraction that depends on its two ends in either order. So of
/// all paths between two nodes exactly one is the shortest, every node finds the same one, and each
/// part of it is the shortest path between its own ends.
std::uint64_t link_cost(const endpoint_id& x, const endpoint_id& y) noexcept;

/// The first hop from `from` towards each node within reach. `links` calls its visitor with every
/// neighbour of a node; with none for a node that does not forward.
using next_hop_map = std::unordered_map<endpoint_id, endpoint_id>;
using neighbours_of = std::function<void(const endpoint_id& node,
                                         const std::function<void(const endpoint_id&)>& visit)>;
next_hop_map shortest_paths(const endpoint_id& from, const neighbours_of& links);

} // namespace pubsub
