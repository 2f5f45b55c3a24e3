// What a consumer may do itself instead of sleeping.
#pragma once

#include <chrono>
#include <cstdint>

namespace pubsub {

/// Brings messages by running handlers, on one thread at a time: its own, or that of a consumer
/// that waits for them. Thread-safe.
class shared_loop {
public:
  enum class answer : std::uint8_t {
    entered, ///< run handlers, and `leave`
    later,   ///< its own thread has it, and lets go once it has woken this consumer
    refused,
  };

  virtual answer enter() noexcept = 0;
  /// Runs one handler, waiting for it; false if there is none until then, or never will be.
  virtual bool run_one() noexcept = 0;
  /// Runs the handlers that are ready.
  virtual void run_ready() noexcept = 0;
  virtual bool run_one(std::chrono::steady_clock::time_point until) noexcept = 0;
  /// Its own thread steps in soon, unless somebody enters again before.
  virtual void leave() noexcept = 0;
  /// Ends the wait of the one that has entered, once.
  virtual void interrupt() noexcept = 0;
  /// A consumer sleeps somewhere else; `keen` if it would rather have entered. True if it has now,
  /// and does not sleep.
  virtual bool begin_blocking(bool keen) noexcept = 0;
  virtual void end_blocking(bool keen) noexcept = 0;
  /// A handler has woken one that is keen, and was the only one.
  virtual void offer() noexcept = 0;

protected:
  ~shared_loop() = default;
};

} // namespace pubsub
