// Which nodes of the network the messages on a topic are for.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include <boost/container/small_vector.hpp>

#include <pubsub/value/endpoint_id.hpp>

namespace pubsub {

/// A node that messages are for, and the number of the last filter report of that node which the
/// publishing node had received. Subscriptions that began later do not get these messages: so a
/// message that was under way when one subscription ended does not appear, with a gap behind it, in
/// another that begins.
struct destination {
  /// As a filter number: the message is addressed to this node, and for all subscriptions it has.
  static constexpr auto addressed = std::numeric_limits<std::uint64_t>::max();

  endpoint_id node;
  std::uint64_t filter_number = 0;
  /// Of what is addressed: a client of that node, which the messages are for in its place.
  endpoint_id client = {};
  friend auto operator<=>(const destination&, const destination&) = default;
};

/// Destinations that are reached over the same link. The publishing node splits the destinations of
/// a message among its links, and so does every relay: no node is named twice, so none gets the
/// message twice.
struct link_destinations {
  const void* via = nullptr;                            ///< the link
  boost::container::small_vector<destination, 1> nodes; ///< of a client, one
  friend bool operator==(const link_destinations&, const link_destinations&) = default;
  friend std::strong_ordering operator<=>(const link_destinations&,
                                          const link_destinations&) = default;
};

/// In the order of the links' addresses: there may be thousands, of clients.
using destinations_by_link = std::vector<link_destinations>;

/// Whether the messages are addressed to one node.
inline bool is_addressed(const destinations_by_link& all) noexcept {
  return !all.empty() && all.front().nodes.front().filter_number == destination::addressed;
}

/// In memory.
inline std::size_t bytes_of(const destinations_by_link& all) noexcept {
  std::size_t result = all.size() * sizeof(link_destinations);
  for (const auto& each : all)
    result += each.nodes.size() * sizeof(destination);
  return result;
}

/// The nodes behind this link; empty if there are none.
inline std::span<const destination> nodes_via(const destinations_by_link& all,
                                              const void* via) noexcept {
  const auto found =
      std::ranges::lower_bound(all, via, std::less<const void*>{}, &link_destinations::via);
  if (found == all.end() || found->via != via)
    return {};
  return {found->nodes.data(), found->nodes.size()};
}

} // namespace pubsub
