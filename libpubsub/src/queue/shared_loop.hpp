// An I/O loop that a consumer may run in place of the loop's own thread.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>

namespace pubsub {

/// Brings messages by running handlers, on one thread at a time: its own, or that of a consumer
/// that waits for them. Thread-safe; nothing but `run` waits.
class shared_loop {
public:
  /// The calling consumer takes the loop, and must `leave` it. False where the loop is closed to
  /// consumers or another thread has it; its own thread then lets go as soon as no consumer sleeps.
  virtual bool enter() noexcept = 0;
  /// Runs one handler, waiting for it until `until`; false if there was none, or the loop has
  /// ended.
  virtual bool
  run_one(const std::optional<std::chrono::steady_clock::time_point>& until) noexcept = 0;
  /// Runs the handlers that are ready.
  virtual void run_ready() noexcept = 0;
  /// Its own thread takes the loop soon, unless a consumer enters before.
  virtual void leave() noexcept = 0;
  /// Ends the wait of the thread that has entered, once.
  virtual void interrupt() noexcept = 0;
  /// A consumer sleeps elsewhere until `end_sleep`, and its own thread runs the loop meanwhile.
  /// True where the loop was free and the consumer `wants` to run it: it has entered, and does not
  /// sleep.
  virtual bool begin_sleep(bool wants) noexcept = 0;
  virtual void end_sleep() noexcept = 0;

protected:
  ~shared_loop() = default;
};

} // namespace pubsub
