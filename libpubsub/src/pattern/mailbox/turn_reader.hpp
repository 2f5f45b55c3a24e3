// Who reads a subscriber: the thread that waits for what comes, or one of our own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/subscriber.hpp>

#include "pattern/mailbox/time_limit.hpp"

namespace pubsub::pattern {

/// Of the threads that wait one reads for all: what it waits for would reach it later from another
/// thread. A thread of our own reads while nobody waits, and does what is due. Thread-safe. Call
/// `start` at the end of the constructor and `stop` before anything is destroyed.
class turn_reader {
public:
  using time = std::chrono::steady_clock::time_point;

protected:
  using lock_type = std::unique_lock<std::mutex>;

  static constexpr std::chrono::milliseconds time_between_looks{20}; // at who is gone

  explicit turn_reader(subscriber in) : in_(std::move(in)) {}
  ~turn_reader() = default;

  /// All called with the mutex held: takes messages; does what is due; when that is.
  virtual void take(const std::vector<data_message>& messages, time now) = 0;
  virtual void tick(time now) = 0;
  virtual time next_tick() const = 0;
  /// False while there is enough that was read.
  virtual bool has_room() const { return true; }

  /// Called with the mutex held, which is released while there is nothing. False at `until`, or
  /// once closed.
  template <class Condition>
  bool wait(lock_type& lock, time_limit until, Condition&& met) {
    while (!closed_ && !met()) {
      const auto now = std::chrono::steady_clock::now();
      if (until && now >= *until)
        return false;
      auto patience = std::min<std::chrono::nanoseconds>(longest_read, next_tick() - now);
      if (until)
        patience = std::min<std::chrono::nanoseconds>(patience, *until - now);
      patience = std::max<std::chrono::nanoseconds>(patience, std::chrono::nanoseconds{0});
      users_until_ = now + longest_read + time_for_users;
      if (reading_) {
        ++waiting_;
        read_.wait_for(lock, std::max<std::chrono::nanoseconds>(patience, shortest_wait));
        --waiting_;
      } else {
        read(lock, patience);
      }
    }
    users_until_ = std::chrono::steady_clock::now() + time_for_users;
    return !closed_;
  }
  /// Called with the mutex held: reads what is there.
  void look(lock_type& lock) {
    if (!reading_ && !closed_ && has_room() && in_.available() > 0)
      read(lock, std::chrono::nanoseconds{0});
  }

  /// In `take`: what is taken came while somebody was waiting for it.
  bool is_prompt() const noexcept { return prompt_; }
  /// Something has come that nobody has read.
  bool anything_unread() const { return in_.available() > 0; }

  void start() {
    service_ = std::thread{[this] { run(); }};
  }
  void stop() {
    {
      lock_type lock{mutex_};
      closed_ = true;
    }
    read_.notify_all();
    service_wanted_.notify_all();
    in_.close();
    const std::lock_guard joining{joining_};
    if (service_.joinable())
      service_.join();
  }
  /// Called with the mutex held.
  void close_by_itself() {
    closed_ = true;
    read_.notify_all();
    service_wanted_.notify_all();
  }

  mutable std::mutex mutex_; // guards what follows, and what a derived class has
  bool closed_ = false;

private:
  static constexpr std::chrono::milliseconds longest_read{50};  // without a look around
  static constexpr std::chrono::milliseconds time_for_users{1}; // since one of them waited
  static constexpr std::chrono::milliseconds shortest_wait{1};
  static constexpr std::size_t messages_at_once = 256;

  void read(lock_type& lock, std::chrono::nanoseconds limit) {
    reading_ = true;
    lock.unlock();
    batch_.clear();
    prompt_ = in_.available() == 0;
    in_.get_batch(batch_, messages_at_once, limit);
    const bool ended = batch_.empty() && in_.closed();
    lock.lock();
    if (ended)
      close_by_itself(); // so is the endpoint
    const auto now = std::chrono::steady_clock::now();
    take(batch_, now);
    if (now >= next_tick())
      tick(now);
    reading_ = false;
    if (waiting_ > 0)
      read_.notify_all();
  }

  void run() {
    lock_type lock{mutex_};
    while (!closed_) {
      const auto now = std::chrono::steady_clock::now();
      if (reading_ || now < users_until_ || !has_room()) {
        service_wanted_.wait_until(lock, std::max(users_until_, now + time_for_users));
        if (!reading_ && !closed_ && !has_room() && std::chrono::steady_clock::now() >= next_tick())
          tick(std::chrono::steady_clock::now());
      } else {
        read(lock, std::clamp<std::chrono::nanoseconds>(next_tick() - now, {}, longest_read));
      }
    }
  }

  subscriber in_;
  std::condition_variable read_; // by somebody, for all who wait
  std::condition_variable service_wanted_;
  std::vector<data_message> batch_;
  bool reading_ = false; // somebody is, without the mutex
  bool prompt_ = false;  // who reads
  std::size_t waiting_ = 0;
  time users_until_{};
  std::mutex joining_;
  std::thread service_;
};

} // namespace pubsub::pattern
