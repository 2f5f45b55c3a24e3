// SPDX-License-Identifier: BSD-3-Clause
#include "transport/loop_ownership.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

#include <sys/timerfd.h>

#include "transport/tuning.hpp"

namespace pubsub {

loop_ownership::loop_ownership() : timer_{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)} {}

// -- a consumer that waits ---------------------------------------------------------------------

bool loop_ownership::open() const noexcept {
  return timer_.valid() && !stopped_ &&
         clock::now() >= closed_until_.load(std::memory_order_relaxed);
}

bool loop_ownership::enter() noexcept {
  if (sleepers_ > 0 || !open())
    return false;
  if (take()) {
    asked_ = false;
    return true;
  }
  if (own_)
    asked_ = true;
  return false;
}

void loop_ownership::leave() noexcept {
  left_at_.store(clock::now(), std::memory_order_relaxed);
  give_back();
  if (sleepers_ == 0)
    return watch_absence();
  close_to_consumers();
  call_own_thread();
}

/// Either this consumer sees that the loop is unattended, or the thread that leaves it sees the
/// sleeper.
bool loop_ownership::begin_sleep(bool wants_loop) noexcept {
  const bool first = ++sleepers_ == 1;
  if (!unattended() || !timer_.valid())
    return false;
  if (wants_loop && first && open() && take()) {
    end_sleep();
    return true;
  }
  call_own_thread();
  return false;
}

// -- the loop's own thread ---------------------------------------------------------------------

void loop_ownership::begin() noexcept {
  while (!take()) {
  }
  closed_until_ = clock::time_point::min();
}

loop_ownership::reason loop_ownership::stand_by() noexcept {
  asked_ = false;
  left_at_.store(clock::now(), std::memory_order_relaxed);
  own_ = false;
  give_back();
  sleepers_ == 0 ? watch_absence() : call_own_thread();
  for (clock::time_point seen{};;) {
    await_timer();
    if (const clock::time_point left = left_at_; taken_ && left != std::exchange(seen, left)) {
      // A consumer that comes and goes need not start the timer each time.
      start_timer(tuning::longest_absence);
      if (sleepers_ > 0 || stopped_) // and this thread may have been called meanwhile
        start_timer({});
      continue;
    }
    timer_runs_ = false; // a consumer that leaves from here on starts it anew
    while (!stopped_ && !taken_) {
      const auto away = clock::now() - left_at_.load(std::memory_order_relaxed);
      const bool needed = sleepers_ > 0;
      if (!needed && away < tuning::longest_absence) {
        if (!timer_runs_.exchange(true))
          start_timer(tuning::longest_absence - away);
        break;
      }
      own_ = true;
      if (take())
        return needed ? reason::needed : reason::absence;
      own_ = false;
    }
    if (stopped_)
      return reason::stopped;
  }
}

void loop_ownership::close_to_consumers() noexcept {
  closed_until_.store(clock::now() + tuning::closed_for, std::memory_order_relaxed);
}

void loop_ownership::watch_absence() noexcept {
  if (!timer_runs_.exchange(true))
    start_timer(tuning::longest_absence);
}

void loop_ownership::call_own_thread() noexcept {
  timer_runs_ = true;
  start_timer({});
}

void loop_ownership::stop() noexcept {
  stopped_ = true;
  start_timer({});
}

/// No delay is the shortest there is: a timer set to zero stands still.
void loop_ownership::start_timer(clock::duration delay) noexcept {
  const auto ns = std::max<std::int64_t>(std::chrono::nanoseconds{delay}.count(), 1);
  itimerspec when{};
  when.it_value.tv_nsec = ns;
  ::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

void loop_ownership::await_timer() noexcept {
  std::uint64_t times = 0;
  while (::read(timer_.get(), &times, sizeof times) < 0 && errno == EINTR) {
  }
}

} // namespace pubsub
