// A long-running flow of messages: a callback fed by a subscription, or a generator being drained.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <pubsub/data_message.hpp>
#include <pubsub/export.hpp>

namespace pubsub {

/// Runs a task on a thread of the caller's choosing; the task lasts as long as its stream. The
/// default starts a thread of its own.
using task_runner = std::function<void(std::function<void()> task)>;

class stream_core;

/// Owns a running flow. Destroying it stops the flow and waits until its task has returned, so the
/// callback never runs after that. An exception thrown by the callback or generator ends the flow
/// and is rethrown by `wait`. Thread-safety: all members may be called from any thread but the
/// task's own, except `stop`, which may be called from anywhere.
class PUBSUB_EXPORT stream {
public:
  stream(stream&&) noexcept;
  stream& operator=(stream&&) noexcept;
  ~stream();

  /// Asks the flow to end after the message at hand. Never blocks.
  void stop() noexcept;
  /// Waits until the flow has ended: stopped, generator exhausted, or endpoint closed.
  void wait();
  /// False once the flow has ended.
  bool running() const noexcept;
  /// Messages handled so far.
  std::uint64_t messages() const noexcept;

private:
  friend class endpoint;
  explicit stream(std::shared_ptr<stream_core> core);

  std::shared_ptr<stream_core> core_;
};

} // namespace pubsub
