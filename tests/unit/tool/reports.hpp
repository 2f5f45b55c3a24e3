// What nodes answer, as tests make it up.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "top/network_model.hpp"

namespace pubsub::test {

using numbers = std::vector<std::pair<std::string, std::uint64_t>>;

inline tool::counter_set counters(const numbers& x) {
  tool::counter_set result;
  for (const auto& [name, value] : x)
    result.add(name, value);
  return result;
}

inline tool::node_report node(const std::string& id, double uptime_s) {
  tool::node_report result;
  result.id = id;
  result.name = "name-of-" + id;
  result.version = "0.2.0";
  result.uptime_s = uptime_s;
  return result;
}

inline tool::peer_report peer(const std::string& id, const numbers& x) {
  tool::peer_report result;
  result.id = id;
  result.address = "192.0.2.1:1";
  result.state = "peered";
  result.wire_version = 2;
  result.capacity_messages = 100;
  result.counters = counters(x);
  return result;
}

inline tool::peer_report client(const std::string& id, const numbers& x) {
  auto result = peer(id, x);
  result.client = true;
  return result;
}

/// A moment, so many seconds after the first one.
inline tool::network_model::time_point at(std::chrono::seconds x) {
  return tool::network_model::time_point{} + std::chrono::seconds{1000} + x;
}

inline const tool::row& find(const std::vector<tool::row>& in, const std::string& key) {
  for (const auto& each : in)
    if (each.key == key)
      return each;
  throw std::runtime_error{"no row " + key};
}

} // namespace pubsub::test
