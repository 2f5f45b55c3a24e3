// The endpoint that stands for a cluster in the network, as every kind of session has one.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include <pubsub/cluster/topic_names.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/endpoint_options.hpp>
#include <pubsub/queue_options.hpp>

#include "cluster/tuning.hpp"

namespace pubsub::cluster {

/// It does not hear what it says itself, and what it subscribes to can be told from what the others
/// do. `incoming`: of its link to the network.
endpoint_options options_of_node(std::string name, const queue_options& incoming);

/// Of its subscriber to what the cluster is to get. It holds back what is behind it, for which the
/// queue of the endpoint's link has a policy.
inline constexpr queue_options outgoing_queue{.policy = overflow_policy::block,
                                              .capacity_messages = 4 * tuning::messages_a_turn};

/// Listens at `unix://PATH`, where a socket may be left over. Errors: those of `endpoint::listen`.
expected<void> listen_for_network(endpoint& node, const std::string& address);

/// Adds what to subscribe to in the cluster so that whatever begins with `prefix` outside comes;
/// nothing for reserved topics.
void add_in_cluster(std::set<std::string>& to, std::string_view prefix, topic_names how);

/// What the network wants of the cluster, by the names that topics have there.
std::set<std::string> wanted_in_cluster(const endpoint& node, topic_names how);

/// Calls `remove` for what is only in `before`, and `add` for what is only in `after`.
template <class Add, class Remove>
void for_changes(const std::set<std::string>& before, const std::set<std::string>& after, Add add,
                 Remove remove) {
  for (const auto& each : after)
    if (!before.contains(each))
      add(each);
  for (const auto& each : before)
    if (!after.contains(each))
      remove(each);
}

/// Other nodes of the network that stand for the same cluster. Of all of them, that with the lowest
/// id does the work: with two of them all events would come twice, and circle.
class partners {
public:
  /// `is_one` says of a node whether it stands for the cluster.
  void find(const endpoint& node, const std::function<bool(const node_info&)>& is_one);
  /// There are none.
  void forget() {
    nodes_.clear();
    active_ = true;
  }

  const std::set<endpoint_id>& nodes() const noexcept { return nodes_; }
  /// Whether this node is to do the work; not before it is known.
  bool active() const noexcept { return active_; }
  bool have_published(const data_message& message) const;

private:
  std::set<endpoint_id> nodes_;
  bool active_ = false;
};

} // namespace pubsub::cluster
