// The exits of one message.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <pubsub/condition.hpp>

#include "link/peer_link.hpp"
#include "message/destinations.hpp"
#include "queue/message_queue.hpp"

namespace pubsub {

class route_selection;

/// What is wanted over one link: everything, or what fulfils one of these conditions.
struct link_wish {
  bool everything = true;
  std::vector<std::shared_ptr<const condition>> conditions = {}; // sorted, each once

  friend bool operator==(const link_wish&, const link_wish&) = default;
  friend auto operator<=>(const link_wish&, const link_wish&) = default;
};

/// Links that a message does not take although their peers want its topic.
struct peers_left_out {
  std::uint32_t denied = 0;   ///< their peers may not receive it
  std::uint32_t withheld = 0; ///< it fulfils no condition behind them

  bool any() const noexcept { return (denied | withheld) != 0; }
  friend auto operator<=>(const peers_left_out&, const peers_left_out&) = default;
};

/// The exits a message takes.
struct route {
  std::vector<std::shared_ptr<message_queue>> queues;
  std::vector<std::shared_ptr<peer_link>> links; // of Broker peers, then of the network
  std::size_t broker_peers = 0;
  std::vector<bounded_queue*> exits;                 // of the queues, then of the links
  std::shared_ptr<const destinations_by_link> nodes; // destinations, by link of the network
  std::uint32_t unreachable = 0;                     // destinations to which no link leads
  bool unwanted_here = false;                        // we are a destination, without a subscriber
  bool denied = false;                               // the peer may not publish on this topic
  peers_left_out left_out;
  std::vector<link_wish> wishes;              // one for each link; empty: all of everything
  std::shared_ptr<route_selection> selection; // if there are wishes

  std::span<bounded_queue* const> to_all() const noexcept { return exits; }
  std::span<bounded_queue* const> to_queues() const noexcept {
    return to_all().first(queues.size());
  }
  std::span<bounded_queue* const> to_links() const noexcept {
    return to_all().subspan(queues.size());
  }
  /// Peers that speak version 1.
  std::span<bounded_queue* const> to_broker_peers() const noexcept {
    return to_links().first(broker_peers);
  }
  std::span<bounded_queue* const> to_network() const noexcept {
    return to_links().subspan(broker_peers);
  }
  bool empty() const noexcept { return exits.empty(); }
  /// Whether any of its destinations is among these.
  template <class Nodes>
  bool is_for(const Nodes& some) const {
    return std::ranges::any_of(*nodes, [&](const auto& part) {
      return std::ranges::any_of(part.nodes,
                                 [&](const auto& each) { return some.contains(each.node); });
    });
  }
};

} // namespace pubsub
