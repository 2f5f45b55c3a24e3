// What a row of `bench routing` varies.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace pubsub::tool::bench {

/// How the subscriptions come about.
enum class routing_way : unsigned char {
  filter,      ///< one subscriber, all at once
  topics,      ///< one subscriber, one add_topic each
  subscribers, ///< one subscriber each
};

inline const std::map<std::string, routing_way> routing_ways{
    {"filter", routing_way::filter},
    {"topics", routing_way::topics},
    {"subscribers", routing_way::subscribers}};

struct routing_row {
  std::size_t subscriptions = 1;
  routing_way way = routing_way::filter;
};

} // namespace pubsub::tool::bench
