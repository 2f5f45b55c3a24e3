// The bounded hand-off from publishers to one subscriber.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <pubsub/counters.hpp>
#include <pubsub/data_message.hpp>
#include <pubsub/queue_options.hpp>

#include "queue/event_fd.hpp"
#include "queue/flow_source.hpp"
#include "queue/watch_window.hpp"

namespace pubsub {

using deadline = std::optional<std::chrono::steady_clock::time_point>;

/// Saturates: a timeout too long for the clock means no limit.
inline deadline deadline_after(std::chrono::nanoseconds timeout) noexcept {
  const auto now = std::chrono::steady_clock::now();
  if (timeout > std::chrono::steady_clock::time_point::max() - now)
    return {};
  return now + timeout;
}

/// Both capacities are at least 1, or nothing would ever fit.
inline queue_options within_bounds(queue_options options) noexcept {
  options.capacity_messages = std::max<std::size_t>(options.capacity_messages, 1);
  options.capacity_bytes = std::max<std::size_t>(options.capacity_bytes, 1);
  return options;
}

/// What became of a message offered to a queue.
enum class push_result : std::uint8_t { taken, dropped, closed };

/// What to do with a message offered to a full queue whose policy is `block`: wait for room, or
/// exceed the bounds by this one message, because the caller has just seen room.
enum class when_full : std::uint8_t { wait, overshoot };

/// A message with the bytes it counts for.
struct queued_message {
  data_message msg;
  std::uint32_t size_bytes = 0;
};

/// Many producers, one consumer. All members are thread-safe and take one mutex; wake-ups happen
/// only when a consumer sleeps on an empty queue or a producer on a full one. Both bounds count
/// messages not yet taken by the consumer. `offered == delivered + dropped + queued` holds whenever
/// the mutex is free.
class message_queue {
public:
  explicit message_queue(const queue_options& options);

  // -- producers -------------------------------------------------------------------------------

  /// Offers one message. Blocks only with policy `block` and `when_full::wait`.
  push_result push(data_message&& msg, std::uint32_t size_bytes, when_full mode);
  /// Offers what an I/O thread has at hand, moving the messages out; never blocks. If the policy is
  /// `block` and a bound is now exceeded, `source` is paused: it must stop, and is resumed once
  /// when there is room. Returns true if paused.
  bool push_batch(std::span<queued_message> batch, const std::weak_ptr<flow_source>& source);
  /// Waits until `push` would not block. False if it still would at `until`.
  bool wait_for_room(std::chrono::steady_clock::time_point until);

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
  bool full() const noexcept {
    return count_ >= options_.capacity_messages || bytes_ >= options_.capacity_bytes;
  }
  bool low() const noexcept {
    return count_ <= options_.capacity_messages / 2 && bytes_ <= options_.capacity_bytes / 2;
  }
  void append(data_message&& msg, std::uint32_t size_bytes);
  push_result refuse(std::size_t messages) noexcept;
  queued_message take_front() noexcept;
  void drop_front() noexcept;
  void grow();
  push_result overflow(data_message&& msg, std::uint32_t size_bytes, when_full mode,
                       std::unique_lock<std::mutex>& lock);
  void wake_consumer(std::unique_lock<std::mutex>& lock);
  bool wait_for_message(const deadline& until, std::unique_lock<std::mutex>& lock);
  std::size_t move_out(std::vector<data_message>& out, std::size_t max,
                       std::unique_lock<std::mutex>& lock);
  std::size_t drop_invalid(std::vector<data_message>& out, std::size_t first);

  const queue_options options_;
  mutable std::mutex mutex_; // guards everything below
  std::condition_variable not_empty_;
  std::condition_variable not_full_;
  std::vector<queued_message> ring_; // size is a power of two
  std::size_t head_ = 0;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
  bool consumer_waits_ = false;
  std::size_t producers_waiting_ = 0;
  bool finished_ = false;
  event_fd fd_;
  paused_sources paused_;
  subscriber_counters counters_;

  std::atomic<bool> readable_{false}; // count_ > 0 || finished_; written under the mutex
  watch_window watch_;                // the consumer's
};

} // namespace pubsub
