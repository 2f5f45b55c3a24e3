// Logs that nodes of a cluster send, published as records.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/cluster/zeromq_member.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/zeek/log_batch.hpp>

#include "cluster/shared_counters.hpp"

namespace pubsub::cluster {

/// Publishes records on `zeek/records/<path>`, as events `log_<path>`; before the first record of a
/// log, whenever its columns change, and with the next record once a second has passed, its columns
/// as the event `log_fields`. Not thread-safe.
class log_feed {
public:
  explicit log_feed(shared_counters<zeromq_counters>& counts) noexcept : counts_(counts) {}

  /// A message that came for a logger: four frames.
  void publish(std::span<const std::string_view> frames, endpoint& to);

private:
  struct announced {
    std::vector<zeek::log_column> columns;
    std::chrono::steady_clock::time_point at{};
  };
  /// Nodes that send logs shall not make this side hold more names than this.
  static constexpr std::size_t max_logs = 10'000;

  void announce(const zeek::log_batch& batch, endpoint& to);

  shared_counters<zeromq_counters>& counts_;
  std::map<std::string, announced> announced_; // by path
};

} // namespace pubsub::cluster
