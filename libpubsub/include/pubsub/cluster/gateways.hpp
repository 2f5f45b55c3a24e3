// The addresses of Zeek clusters, for `endpoint_options::gateways`: of the component
// pubsub::cluster.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <pubsub/export.hpp>
#include <pubsub/gateway.hpp>

namespace pubsub::cluster {

/// `zeek+zmq://`, as `zeromq_options_from` takes it, and `ws://` and `wss://`, as
/// `websocket_options_from` does. `peer_options::link_queue` is the queue of
/// what waits for the cluster, and its capacity that of what has come from there; of the policies,
/// those that drop hold for the latter, too.
PUBSUB_EXPORT std::vector<gateway_scheme> gateways();

} // namespace pubsub::cluster
