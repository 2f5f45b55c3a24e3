// SPDX-License-Identifier: BSD-3-Clause
#include "recording/ring_trigger.hpp"

#include <utility>

#include <pubsub/data_view.hpp>

namespace pubsub::tool {

bool ring_trigger::look_at(std::span<const data_message> messages, timestamp when,
                           clock::time_point now) {
  bool begun = false;
  for (const auto& msg : messages) {
    if (matcher_.judge(get_topic(msg), get_view(msg).bytes()) != condition_verdict::yes)
      continue;
    if (waiting_) {
      ++waiting_->more;
      ++more_;
      continue;
    }
    waiting_ = ring_request{std::string{get_topic(msg)}, when};
    due_ = now + after_;
    ++requests_;
    begun = true;
  }
  return begun;
}

std::optional<ring_request> ring_trigger::take() {
  due_.reset();
  return std::exchange(waiting_, std::nullopt);
}

} // namespace pubsub::tool
