// Events about peerings on their way to a status_subscriber.
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
  void push(const status& event);
  received<status> pull(const deadline& until);
  void finish();
  int fd();
  std::size_t size() const;
  std::uint64_t dropped() const;

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
  std::shared_ptr<status_queue> subscribe(status_events which);
  void publish(const status& event);
  void finish();

private:
  std::mutex mutex_; // guards everything below
  std::vector<std::weak_ptr<status_queue>> queues_;
  bool finished_ = false;
};

} // namespace pubsub
