// Where messages go at one moment.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "link/peer_link.hpp"
#include "message/destinations.hpp"
#include "node/broker_mesh/broker_mesh.hpp"
#include "node/routing/client_directory.hpp"
#include "queue/message_queue.hpp"
#include "route/network_map.hpp"
#include "route/prefix_index.hpp"
#include "route/reports.hpp"
#include "wire/native/network.hpp"

namespace pubsub {

/// The link that leads to each node within reach.
using link_directory = std::unordered_map<endpoint_id, std::shared_ptr<peer_link>>;

/// Each to the neighbours that it is for.
inline letters reports_along(const std::vector<network_map::message>& all,
                             const link_directory& neighbours) {
  letters result;
  for (const auto& [to, what] : all) {
    auto& fresh = result.emplace_back();
    fresh.frame = std::visit([](const auto& x) { return wire::make_report(x); }, *what);
    for (const auto& id : to)
      if (const auto found = neighbours.find(id); found != neighbours.end())
        fresh.to.push_back(found->second);
  }
  return result;
}

/// To the next hops, each with its part of the nodes.
inline letters ask_along(const filter_question& question, const link_directory& directions) {
  std::map<std::shared_ptr<peer_link>, std::vector<endpoint_id>> parts;
  for (const auto& node : question.to)
    if (const auto path = directions.find(node); path != directions.end())
      parts[path->second].push_back(node);
  letters result;
  for (auto& [via, nodes] : parts)
    result.push_back(
        {{via}, wire::make_question({question.from, question.hops_left, std::move(nodes)})});
  return result;
}

/// On to the node that the answer is for, with one hop less left; nothing if it goes no further.
/// `make` writes its frame.
template <class Answer, class Make>
letters answer_along(Answer answer, const link_directory& directions, Make make) {
  const auto path = directions.find(answer.to);
  if (path == directions.end() || answer.hops_left-- <= 1)
    return {};
  letters result;
  result.push_back({{path->second}, make(answer)});
  return result;
}

/// The links that lead to all nodes within reach, made anew when links of the network have changed;
/// and, as long as a neighbour stays one, what it led to before. Not thread-safe.
class next_link_cache {
public:
  /// Of each neighbour; who reports more makes this node forget the others.
  static constexpr std::size_t max_nodes_led_to = 16'384;

  /// `neighbours`: our links.
  const std::shared_ptr<const link_directory>& update(const network_map& network,
                                                      const link_directory& neighbours) {
    if (std::exchange(version_, network.links_version()) != network.links_version()) {
      auto fresh = std::make_shared<link_directory>();
      for (const auto& [node, hop] : network.next_hops())
        if (const auto via = neighbours.find(hop); via != neighbours.end())
          fresh->emplace(node, via->second);
      const auto before = std::exchange(links_, std::move(fresh));
      note_turned(*before);
    }
    return links_;
  }
  /// Whether this neighbour is or was the next hop to the node.
  bool has_led_to(const endpoint_id& node, const std::shared_ptr<peer_link>& neighbour) const {
    const auto now = links_->find(node);
    const auto before = led_to_.find(neighbour);
    return (now != links_->end() && now->second == neighbour) ||
           (before != led_to_.end() && before->second.contains(node));
  }

private:
  /// The nodes to which another link leads than before, or none.
  void note_turned(const link_directory& before) {
    std::erase_if(led_to_, [](const auto& each) { return each.first->closed(); });
    for (const auto& [node, via] : before)
      if (const auto now = links_->find(node);
          (now == links_->end() || now->second != via) && !via->closed()) {
        auto& nodes = led_to_[via];
        if (nodes.size() >= max_nodes_led_to)
          nodes.clear();
        nodes.insert(node);
      }
  }

  std::shared_ptr<const link_directory> links_ = std::make_shared<link_directory>();
  std::map<std::shared_ptr<peer_link>, std::unordered_set<endpoint_id>> led_to_;
  std::uint64_t version_ = 0;
};

/// An immutable picture of all subscriptions; const access is concurrent.
struct routing_snapshot {
  prefix_index<std::shared_ptr<message_queue>> queues;
  prefix_index<remote_target> remote;         // clients, Broker peers and nodes of the network
  prefix_index<selective_target> selective;   // what clients and nodes want under a condition
  prefix_index<std::uint64_t> filter_numbers; // by node: how far its subscriptions are known
  client_directory::link_index clients;
  std::shared_ptr<const link_directory> next_links;
  bool is_client = false; // all next links lead to relays that serve us
  std::shared_ptr<const broker_routes> broker;
};

} // namespace pubsub
