// Receives status and error events of an endpoint's peerings.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <pubsub/status.hpp>

namespace pubsub {

class status_queue;

/// Sees events from its creation on, in order, up to 65,536 unread ones; beyond that the oldest go
/// and are counted. Thread-safety: one consuming thread at a time.
class status_subscriber {
public:
  status_subscriber(status_subscriber&&) noexcept;
  status_subscriber& operator=(status_subscriber&&) noexcept;
  ~status_subscriber();

  /// Waits for the next event. Nothing once the endpoint is closed and all events are read.
  std::optional<status> get();
  /// Waits at most `timeout`.
  std::optional<status> get(std::chrono::nanoseconds timeout);
  /// Everything there is. Never blocks.
  std::vector<status> poll();
  /// Readable while an event is available or the endpoint is closed (level-triggered).
  int fd() const;
  std::size_t available() const;
  /// Events discarded because too many were unread.
  std::uint64_t dropped() const;

private:
  friend class endpoint;
  explicit status_subscriber(std::shared_ptr<status_queue> queue);

  std::shared_ptr<status_queue> queue_;
};

} // namespace pubsub
