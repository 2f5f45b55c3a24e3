// SPDX-License-Identifier: BSD-3-Clause
#include "queue/stream_tracker.hpp"

namespace pubsub {

void stream_tracker::note(const run_origin& origin, std::uint32_t messages) {
  const name id{origin.endpoint, origin.stream};
  const auto next = origin.first_sequence + messages;
  if (streams_.empty() || streams_.front().id != id) {
    const auto known = by_name_.find(id);
    if (known == by_name_.end())
      return add(id, next);
    streams_.splice(streams_.begin(), streams_, known->second);
  }
  auto& found = streams_.front();
  if (origin.first_sequence < found.next)
    ++restarts_;
  else if (has_one_topic(origin.stream))
    missed_ += origin.first_sequence - found.next;
  found.next = next;
}

void stream_tracker::add(const name& id, std::uint64_t next) {
  if (by_name_.size() == max_streams) {
    by_name_.erase(streams_.back().id);
    streams_.pop_back();
  }
  streams_.push_front({id, next});
  by_name_.emplace(id, streams_.begin());
}

void stream_tracker::forget() noexcept {
  by_name_.clear();
  streams_.clear();
}

} // namespace pubsub
