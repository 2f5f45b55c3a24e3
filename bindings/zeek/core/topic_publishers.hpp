// Publishers for the topics that were used last.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include <pubsub/endpoint.hpp>
#include <pubsub/publisher.hpp>

namespace pubsub::zeek::backend {

/// A publisher keeps its routes at hand, so it is worth keeping; scripts may use any number of
/// topics, so not all are kept. Not thread-safe.
class topic_publishers {
public:
  static constexpr std::size_t max_kept = 256;

  explicit topic_publishers(endpoint& at) : at_(at) {}

  /// The publisher of a topic, at least until the next call.
  publisher& of(std::string_view topic);
  std::size_t size() const noexcept { return recent_.size(); }

private:
  endpoint& at_;
  std::list<publisher> recent_; // what was used last is in front
  std::unordered_map<std::string_view, std::list<publisher>::iterator> by_topic_;
};

} // namespace pubsub::zeek::backend
