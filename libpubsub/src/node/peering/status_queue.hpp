// Events about peerings on their way to a status_subscriber.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include <pubsub/received.hpp>
#include <pubsub/status.hpp>

#include "queue/deadline.hpp"
#include "queue/event_fd.hpp"

namespace pubsub {

/// Bounded; keeps the newest. Thread-safe.
class status_queue {
public:
  static constexpr std::size_t capacity = 65'536;

  explicit status_queue(status_events which) : which_(which) {}

  /// Ignores what its subscriber has not asked for.
  void push(const status& event) {
    if (which_ == status_events::errors && !event.is_error())
      return;
    {
      std::lock_guard lock{mutex_};
      if (finished_)
        return;
      if (events_.size() == capacity) {
        events_.pop_front();
        ++dropped_;
      }
      events_.push_back(event);
      fd_.set();
    }
    not_empty_.notify_one();
  }
  received<status> pull(const deadline& until) {
    std::unique_lock lock{mutex_};
    wait_until(not_empty_, lock, until, [&] { return finished_ || !events_.empty(); });
    if (events_.empty())
      return finished_ ? receive_status::closed : receive_status::timeout;
    auto result = std::move(events_.front());
    events_.pop_front();
    if (events_.empty() && !finished_)
      fd_.clear();
    return result;
  }
  void finish() {
    {
      std::lock_guard lock{mutex_};
      finished_ = true;
      fd_.set();
    }
    not_empty_.notify_all();
  }
  int fd() {
    std::lock_guard lock{mutex_};
    return fd_.open(finished_ || !events_.empty());
  }
  std::size_t size() const {
    std::lock_guard lock{mutex_};
    return events_.size();
  }
  std::uint64_t dropped() const {
    std::lock_guard lock{mutex_};
    return dropped_;
  }

private:
  const status_events which_;
  mutable std::mutex mutex_; // guards everything below
  std::condition_variable not_empty_;
  std::deque<status> events_;
  std::uint64_t dropped_ = 0;
  bool finished_ = false;
  event_fd fd_;
};

/// The status subscribers of one endpoint. Thread-safe.
class status_hub {
public:
  std::shared_ptr<status_queue> subscribe(status_events which) {
    auto result = std::make_shared<status_queue>(which);
    std::lock_guard lock{mutex_};
    if (finished_)
      result->finish();
    std::erase_if(queues_, [](const auto& each) { return each.expired(); });
    queues_.push_back(result);
    return result;
  }
  void publish(const status& event) {
    std::lock_guard lock{mutex_};
    for (const auto& each : queues_)
      if (auto queue = each.lock())
        queue->push(event);
  }
  void finish() {
    std::lock_guard lock{mutex_};
    finished_ = true;
    for (const auto& each : queues_)
      if (auto queue = each.lock())
        queue->finish();
  }

private:
  std::mutex mutex_; // guards everything below
  std::vector<std::weak_ptr<status_queue>> queues_;
  bool finished_ = false;
};

} // namespace pubsub
