// Where messages go at one moment, and the exits of one message.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "message/destinations.hpp"
#include "node/broker_mesh/broker_mesh.hpp"
#include "queue/message_queue.hpp"
#include "route/prefix_index.hpp"

namespace pubsub {

/// The link that leads to each node within reach.
using link_directory = std::unordered_map<endpoint_id, std::shared_ptr<peer_link>>;

/// The exits a message takes.
struct route {
  std::vector<std::shared_ptr<message_queue>> queues;
  std::vector<std::shared_ptr<peer_link>> links; // of Broker peers, then of the network
  std::size_t broker_peers = 0;
  std::vector<bounded_queue*> exits;                 // of the queues, then of the links
  std::shared_ptr<const destinations_by_link> nodes; // destinations, by link of the network

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
};

/// An immutable picture of all subscriptions; const access is concurrent.
struct routing_snapshot {
  prefix_index<std::shared_ptr<message_queue>> queues;
  prefix_index<endpoint_id> remote;           // Broker peers and nodes of the network
  prefix_index<std::uint64_t> filter_numbers; // by node: how far its subscriptions are known
  std::shared_ptr<const link_directory> next_links;
  std::shared_ptr<const broker_routes> broker;
};

} // namespace pubsub
