// The bounded hand-off from publishers to one subscriber.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <pubsub/counters.hpp>
#include <pubsub/data_message.hpp>

#include "filter/message_selector.hpp"
#include "queue/bounded_queue.hpp"
#include "queue/stream_tracker.hpp"
#include "queue/waiter.hpp"

namespace pubsub {

/// Many producers, one consumer. Bounds count messages not yet taken by the consumer, which takes
/// slices of runs under the mutex and makes messages of them outside. Thread-safe.
class message_queue final : public bounded_queue {
public:
  struct callbacks {
    /// If given, brings messages: the consumer runs it while it waits.
    shared_loop* loop = nullptr;
    /// Called by a producer, with no lock held, when the queue has ended because it was full.
    std::function<void()> on_overflow;
    /// What the messages have to fulfil that enter; null: nothing.
    std::unique_ptr<message_selector> selector = {};
    /// Others are told that condition, too: numbers that are missing may be those of messages that
    /// they withhold, and are not missed.
    bool others_select = false;
  };

  explicit message_queue(const queue_options& options) : message_queue(options, callbacks{}) {}
  message_queue(const queue_options& options, callbacks calls)
      : bounded_queue(options, nullptr, calls.selector ? entrance::selected : entrance::all),
        calls_(std::move(calls)), waiter_(calls_.loop) {}

  // -- the consumer ----------------------------------------------------------------------------

  /// Appends up to `max` messages to `out`, waiting for the first until `until` (no value: without
  /// limit). Messages whose payload is invalid are dropped and counted. Returns the number
  /// appended: 0 on timeout, or when closed and empty. They count as delivered.
  std::size_t pull(std::vector<data_message>& out, std::size_t max, const deadline& until) {
    return pull(out, max, until, false);
  }
  /// As `pull`, for a consumer that does not hold any: they are ahead until `set_ahead` says
  /// otherwise.
  std::size_t pull_ahead(std::vector<data_message>& out, std::size_t max, const deadline& until) {
    return pull(out, max, until, true);
  }
  /// `ready`: the consumer still holds messages it has pulled, so the first look shall find some.
  int fd(bool ready);
  std::size_t size() const;
  /// Of the messages pulled, `n` have not been given out: they count as queued, or as dropped once
  /// the queue is discarded. `n` is no more than before.
  void set_ahead(std::size_t n) noexcept { ahead_.store(n, std::memory_order_release); }
  std::size_t ahead() const noexcept { return ahead_.load(std::memory_order_acquire); }
  /// The streams of publishers begin anew: what is missing from here on is no loss.
  void forget_streams();

  // -- both ------------------------------------------------------------------------------------

  /// No more messages are taken; what is queued can still be pulled.
  void finish();
  /// Discards what is queued, and finishes.
  void discard();
  bool finished() const;
  subscriber_counters counters() const;

private:
  void on_work(std::unique_lock<std::mutex>& lock) override;
  void on_overflow(std::unique_lock<std::mutex>& lock) override;
  void on_arrival(const message_run& run) override;
  void select(const intrusive_ptr<message_run>& run, selection& out) override;
  std::size_t pull(std::vector<data_message>& out, std::size_t max, const deadline& until,
                   bool ahead);
  static void copy_each(selection& out);
  void update_fd();
  std::size_t read_slices(std::vector<data_message>& out, bool ahead);

  const callbacks calls_;
  std::mutex selecting_; // guards what calls_.selector points to; taken before the queue's mutex
  std::atomic<std::size_t> ahead_{0}; // the consumer's; grows with delivered_, under the mutex

  // Guarded by the mutex.
  waiter waiter_;
  std::uint64_t delivered_ = 0;
  std::uint64_t decode_errors_ = 0;
  stream_tracker streams_;
  bool discarded_ = false;

  // The consumer's.
  std::vector<run_slice> slices_;
};

} // namespace pubsub
