// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/mailbox/mailbox.hpp"

#include "pattern/mailbox/tuning.hpp"

namespace pubsub::pattern {

using std::chrono::nanoseconds;
using clock = std::chrono::steady_clock;

void mailbox::start(subscriber in, own_reading own) {
  own_ = own;
  in_.emplace(std::move(in));
  thread_ = std::thread{[this] { run(); }};
}

void mailbox::end() noexcept {
  closed_ = true;
  read_ended_.notify_all();
  own_wakes_.notify_all();
}

void mailbox::stop() {
  if (in_)
    in_->close(); // ends a read that blocks
  finish();
}

void mailbox::finish() {
  {
    const lock_type lock{mutex_};
    end();
  }
  const std::lock_guard joining{joining_};
  if (thread_.joinable())
    thread_.join();
}

bool mailbox::wait_for_a_read(lock_type& lock, time_limit until) {
  const auto now = clock::now();
  if (until && now >= *until)
    return false;
  auto patience = std::min<nanoseconds>(tuning::longest_read, next_tick() - now);
  if (until)
    patience = std::min<nanoseconds>(patience, *until - now);
  waited_until_ = now + tuning::longest_read;
  if (reading_) {
    ++waiting_;
    read_ended_.wait_for(lock, std::max<nanoseconds>(patience, tuning::shortest_sleep));
    --waiting_;
  } else {
    read(lock, std::max(patience, nanoseconds{0}));
  }
  return true;
}

void mailbox::look(lock_type& lock) {
  if (!reading_ && !closed_ && has_room() && in_->available() > 0)
    read(lock, nanoseconds{0});
}

void mailbox::read(lock_type& lock, nanoseconds limit) {
  reading_ = true;
  lock.unlock();
  batch_.clear();
  prompt_ = in_->available() == 0;
  const auto status = in_->get_batch_for(batch_, tuning::messages_at_once, limit);
  const bool ended = status == receive_status::closed;
  lock.lock();
  if (ended)
    end(); // the endpoint is closed
  const auto now = clock::now();
  take(batch_, now);
  if (now >= next_tick())
    tick(now);
  pass_on(lock);
  reading_ = false;
  if (waiting_ > 0)
    read_ended_.notify_all();
}

void mailbox::run() {
  lock_type lock{mutex_};
  while (!closed_) {
    const auto now = clock::now();
    const auto waited_until = waited_until_ + tuning::after_a_wait;
    const bool by_itself = own_ == own_reading::when_no_thread_waits;
    const bool due = now >= next_tick();
    const bool room = has_room();
    if (!reading_ && room && (by_itself ? now >= waited_until : due))
      read(lock, std::clamp<nanoseconds>(next_tick() - now, nanoseconds{0}, tuning::longest_read));
    else if (due && !(by_itself && room)) {
      tick(now);
      read_ended_.notify_all();
    } else
      own_wakes_.wait_until(lock, by_itself ? std::clamp(waited_until, now + tuning::shortest_sleep,
                                                         now + tuning::longest_absence)
                                            : std::max(next_tick(), now + tuning::shortest_sleep));
  }
}

} // namespace pubsub::pattern
