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
struct addressee {
  endpoint_id node;
  std::uint64_t wants = 0;
  friend bool operator==(const addressee&, const addressee&) = default;
};

/// Nodes that are reached over the same link. Who sends a message splits its audience among its
/// links, and so does every relay on the way: no node is named twice, so none gets it twice.
struct audience {
  const void* via = nullptr; ///< the link
  std::vector<addressee> nodes;
  friend bool operator==(const audience&, const audience&) = default;
};

using audiences = std::vector<audience>;

/// The nodes behind this link; empty if there are none.
inline const std::vector<addressee>& nodes_via(const audiences& all, const void* via) noexcept {
  static const std::vector<addressee> none;
  const auto found = std::ranges::find(all, via, &audience::via);
  return found == all.end() ? none : found->nodes;
}

} // namespace pubsub
