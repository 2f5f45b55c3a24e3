// Discovery by name: says again and again that this part of a pattern is there.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <pubsub/endpoint.hpp>
#include <pubsub/publisher.hpp>

#include "pattern/mailbox/tuning.hpp"

namespace pubsub::pattern {

/// Parts of a pattern find each other by the topic of a name: a part announces itself there, and
/// its partners answer on its own topic, or announce themselves on another. Announcements may be
/// lost, or come before a partner listens, so they are repeated; often at first. Not thread-safe.
class announcer {
public:
  using time = std::chrono::steady_clock::time_point;

  explicit announcer(std::shared_ptr<endpoint> at) : at_(std::move(at)) {}

  /// From now on announcements go there, too; the next one is due at once.
  void add(const std::string& topic) {
    if (!to_.try_emplace(topic, at_->make_publisher(topic)).second)
      return;
    next_ = {};
    pause_ = tuning::first_announcement_pause;
  }
  /// When `announce` is due; never while there is no topic.
  time next() const noexcept { return to_.empty() ? time::max() : next_; }
  bool is_due(time now) const noexcept { return now >= next(); }
  /// To all names; what a link has no room for goes with the next.
  void announce(std::span<const std::byte> message, time now) {
    for (auto& [topic, out] : to_)
      (void)out.try_publish(message);
    next_ = now + pause_;
    pause_ = std::min(2 * pause_, tuning::longest_announcement_pause);
  }
  /// Some partner listens to one of the names.
  bool is_heard() const {
    return std::ranges::any_of(to_, [](const auto& each) { return each.second.subscribers() > 0; });
  }

private:
  std::shared_ptr<endpoint> at_;
  std::map<std::string, publisher> to_;
  time next_{};
  std::chrono::milliseconds pause_ = tuning::first_announcement_pause;
};

} // namespace pubsub::pattern
