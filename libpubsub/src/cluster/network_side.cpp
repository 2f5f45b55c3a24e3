// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/network_side.hpp"

#include "cluster/topic_names.hpp"

#include <string_view>
#include <utility>

#include <unistd.h>

namespace pubsub::cluster {

namespace {

// A node of the cluster's layout subscribes to its own topic below this one, and all others greet
// it. A shorter prefix brings the same messages, and other nodes do not take its subscriber
// for one.
constexpr std::string_view topics_of_nodes = "zeek.cluster.nodeid.";

} // namespace

endpoint_options options_of_node(std::string name, const queue_options& incoming) {
  endpoint_options result;
  result.name = std::move(name);
  result.forwarding = forwarding::on; // the node is told what others subscribe to
  result.own_messages = own_messages::ignore;
  result.link_queue = incoming;
  return result;
}

expected<void> listen_for_network(endpoint& node, const std::string& address) {
  ::unlink(address.substr(address.find("://") + 3).c_str());
  const auto listening = node.listen(address);
  return listening ? expected<void>{} : listening.error();
}

void add_in_cluster(std::set<std::string>& to, std::string_view prefix, topic_names how) {
  if (is_reserved_topic(prefix))
    return;
  for (auto& each : prefixes_in_cluster(prefix, how)) {
    if (each.starts_with(topics_of_nodes))
      each = topics_of_nodes.substr(0, topics_of_nodes.size() - 1);
    to.insert(std::move(each));
  }
}

std::set<std::string> wanted_in_cluster(const endpoint& node, topic_names how) {
  std::set<std::string> result;
  for (const auto& peer : node.peers())
    for (const auto& prefix : peer.filter)
      add_in_cluster(result, prefix, how);
  return result;
}

void partners::find(const endpoint& node, const std::function<bool(const node_info&)>& is_one) {
  forget();
  for (const auto& each : node.nodes()) {
    if (each.next_hop == endpoint_id{} || !is_one(each))
      continue;
    nodes_.insert(each.id);
    active_ = active_ && node.id() < each.id;
  }
}

bool partners::have_published(const data_message& message) const {
  if (nodes_.empty())
    return false;
  const auto from = get_publishing_endpoint(message);
  return from && nodes_.contains(*from);
}

} // namespace pubsub::cluster
