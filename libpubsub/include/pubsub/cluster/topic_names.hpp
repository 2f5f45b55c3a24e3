// How topics are called inside and outside a Zeek cluster; belongs to the component
// pubsub::cluster. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace pubsub::cluster {

/// Topics of the nodes, which clusters with the ZeroMQ backend separate by dots
/// (`zeek.cluster.worker`, `zeek.cluster.node.worker-1.`) and those with Broker by slashes.
/// `mapped`: outside the cluster they have slashes (`zeek/cluster/worker`,
/// `zeek/cluster/node/worker-1/`), so that a program need not know which of them it talks to. All
/// other topics stay as they are.
enum class topic_names : std::uint8_t { mapped, as_they_are };

} // namespace pubsub::cluster
