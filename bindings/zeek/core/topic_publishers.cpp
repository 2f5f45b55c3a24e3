// SPDX-License-Identifier: BSD-3-Clause
#include "topic_publishers.hpp"

namespace pubsub::zeek::backend {

publisher& topic_publishers::of(std::string_view topic) {
  if (const auto found = by_topic_.find(topic); found != by_topic_.end()) {
    recent_.splice(recent_.begin(), recent_, found->second);
    return recent_.front();
  }
  if (recent_.size() == max_kept) {
    by_topic_.erase(recent_.back().topic());
    recent_.pop_back();
  }
  recent_.push_front(at_.make_publisher(topic));
  by_topic_.emplace(recent_.front().topic(), recent_.begin());
  return recent_.front();
}

} // namespace pubsub::zeek::backend
