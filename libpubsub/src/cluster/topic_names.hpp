// Topics of nodes in ZeroMQ clusters and in Broker clusters: `zeek.cluster.worker` and
// `zeek/cluster/worker`.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <pubsub/cluster/topic_names.hpp>

namespace pubsub::cluster {

/// A topic of the cluster as it is called outside. With `topic_names::mapped` those that begin with
/// `zeek.cluster.` get slashes: in place of these two dots, the next one, and one at the end. Dots
/// within the names of nodes stay. All other topics are the same on both sides.
std::string to_outside(std::string_view topic, topic_names how);

/// The other way round.
std::string to_cluster(std::string_view topic, topic_names how);

/// What to subscribe to in the cluster so that whatever begins with `prefix` outside comes; it may
/// bring more. A prefix that ends within `zeek/cluster/` takes two.
std::vector<std::string> prefixes_in_cluster(std::string_view prefix, topic_names how);

/// The same for what nodes of the cluster subscribe to.
std::vector<std::string> prefixes_outside(std::string_view prefix, topic_names how);

} // namespace pubsub::cluster
