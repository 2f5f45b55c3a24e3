// The network as an endpoint knows it, as JSON.
#pragma once

#include <cstddef>
#include <string>

#include <pubsub/endpoint.hpp>

namespace pubsub {

/// `{"id":..., "nodes":[{"id", "next_hop" (null: out of reach), "relays", "neighbours", "topics",
/// "topics_total"}], "left_out": n}`: as many nodes as fit into `max_bytes`, those within reach
/// first.
std::string network_text(const endpoint& ep, std::size_t max_bytes);

} // namespace pubsub
