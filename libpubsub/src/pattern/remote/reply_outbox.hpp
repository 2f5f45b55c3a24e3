// Replies on their way to one client: what its link has no room for is kept, in order.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include <pubsub/publisher.hpp>

#include "pattern/mailbox/partner.hpp"

namespace pubsub::pattern {

/// Never blocks: one client that does not read keeps no worker from the others. Thread-safe.
class reply_outbox {
public:
  using time = std::chrono::steady_clock::time_point;

  explicit reply_outbox(publisher to) : to_(std::move(to)) {}

  /// `full`: the message is kept, and `flush` tries again.
  partner::outcome send(std::span<const std::byte> message) {
    const std::lock_guard lock{mutex_};
    const auto result = kept_.empty() ? to_.send(message) : partner::outcome::full;
    if (result == partner::outcome::full) {
      kept_.emplace_back(message.begin(), message.end());
      kept_bytes_ += message.size();
    }
    return result;
  }
  /// Only if it goes at once.
  void try_send(std::span<const std::byte> message) {
    const std::unique_lock lock{mutex_, std::try_to_lock};
    if (lock && kept_.empty())
      to_.send(message);
  }
  /// Sends what is kept, and waits for room until then; false if some is left.
  bool flush(time until) {
    const std::lock_guard lock{mutex_};
    const auto patience = [&] { return std::max(until - time::clock::now(), time::duration{0}); };
    while (!kept_.empty() && to_.send(kept_.front(), patience()) != partner::outcome::full) {
      kept_bytes_ -= kept_.front().size();
      kept_.pop_front();
    }
    return kept_.empty();
  }
  std::size_t kept_bytes() const {
    const std::lock_guard lock{mutex_};
    return kept_bytes_;
  }
  /// As of now, whether the client is there, and whether nothing should be kept for it any more.
  bool is_within_reach(time now) {
    const std::lock_guard lock{mutex_};
    to_.look(now);
    return to_.is_within_reach();
  }
  bool is_forgotten(time now) {
    const std::lock_guard lock{mutex_};
    to_.look(now);
    return to_.is_forgotten(now);
  }

private:
  mutable std::mutex mutex_; // guards all below
  partner to_;
  std::deque<std::vector<std::byte>> kept_;
  std::size_t kept_bytes_ = 0;
};

} // namespace pubsub::pattern
