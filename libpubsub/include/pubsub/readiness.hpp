// Whether a subscription is known everywhere.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>

#include <pubsub/export.hpp>

namespace pubsub {

class readiness_core;

/// Of a subscriber, as `subscriber::begin_ready` has found its topics: topics that are added later
/// are not waited for. Once it is ready, or closed, it stays so. May outlive the subscriber.
class PUBSUB_EXPORT readiness {
public:
  readiness(readiness&&) noexcept;
  readiness& operator=(readiness&&) noexcept;
  ~readiness();

  /// A file descriptor that is readable once this is ready or closed (level-triggered); owned by
  /// this. Do not read from it.
  int fd() const;
  /// Whether every node that was within reach, or has come since, knows the subscription, and
  /// Broker peers have read it: what they publish from then on arrives. Never blocks.
  bool ready() const;
  /// Whether it will never be ready: the subscriber, or its endpoint, was closed before.
  bool closed() const;
  /// Waits until it is ready. False at the timeout, or if closed.
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds timeout);

private:
  friend class subscriber;
  explicit readiness(std::unique_ptr<readiness_core> core);

  std::unique_ptr<readiness_core> core_;
};

} // namespace pubsub
