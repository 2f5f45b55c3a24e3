#include "transport/loop_turns.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include <sys/timerfd.h>

namespace pubsub {

namespace {

constexpr std::chrono::microseconds longest_absence{500};
constexpr std::chrono::milliseconds shortest_refusal{5};
constexpr std::chrono::milliseconds longest_refusal{100};
constexpr int calm = 4; // times a refusal without another one, and the next one is short

} // namespace

loop_turns::loop_turns() : timer_{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)} {}

// -- a thread that waits -----------------------------------------------------------------------

bool loop_turns::open() const noexcept {
  return !stopped_ && clock::now() >= refuses_until_.load(std::memory_order_relaxed);
}

bool loop_turns::welcome() const noexcept {
  return usable() && keen_sleepers_ == 0 && open();
}

void loop_turns::leave() noexcept {
  left_at_.store(clock::now(), std::memory_order_relaxed);
  give_back();
  if (keen_sleepers_ > 0) {
    refuse();
    call_own_thread();
  } else if (!timer_runs_.exchange(true)) {
    start_timer(longest_absence);
  }
}

/// Its own thread may have let go since one who is keen was told to come later. Where it has seen
/// that somebody sleeps who is keen it has not.
bool loop_turns::begin_blocking(bool keen) noexcept {
  if (keen) {
    ++keen_sleepers_;
    asked_ = false;
  }
  if (!nobody_has_it() || !usable())
    return false;
  if (keen && keen_sleepers_ == 1 && open() && take()) {
    --keen_sleepers_;
    return true;
  }
  call_own_thread();
  return false;
}

void loop_turns::offer() noexcept {
  if (welcome())
    ask();
}

void loop_turns::call_own_thread() noexcept {
  called_ = true;
  timer_runs_ = true;
  start_timer({});
}

// -- its own thread ----------------------------------------------------------------------------

void loop_turns::begin() noexcept {
  while (!take()) {
  }
  refuses_until_ = clock::time_point::min();
}

loop_turns::reason loop_turns::stand_by() noexcept {
  asked_ = false;
  if (!usable())
    return reason::called;
  own_ = false;
  left_at_.store(clock::now(), std::memory_order_relaxed);
  if (keen_sleepers_ > 0) { // it sleeps again already
    own_ = true;
    return reason::called;
  }
  give_back();
  if (!timer_runs_.exchange(true))
    start_timer(longest_absence);
  return await_absence();
}

void loop_turns::refuse() noexcept {
  const auto now = clock::now();
  const auto last = refusal_.load(std::memory_order_relaxed);
  const bool again = now < refuses_until_.load(std::memory_order_relaxed) + calm * last;
  const auto next = std::clamp<clock::duration>(again ? 2 * last : clock::duration::zero(),
                                                shortest_refusal, longest_refusal);
  refusal_.store(next, std::memory_order_relaxed);
  refuses_until_.store(now + next, std::memory_order_relaxed);
}

/// The timer may run out while a waiter has the loop: who leaves next starts it anew.
loop_turns::reason loop_turns::await_absence() noexcept {
  while (true) {
    await_timer();
    timer_runs_ = false;
    while (!taken_) {
      if (stopped_)
        return reason::stopped;
      const bool called = called_.exchange(false);
      const auto away = clock::now() - left_at_.load(std::memory_order_relaxed);
      if (!called && away < longest_absence) {
        if (!timer_runs_.exchange(true))
          start_timer(longest_absence - away);
        break;
      }
      own_ = true;
      if (take())
        return called ? reason::called : reason::absence;
      own_ = false;
    }
    if (stopped_)
      return reason::stopped;
  }
}

void loop_turns::stop() noexcept {
  stopped_ = true;
  start_timer({});
}

/// No delay is the shortest there is: a timer set to zero stands still.
void loop_turns::start_timer(clock::duration delay) noexcept {
  const auto ns = std::max<std::int64_t>(std::chrono::nanoseconds{delay}.count(), 1);
  itimerspec when{};
  when.it_value.tv_nsec = ns;
  ::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

void loop_turns::await_timer() noexcept {
  std::uint64_t times = 0;
  while (::read(timer_.get(), &times, sizeof times) < 0 && errno == EINTR) {
  }
}

} // namespace pubsub
