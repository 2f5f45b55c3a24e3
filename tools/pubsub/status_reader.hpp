// What nodes tell about themselves and about the network, read from JSON.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pubsub/error.hpp>

namespace pubsub::tool {

/// Counters by the names that the status gives them, in its order.
class counter_set {
public:
  void add(std::string_view name, std::uint64_t value) { all_.emplace_back(name, value); }
  /// 0 where the node does not tell it.
  std::uint64_t operator[](std::string_view name) const noexcept {
    for (const auto& each : all_)
      if (each.first == name)
        return each.second;
    return 0;
  }
  /// Adds each counter of the other set, or takes it away, down to 0.
  counter_set& operator+=(const counter_set& other);
  counter_set& operator-=(const counter_set& other);
  bool empty() const noexcept { return all_.empty(); }
  auto begin() const noexcept { return all_.begin(); }
  auto end() const noexcept { return all_.end(); }

private:
  std::uint64_t& at(const std::string& name);

  std::vector<std::pair<std::string, std::uint64_t>> all_;
};

/// The first topics of a filter, and how many there are.
struct topics_report {
  std::vector<std::string> first;
  std::uint64_t total = 0;
};

struct peer_report {
  std::string id;      ///< empty before the first handshake
  std::string name;    ///< empty where it is not known
  std::string address; ///< the same
  std::string state;   ///< connecting, peered or lost
  std::string access;  ///< the rule that holds for it; empty: none
  std::uint64_t wire_version = 0;
  bool client = false;
  std::uint64_t capacity_messages = 0;
  std::uint64_t capacity_bytes = 0;
  std::optional<std::uint64_t> round_trip_us; ///< nothing: not measured yet, or not told
  counter_set held_bytes; ///< by what is held; empty where an earlier version does not tell
  topics_report topics;
  counter_set counters;
};

struct subscriber_report {
  topics_report topics;
  std::string where = {}; ///< the condition, perhaps cut; empty where there is none
  std::string policy;
  std::uint64_t capacity_messages = 0;
  std::uint64_t capacity_bytes = 0;
  counter_set counters;
};

/// The status of one node.
struct node_report {
  std::string id;
  std::string name; ///< empty where an earlier version does not tell
  std::string version;
  double uptime_s = 0;
  counter_set counters;
  counter_set all_links;       ///< sums, past links included; empty where it does not tell
  counter_set all_subscribers; ///< the same of subscribers
  std::vector<peer_report> peers;
  std::vector<subscriber_report> subscribers;
  std::uint64_t peers_left_out = 0; ///< clients first
  std::uint64_t subscribers_left_out = 0;
};

/// One node as another one knows it.
struct known_node_report {
  std::string id;
  std::string name;
  bool reachable = false;
  bool relays = true; ///< false: it is about to leave, or is a client
};

/// The network as one node knows it: the others.
struct network_report {
  std::vector<known_node_report> nodes;
  std::uint64_t left_out = 0;
};

/// What `endpoint::status_text` has written, here or elsewhere. Errors: invalid_data if it is no
/// status, not_supported in a build without JSON.
expected<node_report> read_status(const std::string& json);
/// The same of `endpoint::network_of`.
expected<network_report> read_network(const std::string& json);

/// `a, b and 3 more`; `nothing` for no topics, `everything` for the empty one.
std::string topics_text(const topics_report& topics);

} // namespace pubsub::tool
