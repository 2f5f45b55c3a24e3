// A WebSocket client as a node of the endpoint's network.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <pubsub/access.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/error.hpp>
#include <pubsub/queue_options.hpp>

namespace pubsub::cluster {

/// What the node of a client is like.
struct client_node_options {
  std::string name;    ///< as of endpoints
  std::string address; ///< a socket of the file system, for it alone
  std::string alias;   ///< where the client is, as people are to see it
  std::vector<std::string> prefixes;
  queue_options queue;
  std::optional<access_rule> access; ///< nothing: it may do everything
};

/// An endpoint that hears nothing of what it says itself, its subscriber, and what happens to its
/// one peering. Made and destroyed where that may take a moment.
struct client_node {
  /// Returns once the endpoint was asked to peer with it. Errors: as of `listen` and `peer_async`.
  static expected<std::unique_ptr<client_node>> make(endpoint& peer,
                                                     const client_node_options& how);

  endpoint node;
  subscriber events;
  status_subscriber news;
};

/// A name that endpoints may have: what the client calls itself, if it does, and its address.
std::string client_node_name(const std::string& application, const std::string& address);

} // namespace pubsub::cluster
