// What one reader has been told of the network.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pubsub/network_subscriber.hpp>

#include "filter/subscription_text.hpp"

namespace pubsub {

/// A node within reach, as it is now. Refers to what its maker keeps.
struct node_view {
  std::string_view name;
  std::uint64_t start = 0; ///< another one after it has started again; 0: not known
  bool client = false;
  bool relays = true;
  const std::set<std::string>* subscriptions = nullptr; ///< as nodes tell them; null: none
};

/// Finds out what is news. Its size is that of the network, whatever happens there. Pure.
class told_network {
public:
  /// Appends what has changed since the last call for this node, which counts as told from now on.
  /// `now`: null if the node is out of reach.
  void compare(const endpoint_id& node, const node_view* now, std::deque<network_event>& news) {
    const auto before = nodes_.find(node);
    if (before != nodes_.end() && (now == nullptr || !before->second.is_same(*now))) {
      news.push_back(before->second.event(network_change::node_lost, node));
      nodes_.erase(before);
    }
    if (now == nullptr)
      return;
    const auto [found, fresh] = nodes_.try_emplace(node);
    auto& told = found->second;
    told.start = now->start > 0 ? now->start : told.start;
    if (fresh) {
      told.about = {{}, node, std::string{now->name}, now->client, now->relays, {}};
      news.push_back(told.event(network_change::node_added, node));
    }
    told.take_topics(topics_of(*now), news);
  }

private:
  using topics = std::vector<std::string_view>;

  struct told_node {
    network_event about; // without change and topic
    std::uint64_t start = 0;
    std::set<std::string> prefixes;

    bool is_same(const node_view& now) const noexcept {
      return about.client == now.client && (start == now.start || start == 0 || now.start == 0);
    }
    network_event event(network_change what, const endpoint_id& node,
                        std::string_view prefix = {}) const {
      return {what, node, about.name, about.client, about.relays, std::string{prefix}};
    }
    /// One pass over both, which are in order: the router waits meanwhile.
    void take_topics(const topics& now, std::deque<network_event>& news) {
      auto told = prefixes.begin();
      const auto remove = [&] {
        news.push_back(event(network_change::topic_removed, about.node, *told));
        told = prefixes.erase(told);
      };
      for (const auto& each : now) {
        while (told != prefixes.end() && std::string_view{*told} < each)
          remove();
        if (told == prefixes.end() || *told != each) {
          news.push_back(event(network_change::topic_added, about.node, each));
          prefixes.emplace_hint(told, each);
        } else {
          ++told;
        }
      }
      while (told != prefixes.end())
        remove();
    }
  };

  /// Each prefix once, with conditions and without, in order.
  static topics topics_of(const node_view& x) {
    topics result;
    if (x.subscriptions == nullptr)
      return result;
    result.reserve(x.subscriptions->size());
    for (const auto& each : *x.subscriptions)
      result.push_back(prefix_of(each));
    if (!std::ranges::is_sorted(result)) // where prefixes with conditions contain zeros
      std::ranges::sort(result);
    // Not std::ranges::unique: clang before 16 cannot compile libstdc++'s subrange.
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }

  std::unordered_map<endpoint_id, told_node> nodes_;
};

} // namespace pubsub
