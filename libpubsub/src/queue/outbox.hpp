// The bounded hand-off from publishers and relays to the writer of one link.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <vector>

#include <pubsub/counters.hpp>

#include "queue/bounded_queue.hpp"

namespace pubsub {

/// Many producers, one writer. Bounds count frames not yet written to the socket. Thread-safe.
class outbox final : public bounded_queue {
public:
  struct callbacks {
    /// Called, with no lock held, when the writer was idle and there is work again.
    std::function<void()> on_work;
    /// Called by a producer, with no lock held, when the outbox has ended because it was full.
    std::function<void()> on_overflow = [] {};
  };

  /// As `bounded_queue`.
  outbox(const queue_options& options, callbacks calls, shared_bounds* shared = nullptr);

  /// Queues a control frame behind what is there. Ignored once closed.
  void push_control(std::span<const std::byte> frame);
  /// Bytes of control frames the writer has not taken yet.
  std::size_t control_bytes() const;

  // -- the writer ------------------------------------------------------------------------------

  /// Moves slices to `out`, up to `max_slices` and about `max_bytes`. If there are none, marks the
  /// writer idle: `on_work` will call again.
  void take(std::vector<run_slice>& out, std::size_t max_slices, std::size_t max_bytes);
  /// Reports data frames taken earlier as written to the socket.
  void written(run_position size);

  // -- both ------------------------------------------------------------------------------------

  /// Nothing is taken any more; what was not written counts as dropped. Wakes every waiter.
  void close();
  /// Waits until everything is written, or closed. Returns the number of messages left.
  std::size_t wait_until_empty(std::chrono::steady_clock::time_point until);
  link_counters counters() const;

private:
  void on_work(std::unique_lock<std::mutex>& lock) override;
  void on_overflow(std::unique_lock<std::mutex>& lock) override;

  const callbacks calls_;
  // Guarded by the mutex.
  std::size_t control_bytes_ = 0; // not taken yet
  std::uint64_t sent_ = 0;
  bool closed_ = false;
};

} // namespace pubsub
