// Receives status and error events of an endpoint's peerings.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include <pubsub/export.hpp>
#include <pubsub/received.hpp>
#include <pubsub/status.hpp>

namespace pubsub {

class status_queue;

/// Sees events from its creation on, in order, up to 65,536 unread ones; beyond that the oldest go
/// and are counted. Thread-safety: one consuming thread at a time.
class PUBSUB_EXPORT status_subscriber {
public:
  status_subscriber(status_subscriber&&) noexcept;
  status_subscriber& operator=(status_subscriber&&) noexcept;
  ~status_subscriber();

  /// Takes the next event. Blocks until there is one, or the endpoint is closed and all events are
  /// read.
  received<status> get();
  /// As `get`, but blocks for at most `timeout`.
  received<status> get_for(std::chrono::nanoseconds timeout);
  /// As `get`, but never blocks.
  received<status> try_get();
  /// Readable while an event is available or the endpoint is closed (level-triggered).
  int fd() const;
  /// Events that can be taken without waiting.
  std::size_t available() const;
  /// Events discarded because too many were unread.
  std::uint64_t dropped() const;

private:
  friend class endpoint;
  explicit status_subscriber(std::shared_ptr<status_queue> queue);

  std::shared_ptr<status_queue> queue_;
};

} // namespace pubsub
