// How the parts of a pattern read their messages: the thread that waits for one reads for all.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/subscriber.hpp>

namespace pubsub::pattern {

/// Until when to wait; without a timeout as long as it takes.
using time_limit = std::optional<std::chrono::steady_clock::time_point>;

inline time_limit limit_after(std::optional<std::chrono::nanoseconds> timeout) {
  constexpr std::chrono::nanoseconds longest = std::chrono::hours{24 * 365};
  if (!timeout)
    return {};
  return std::chrono::steady_clock::now() + std::min(*timeout, longest);
}

/// The one reader of a pattern: exchange, task queue, replica, service and client derive from it.
/// Of the threads that wait, one reads the subscriber and takes what came for all of them: a thread
/// that only reads would wake the waiting one later. A thread of the mailbox's own does what is due
/// while no thread waits, and reads then if `own_reading` says so. Thread-safe.
///
/// To use it, derive privately, and
///  * override `take` (messages have come), `tick` (the time has come) and `next_tick`;
///  * call `start` at the end of the constructor, and `stop` before any member is destroyed;
///  * lock `mutex_` in every public function; it guards all members of the derived class, and
///    `take` and `tick` are called with it held; they may publish, without blocking;
///  * wait with `wait(lock, until, condition)`, where the condition changes in `take` or `tick`;
///  * call `wake` after `next_tick` has moved forward, if it matters before the next read.
class mailbox {
public:
  using time = std::chrono::steady_clock::time_point;

  bool closed() const {
    const lock_type lock{mutex_};
    return closed_;
  }

protected:
  using lock_type = std::unique_lock<std::mutex>;

  /// When the mailbox's own thread reads.
  enum class own_reading : std::uint8_t {
    when_no_thread_waits,
    when_due, ///< only together with `tick`: other threads come for the messages
  };

  mailbox() = default;
  virtual ~mailbox() = default;
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;

  /// Called with the mutex held, also with no messages, after each read. Messages may be moved
  /// from.
  virtual void take(std::span<data_message> messages, time now) = 0;
  /// Called with the mutex held, at `next_tick` or later.
  virtual void tick(time now) = 0;
  virtual time next_tick() const = 0;
  /// Called with the mutex held, after `take` and `tick`, by the thread that reads: what may not be
  /// done under the mutex, which may be released meanwhile.
  virtual void pass_on(lock_type&) {}
  /// False while what was read suffices: then the mailbox's own thread, and `look`, do not read.
  virtual bool has_room() const { return true; }

  void start(subscriber in, own_reading own = own_reading::when_no_thread_waits);
  /// Ends all waits and closes the subscriber. Idempotent; blocks until the own thread has ended.
  void stop();
  /// The same, but leaves the subscriber open: `take_unread` takes what is unread.
  void finish();
  /// Called with the mutex held: ends all waits. `stop` follows.
  void end() noexcept;

  /// Called with the mutex held, which is released while nothing is there. True once the condition
  /// is met; false at `until`, or once closed.
  template <class Condition>
  bool wait(lock_type& lock, time_limit until, Condition&& met) {
    bool waited = false;
    for (; !closed_ && !met(); waited = true)
      if (!wait_for_a_read(lock, until))
        return false;
    if (waited)
      waited_until_ = std::chrono::steady_clock::now();
    return !closed_;
  }
  /// Called with the mutex held, which is released meanwhile: reads what is there, unless another
  /// thread does.
  void look(lock_type& lock);
  /// Called with the mutex held.
  void wake() noexcept { own_wakes_.notify_one(); }

  /// In `take`: a thread was waiting when these messages came.
  bool is_prompt() const noexcept { return prompt_; }
  bool anything_unread() const { return in_->available() > 0; }
  /// Readable while something is unread, or the subscriber is closed.
  int unread_fd() const { return in_->fd(); }
  /// What is unread once all waits have ended.
  std::vector<data_message> take_unread() {
    auto unread = in_->try_get_batch();
    return unread ? std::move(*unread) : std::vector<data_message>{};
  }

  mutable std::mutex mutex_; // guards what follows, and the members of the derived class
  bool closed_ = false;

private:
  bool wait_for_a_read(lock_type& lock, time_limit until);
  void read(lock_type& lock, std::chrono::nanoseconds limit);
  void run();

  own_reading own_ = own_reading::when_no_thread_waits; // as the next, fixed by `start`
  std::optional<subscriber> in_;                        // read by one thread at a time
  std::condition_variable read_ended_;
  std::condition_variable own_wakes_;
  std::vector<data_message> batch_; // of the thread that reads
  bool reading_ = false;            // a thread reads, without the mutex
  bool prompt_ = false;
  std::size_t waiting_ = 0; // threads that wait for `read_ended_`
  time waited_until_{};     // a thread has been waiting until then, or will at most
  std::mutex joining_;
  std::thread thread_;
};

} // namespace pubsub::pattern
