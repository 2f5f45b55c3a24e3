// Which other nodes of the cluster are in reach.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include <pubsub/value/endpoint_id.hpp>

namespace pubsub::zeek::backend {

/// A node of a cluster subscribes to the topic that has its id. Relays, command line tools and
/// programs that are no nodes of the cluster do not; and a node that wants the topic of another is
/// not that other.
class node_watch {
public:
  explicit node_watch(std::string prefix) : prefix_(std::move(prefix)) {}

  /// Whether this makes `node` one that is in reach and was not.
  bool topic_added(const endpoint_id& node, std::string_view topic) {
    return is_own_topic(node, topic) && in_reach_.insert(node).second;
  }
  /// Whether it was in reach, and is not any more.
  bool topic_removed(const endpoint_id& node, std::string_view topic) {
    return is_own_topic(node, topic) && node_lost(node);
  }
  bool node_lost(const endpoint_id& node) { return in_reach_.erase(node) > 0; }
  bool is_in_reach(const endpoint_id& node) const { return in_reach_.contains(node); }

private:
  bool is_own_topic(const endpoint_id& node, std::string_view topic) const {
    return topic.starts_with(prefix_) && topic == prefix_ + to_string(node) + "/";
  }

  const std::string prefix_;
  std::unordered_set<endpoint_id> in_reach_;
};

} // namespace pubsub::zeek::backend
