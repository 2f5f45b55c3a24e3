// The loggers that are in reach, of which each batch of records goes to one.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/endpoint.hpp>
#include <pubsub/value/endpoint_id.hpp>

namespace pubsub::zeek::backend {

/// A logger subscribes to the topic that has its id; who sees that sends to it. Takes loggers in
/// turn and passes over those whose link is full. Not thread-safe.
class logger_pool {
public:
  static constexpr std::string_view prefix = "zeek/cluster/log/";

  /// `on_full`: the policy of the links of `at`.
  logger_pool(endpoint& at, overflow_policy on_full) : at_(at), on_full_(on_full) {}

  /// The topic that a logger subscribes to.
  static std::string topic_of(const endpoint_id& logger);

  /// A node wants a topic, or does not any more. Only its own topic makes it a logger.
  void topic_added(const endpoint_id& node, std::string_view topic);
  void topic_removed(const endpoint_id& node, std::string_view topic);
  void node_lost(const endpoint_id& node);
  std::size_t size() const noexcept { return loggers_.size(); }

  /// False if no logger is in reach, or the links to all of them are full. No logger has got it
  /// then.
  bool try_send(std::span<const std::byte> value);

private:
  struct logger {
    endpoint_id id;
    publisher to;
  };

  bool takes(logger& next, std::span<const std::byte> value);

  endpoint& at_;
  const overflow_policy on_full_;
  std::vector<logger> loggers_;
  std::size_t next_ = 0;
};

} // namespace pubsub::zeek::backend
