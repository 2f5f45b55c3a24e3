// SPDX-License-Identifier: BSD-3-Clause
#include "logger_pool.hpp"

#include <algorithm>

namespace pubsub::zeek::backend {

std::string logger_pool::topic_of(const endpoint_id& logger) {
  return std::string{prefix} + to_string(logger) + "/";
}

void logger_pool::topic_added(const endpoint_id& node, std::string_view topic) {
  if (!topic.starts_with(prefix) || topic != topic_of(node))
    return;
  node_lost(node);
  loggers_.push_back({node, at_.make_publisher(topic)});
}

void logger_pool::topic_removed(const endpoint_id& node, std::string_view topic) {
  if (topic.starts_with(prefix) && topic == topic_of(node))
    node_lost(node);
}

void logger_pool::node_lost(const endpoint_id& node) {
  std::erase_if(loggers_, [&](const logger& each) { return each.id == node; });
}

bool logger_pool::try_send(std::span<const std::byte> value) {
  for (std::size_t tried = 0; tried < loggers_.size(); ++tried) {
    next_ = (next_ + 1) % loggers_.size();
    if (takes(loggers_[next_], value))
      return true;
  }
  return false;
}

/// A link that drops what is oldest has taken this batch, and lost another one.
bool logger_pool::takes(logger& next, std::span<const std::byte> value) {
  const auto result = next.to.try_publish(value);
  return result == publish_result::taken ||
         (result == publish_result::dropped && on_full_ == overflow_policy::drop_oldest);
}

} // namespace pubsub::zeek::backend
