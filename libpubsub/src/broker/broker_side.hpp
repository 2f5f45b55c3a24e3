// Broker's endpoint, as a bridge sees it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/error.hpp>
#include <pubsub/filter.hpp>

#include "broker/inlet.hpp"

namespace pubsub::broker {

/// Takes messages from an endpoint of Broker into an inlet, and gives it others. Stays valid when
/// the endpoint is destroyed. Thread-safe, but `give` is for one thread.
class broker_side {
public:
  using deadline = std::chrono::steady_clock::time_point;

  broker_side() = default;
  broker_side(const broker_side&) = delete;
  broker_side& operator=(const broker_side&) = delete;
  virtual ~broker_side();

  /// Waits until Broker knows which topics are wanted. False at the deadline, or if it is gone.
  virtual bool wait_ready(deadline until) = 0;
  /// Hands messages to Broker's own subscribers, in order. Waits while Broker does not keep up.
  /// False if some may not have been handed over: Broker is gone, or the limit is over.
  virtual bool give(const std::vector<data_message>& messages) = 0;
  /// From this time on `give` does not wait.
  virtual void limit(deadline until) = 0;
  /// Of all messages, how many Broker has been given.
  virtual std::uint64_t given() const = 0;
  /// Of all messages, how many have a value that Broker cannot hold.
  virtual std::uint64_t unconvertible() const = 0;
  /// The inlet does not hold back any more.
  virtual void resume() = 0;
  /// Takes no more, gives what was handed over until the deadline, and leaves.
  virtual void leave(deadline until) = 0;
  /// Broker's endpoint is destroyed, or was left.
  virtual bool gone() const = 0;
};

/// Errors: shutting_down, unspecified. `on_gone` is called at most once, from any thread, and not
/// after `leave` has returned; it must not block.
expected<std::shared_ptr<broker_side>> enter(::broker::endpoint& theirs, const filter& wanted,
                                             std::shared_ptr<inlet> to,
                                             std::function<void()> on_gone);

} // namespace pubsub::broker
