// Which thread runs a loop: the loop's own, or a consumer that waits for what the loop brings.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>

#include "base/unique_fd.hpp"

namespace pubsub {

/// The loop belongs to the thread that waits in it. A consumer that is the only one to wait takes
/// it over, and leaves it unattended: no thread is woken for that. Invariant: a loop is unattended
/// only while no consumer sleeps, and for `longest_absence` at most; then its own thread, which
/// sleeps on a timer, takes it. A loop that has made another thread wait is closed to consumers for
/// `closed_for`. While nothing moves no timer runs. Thread-safe; `begin`, `asked` and `stand_by`
/// are for the loop's own thread.
class loop_ownership {
public:
  using clock = std::chrono::steady_clock;

  loop_ownership();
  bool take() noexcept { return !taken_.exchange(true); }
  void give_back() noexcept { taken_ = false; }

  // -- a consumer that waits -------------------------------------------------------------------

  /// True if it has the loop now. Otherwise it asks the loop's own thread to let go.
  bool enter() noexcept;
  void leave() noexcept;
  /// The consumer sleeps elsewhere. True if it has the loop instead, which was unattended.
  bool begin_sleep(bool wants_loop) noexcept;
  void end_sleep() noexcept { --sleepers_; }

  // -- the loop's own thread -------------------------------------------------------------------

  /// Takes the loop for the first time; until then consumers may not.
  void begin() noexcept;
  /// Whether a consumer wants the loop, and no consumer sleeps.
  bool asked() const noexcept { return asked_ && sleepers_ == 0; }
  enum class reason : unsigned char { absence, needed, stopped };
  /// Lets go, and returns with the loop when a consumer sleeps or none has had the loop for a
  /// while; once stopped, without it.
  reason stand_by() noexcept;
  /// Something waited while no thread had the loop.
  void close_to_consumers() noexcept;

  void stop() noexcept;

private:
  bool unattended() const noexcept { return !own_ && !taken_; }
  bool open() const noexcept;
  void watch_absence() noexcept;
  void call_own_thread() noexcept;
  void start_timer(clock::duration delay) noexcept;
  void await_timer() noexcept;

  const unique_fd timer_; // invalid where the process has no descriptor left: never open
  std::atomic<bool> taken_{false};
  std::atomic<bool> own_{true}; // the loop's own thread has it, or is about to
  std::atomic<bool> asked_{false};
  std::atomic<bool> timer_runs_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<int> sleepers_{0};
  std::atomic<clock::time_point> left_at_{};
  std::atomic<clock::time_point> closed_until_{clock::time_point::max()};
};

} // namespace pubsub
