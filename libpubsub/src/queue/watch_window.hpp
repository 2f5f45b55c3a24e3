// How long to look before going to sleep.
#pragma once

#include <algorithm>
#include <chrono>

#include <sched.h>

namespace pubsub {

/// Waking a sleeping thread costs tens of microseconds on a virtual machine, many times the cost of
/// a message. So who has just been woken after a very short sleep watches for a moment before the
/// next one, giving its processor to anybody who wants it. After a longer sleep the window closes:
/// an idle consumer uses no CPU. But every look takes the line of the length from the publisher's
/// processor: who is about to find a few messages at every look looks later, and finds more. Where
/// a processor that was given away does not come back soon, somebody computes there: then there is
/// no watching for a while, for a thread that is woken is preferred to one that has given way.
/// Thread-safety: one thread.
class watch_window {
public:
  using clock = std::chrono::steady_clock;

  bool open() const noexcept { return open_; }
  /// Whether little comes, and soon.
  bool brief() const noexcept { return brief_; }

  /// Whether to `pause` before looking at all.
  bool paced() const noexcept { return yields_ > 1; }
  void pause() noexcept {
    auto before = clock::now();
    for (unsigned i = 0; i < yields_ && before >= crowded_until_; ++i) {
      ::sched_yield();
      const auto now = clock::now();
      if (now - before > too_long)
        crowded_until_ = now + crowded_for;
      before = now;
    }
  }
  /// Looks until `ready()` holds or the window has passed.
  template <class Ready>
  void watch(Ready ready) noexcept {
    const auto end = clock::now() + length;
    do
      pause();
    while (!ready() && clock::now() < end && clock::now() >= crowded_until_);
  }

  /// Tells how many messages were found.
  void found(std::size_t messages) noexcept {
    brief_ = brief_ && messages <= few;
    if (messages <= 1)
      yields_ = 1;
    else if (messages < few)
      yields_ = std::min(2 * yields_, most_yields);
    else if (messages > many)
      yields_ = std::max(yields_ / 2, 1U);
  }
  /// Tells how long the sleep was that could not be avoided.
  void learn(clock::duration slept) noexcept {
    open_ = slept < worth_watching;
    brief_ = slept < worth_running;
    yields_ = 1;
  }

private:
  static constexpr std::chrono::microseconds length{50};
  static constexpr std::chrono::microseconds worth_watching{150};
  static constexpr std::chrono::milliseconds worth_running{2};
  static constexpr std::chrono::microseconds too_long{500};
  static constexpr std::chrono::milliseconds crowded_for{100};

  static constexpr unsigned most_yields = 32; // about 10 us
  static constexpr std::size_t few = 64;
  static constexpr std::size_t many = 512;

  bool open_ = false;
  bool brief_ = false;
  unsigned yields_ = 1; // before a look
  clock::time_point crowded_until_{};
};

} // namespace pubsub
