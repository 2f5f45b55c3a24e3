// Which nodes of the network the messages on a topic are for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <pubsub/endpoint_id.hpp>

namespace pubsub {

/// A node that messages are for, and the number of the last report of its wants that had reached
/// whoever chose it: subscriptions that began later do not get them. So messages that were under
/// way when a subscription ended do not appear, with a gap behind them, in one that begins.
struct destination {
  endpoint_id node;
  std::uint64_t filter_number = 0;
  friend bool operator==(const destination&, const destination&) = default;
};

/// Nodes that are reached over the same link. Who sends a message splits its audience among its
/// links, and so does every relay on the way: no node is named twice, so none gets it twice.
struct link_destinations {
  const void* via = nullptr; ///< the link
  std::vector<destination> nodes;
  friend bool operator==(const link_destinations&, const link_destinations&) = default;
};

using destinations_by_link = std::vector<link_destinations>;

/// The nodes behind this link; empty if there are none.
inline const std::vector<destination>& nodes_via(const destinations_by_link& all,
                                                 const void* via) noexcept {
  static const std::vector<destination> none;
  const auto found = std::ranges::find(all, via, &link_destinations::via);
  return found == all.end() ? none : found->nodes;
}

} // namespace pubsub
