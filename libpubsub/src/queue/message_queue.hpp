// The bounded hand-off from publishers to one subscriber.
#pragma once

#include <condition_variable>
#include <functional>
#include <vector>

#include <pubsub/counters.hpp>
#include <pubsub/data_message.hpp>

#include "queue/bounded_queue.hpp"
#include "queue/event_fd.hpp"
#include "queue/watch_window.hpp"

namespace pubsub {

/// Many producers, one consumer. Bounds count messages not yet taken by the consumer, which takes
/// slices of runs under the mutex and makes messages of them outside. Thread-safe.
class message_queue final : public bounded_queue {
public:
  /// `poll`, if given, brings messages: the consumer calls it instead of sleeping or pausing.
  explicit message_queue(const queue_options& options, std::function<void()> poll = {})
      : bounded_queue(options), poll_(std::move(poll)) {}

  // -- the consumer ----------------------------------------------------------------------------

  /// Appends up to `max` messages to `out`, waiting for the first until `until` (no value: without
  /// limit). Messages whose payload is invalid are dropped and counted. Returns the number
  /// appended: 0 on timeout, or when closed and empty.
  std::size_t pull(std::vector<data_message>& out, std::size_t max, const deadline& until);
  /// `ready`: the consumer still holds messages it has pulled, so the first look shall find some.
  int fd(bool ready);
  std::size_t size() const;

  // -- both ------------------------------------------------------------------------------------

  /// No more messages are taken; what is queued can still be pulled.
  void finish();
  /// Discards what is queued, and finishes.
  void discard();
  bool finished() const;
  subscriber_counters counters() const;

private:
  void on_work(std::unique_lock<std::mutex>& lock) override;
  bool wait_for_message(const deadline& until, std::unique_lock<std::mutex>& lock);
  bool poll_for_message(const deadline& until, std::unique_lock<std::mutex>& lock);
  void update_fd();
  std::size_t read_slices(std::vector<data_message>& out);

  const std::function<void()> poll_;

  // Guarded by the mutex.
  std::condition_variable not_empty_;
  bool consumer_waits_ = false;
  event_fd fd_;
  std::uint64_t delivered_ = 0;
  std::uint64_t decode_errors_ = 0;

  // The consumer's.
  std::vector<run_slice> slices_;
  watch_window watch_;
};

} // namespace pubsub
