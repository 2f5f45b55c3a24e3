// Which nodes of the network the messages on a topic are for.
#pragma once

#include <algorithm>
#include <vector>

#include <pubsub/endpoint_id.hpp>

namespace pubsub {

/// Nodes that are reached over the same link. Who sends a message splits its audience among its
/// links, and so does every relay on the way: no node is named twice, so none gets it twice.
struct audience {
  const void* via = nullptr; ///< the link
  std::vector<endpoint_id> nodes;
  friend bool operator==(const audience&, const audience&) = default;
};

using audiences = std::vector<audience>;

/// The nodes behind this link; empty if there are none.
inline const std::vector<endpoint_id>& nodes_via(const audiences& all, const void* via) noexcept {
  static const std::vector<endpoint_id> none;
  const auto found = std::ranges::find(all, via, &audience::via);
  return found == all.end() ? none : found->nodes;
}

} // namespace pubsub
