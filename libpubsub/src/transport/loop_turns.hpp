// Which thread has the loop: its own, or one that waits for what the loop brings.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/unique_fd.hpp"

namespace pubsub {

/// One thread at a time has it, or none for a moment. Whoever lets go leaves a timer running: the
/// loop's own thread sleeps on that, and steps in where nobody has come back. Where something has
/// waited meanwhile it refuses waiters for a while, the longer the more often that happens: one of
/// them needs long for what it gets, and all others would wait for it. Thread-safe; `begin`,
/// `asked`, `stand_by` and `refuse` are for the loop's own thread.
class loop_turns {
public:
  using clock = std::chrono::steady_clock;

  /// Why its own thread has the loop again.
  enum class reason : std::uint8_t { absence, called, stopped };

  loop_turns();
  /// False where the process has no descriptor left: then only its own thread may have the loop.
  bool usable() const noexcept { return timer_.valid(); }

  bool take() noexcept { return !taken_.exchange(true); }
  void give_back() noexcept { taken_ = false; }

  // -- a thread that waits ---------------------------------------------------------------------

  /// Whether it may take the loop, if it is free, for as long as it waits.
  bool welcome() const noexcept;
  bool own_thread_has_it() const noexcept { return own_; }
  /// Gives it back; its own thread comes if nobody does.
  void leave() noexcept;
  /// It sleeps elsewhere; `keen` if it would rather have taken the loop. True if it has that now,
  /// since the loop has become free, and does not sleep.
  bool begin_blocking(bool keen) noexcept;
  void end_blocking(bool keen) noexcept { keen_sleepers_ -= keen ? 1 : 0; }
  /// Who was keen is awake: the loop's own thread lets go, unless another sleeps that is keen.
  void offer() noexcept;
  /// The loop's own thread lets go.
  void ask() noexcept { asked_ = true; }

  // -- its own thread --------------------------------------------------------------------------

  /// Takes it for the first time.
  void begin() noexcept;
  /// Whether somebody wants it who is awake.
  bool asked() const noexcept { return asked_.load(std::memory_order_relaxed); }
  /// Lets go, and returns when it is called or nobody has had it for a while; once stopped, without
  /// it.
  reason stand_by() noexcept;
  /// Nobody is welcome for the next 5 ms; for up to 100 ms where that was said not long ago.
  void refuse() noexcept;

  /// From any thread.
  void stop() noexcept;

private:
  bool nobody_has_it() const noexcept { return !own_ && !taken_; }
  bool open() const noexcept;
  void call_own_thread() noexcept;
  reason await_absence() noexcept;
  void start_timer(clock::duration delay) noexcept;
  void await_timer() noexcept;

  const unique_fd timer_;
  std::atomic<bool> taken_{false};
  std::atomic<bool> own_{true}; // its own thread has it, or is about to
  std::atomic<bool> asked_{false};
  std::atomic<bool> called_{false}; // its own thread is to come at once
  std::atomic<bool> timer_runs_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<int> keen_sleepers_{0};
  std::atomic<clock::time_point> left_at_{};
  std::atomic<clock::time_point> refuses_until_{clock::time_point::max()};
  std::atomic<clock::duration> refusal_{}; // the last one
};

} // namespace pubsub
