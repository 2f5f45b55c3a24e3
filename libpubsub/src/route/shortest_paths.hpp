// The next hop to every node of a network. Pure: no I/O, no threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>

#include <pubsub/endpoint_id.hpp>

namespace pubsub {

/// What a link costs: one hop, and a little that depends on its two ends, the same whichever comes
/// first. So of all ways between two nodes one is the shortest, every node finds the same one, and
/// each part of it is the shortest way between its own ends.
std::uint64_t link_cost(const endpoint_id& x, const endpoint_id& y) noexcept;

/// Where to go from `from` to reach each other node: the neighbour that is the first hop.
/// `ways_out` tells the nodes one can go on to from a node; none from a node that passes nothing
/// on.
using next_hop_map = std::unordered_map<endpoint_id, endpoint_id>;
using ways_out = std::function<void(const endpoint_id& node,
                                    const std::function<void(const endpoint_id&)>& visit)>;
next_hop_map shortest_paths(const endpoint_id& from, const ways_out& links);

} // namespace pubsub
