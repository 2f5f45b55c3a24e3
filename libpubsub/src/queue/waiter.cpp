// SPDX-License-Identifier: BSD-3-Clause
#include "queue/waiter.hpp"

#include <algorithm>
#include <utility>

#include <sched.h>

namespace pubsub {

namespace {

constexpr std::chrono::microseconds first_pause{1};

} // namespace

/// Called once armed. True where the consumer has entered the loop instead.
bool waiter::sleep(std::unique_lock<std::mutex>& lock, const deadline& until, bool wants_loop) {
  fd_.clear();
  if (loop_ != nullptr && loop_->begin_sleep(wants_loop))
    return true;
  consumer_ = place::asleep;
  if (!wait_until(woken_, lock, until, [&] { return consumer_ == place::awake; })) {
    consumer_ = place::awake;
    if (loop_ != nullptr)
      loop_->end_sleep();
  }
  return false;
}

void waiter::wake(std::unique_lock<std::mutex>& lock) {
  fd_.set();
  if (consumer_ == place::awake)
    return;
  woken_at_ = clock::now();
  const auto where = std::exchange(consumer_, place::awake);
  if (where == place::asleep && loop_ != nullptr)
    loop_->end_sleep();
  lock.unlock();
  if (where == place::asleep)
    woken_.notify_one();
  else
    loop_->interrupt();
}

void waiter::found(std::size_t messages, bool more) noexcept {
  more_ = more;
  found_few_ = !more && messages <= tuning::few_messages;
  if (more)
    return;
  if (messages <= 1)
    pause_ = {};
  else if (messages < tuning::few_messages)
    pause_ = std::clamp<std::chrono::microseconds>(2 * pause_, first_pause, tuning::longest_pause);
  else if (messages > tuning::many_messages)
    pause_ /= 2;
}

void waiter::pace() noexcept {
  if (more_ || pause_.count() == 0)
    return;
  auto now = clock::now();
  for (const auto end = now + pause_; now < end;)
    now = give_way(now);
}

/// Returns the time afterwards. On a crowded machine the processor is kept: `pace` and `watch` take
/// a short time only.
waiter::clock::time_point waiter::give_way(clock::time_point now) noexcept {
  const auto before = now;
  if (before < crowded_until_) {
    do
      now = clock::now();
    while (now < before + first_pause);
    return now;
  }
  ::sched_yield();
  now = clock::now();
  if (now - before > tuning::late_return)
    crowded_until_ = now + tuning::crowded_for;
  return now;
}

} // namespace pubsub
