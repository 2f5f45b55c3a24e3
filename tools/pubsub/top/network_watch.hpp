// Asks the nodes of a network again and again, and tells a model what they answer.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <set>
#include <string>

#include <pubsub/endpoint.hpp>

#include "top/asker.hpp"
#include "top/network_model.hpp"

namespace pubsub::tool {

class network_watch {
public:
  /// `timeout`: how long a node has to answer. The endpoint is linked with one node of the network.
  network_watch(endpoint& ep, network_model& model, std::chrono::nanoseconds timeout);
  network_watch(const network_watch&) = delete;
  network_watch& operator=(const network_watch&) = delete;
  /// Closes the endpoint, so that nothing is waited for.
  ~network_watch();

  /// Asks every node, and who there is. Returns at once.
  void ask();
  /// From now on this node is asked for all its links and subscribers that it tells; others only
  /// for their counters and some links, so that hundreds of nodes can be asked every second. Empty:
  /// no node.
  void look_closely_at(const std::string& node) { close_ = node; }
  /// The same of all nodes.
  void look_closely_at_all() { close_at_all_ = true; }
  /// Tells the model what has been answered, and asks nodes that are new. False if there was
  /// nothing.
  bool take();
  /// Whether all nodes that answered before have answered again, or will not, and the model has
  /// been told.
  bool settled() const { return asker_.settled(); }
  /// Readable while there is something to take.
  int fd() const noexcept { return asker_.fd(); }

private:
  void ask_nodes();
  void ask_node(const std::string& id);

  endpoint& ep_;
  network_model& model_;
  const std::chrono::nanoseconds timeout_;
  std::string close_;
  bool close_at_all_ = false;
  std::set<std::string> asked_; ///< in this round
  asker asker_;
};

} // namespace pubsub::tool
