// How the consumer of a queue waits.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "queue/deadline.hpp"
#include "queue/event_fd.hpp"
#include "queue/shared_loop.hpp"
#include "queue/tuning.hpp"

namespace pubsub {

/// Waits in one of four ways, and is the only place that chooses between them:
/// * looking again: for `watch_length` at most, and only after a wait that was short, so that an
///   idle consumer uses no processor. Between looks it gives its processor away.
/// * in the loop: it runs the I/O handlers that bring its messages, and wakes no other thread.
///   Only while it finds few messages; a stream is better read by a thread beside it.
/// * asleep: on a condition. Whatever adds a message wakes it.
/// * elsewhere: the descriptor is readable exactly while there is something to take.
/// One consumer. `pace` is called without the queue's mutex, all else with it.
class waiter {
public:
  using clock = std::chrono::steady_clock;

  explicit waiter(shared_loop* loop = nullptr) noexcept : loop_(loop) {}

  // -- the consumer ----------------------------------------------------------------------------

  /// Before a look: where looks have found few messages each it pauses, for `longest_pause` at
  /// most.
  void pace() noexcept;
  /// Returns when there is something, or at `until`; until then the mutex is free most of the time.
  /// `something()` says whether there is; `arm()` that `wake` shall be called with the next thing,
  /// and is false where there is one already.
  template <class Something, class Arm>
  void wait(std::unique_lock<std::mutex>& lock, const deadline& until, Something something,
            Arm arm);
  /// A look has found so many messages, and `more` that it has not taken.
  void found(std::size_t messages, bool more) noexcept;
  /// The descriptor, or -1 if the process has none left.
  int fd(bool ready) noexcept { return fd_.open(ready); }
  bool has_fd() const noexcept { return fd_.is_open(); }
  void set_readable(bool ready) noexcept { ready ? fd_.set() : fd_.clear(); }

  // -- producers -------------------------------------------------------------------------------

  /// There is something. Unlocks where the consumer waits.
  void wake(std::unique_lock<std::mutex>& lock);

private:
  enum class place : unsigned char { awake, asleep, in_loop };

  template <class Something>
  void watch(std::unique_lock<std::mutex>& lock, const deadline& until, shared_loop* running,
             Something something);
  template <class Something, class Arm>
  void run_loop(std::unique_lock<std::mutex>& lock, const deadline& until, Something something,
                Arm arm);
  bool sleep(std::unique_lock<std::mutex>& lock, const deadline& until, bool wants_loop);
  bool wants_loop(const deadline& until, clock::time_point now) const noexcept {
    return loop_ != nullptr && found_few_ && (!until || *until - now > tuning::loop_clock);
  }
  clock::time_point give_way(clock::time_point now) noexcept;

  shared_loop* const loop_;
  std::condition_variable woken_;
  place consumer_ = place::awake;
  clock::time_point woken_at_{}; // when a producer came, not when the consumer ran
  event_fd fd_;

  // The consumer's.
  bool found_few_ = true;
  bool more_ = false;
  bool last_wait_was_short_ = false;
  std::chrono::microseconds pause_{0};
  clock::time_point crowded_until_{};
};

template <class Something, class Arm>
void waiter::wait(std::unique_lock<std::mutex>& lock, const deadline& until, Something something,
                  Arm arm) {
  const auto since = clock::now();
  if (something())
    return;
  if (until && *until <= since) {
    if (fd_.is_open() && arm())
      fd_.clear();
    return;
  }
  const bool wants = wants_loop(until, since);
  woken_at_ = {};
  if (wants && loop_->enter())
    run_loop(lock, until, something, arm);
  else if (last_wait_was_short_)
    watch(lock, until, nullptr, something);
  while (!something() && (!until || clock::now() < *until) && arm())
    if (sleep(lock, until, wants))
      run_loop(lock, until, something, arm);
  const auto end = woken_at_ == clock::time_point{} ? clock::now() : woken_at_;
  last_wait_was_short_ = end - since < tuning::short_wait;
}

template <class Something>
void waiter::watch(std::unique_lock<std::mutex>& lock, const deadline& until, shared_loop* running,
                   Something something) {
  auto end = clock::now() + tuning::watch_length;
  if (until)
    end = std::min(end, *until);
  do {
    lock.unlock();
    give_way(clock::now());
    pace();
    if (running != nullptr)
      running->run_ready();
    lock.lock();
  } while (!something() && clock::now() < end);
}

template <class Something, class Arm>
void waiter::run_loop(std::unique_lock<std::mutex>& lock, const deadline& until,
                      Something something, Arm arm) {
  if (last_wait_was_short_)
    watch(lock, until, loop_, something);
  for (bool going_on = true; going_on && !something() && arm();) {
    fd_.clear();
    consumer_ = place::in_loop;
    lock.unlock();
    going_on = loop_->run_one(until);
    lock.lock();
  }
  consumer_ = place::awake;
  loop_->leave();
}

} // namespace pubsub
