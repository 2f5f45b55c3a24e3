// How long to look before going to sleep.
#pragma once

#include <chrono>

#include <sched.h>

namespace pubsub {

/// Waking a sleeping thread costs tens of microseconds on a virtual machine, many times the cost of
/// a message. So who has just been woken after a very short sleep watches for a moment before the
/// next one, giving its processor to anybody who wants it. After a longer sleep the window closes:
/// an idle consumer uses no CPU. Thread-safety: one thread.
class watch_window {
public:
  using clock = std::chrono::steady_clock;

  bool open() const noexcept { return open_; }

  /// Looks until `ready()` holds or the window has passed.
  template <class Ready>
  void watch(Ready ready) noexcept {
    for (const auto end = clock::now() + length; !ready() && clock::now() < end;)
      ::sched_yield();
  }

  /// Tells how long the sleep was that could not be avoided.
  void learn(clock::duration slept) noexcept { open_ = slept < worth_watching; }

private:
  static constexpr std::chrono::microseconds length{50};
  static constexpr std::chrono::microseconds worth_watching{150};

  bool open_ = false;
};

} // namespace pubsub
