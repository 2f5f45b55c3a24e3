// What a proxy of a Zeek cluster has counted, in the text format of Prometheus.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <pubsub/cluster/zeromq_proxy.hpp>

namespace pubsub::tool {

std::string metrics_of(const cluster::zeromq_proxy_counters& x);

} // namespace pubsub::tool
