// The bounded hand-off from publishers and relays to the writer of one link.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <pubsub/counters.hpp>
#include <pubsub/queue_options.hpp>

#include "message/chunk.hpp"
#include "queue/flow_source.hpp"
#include "queue/message_queue.hpp"

namespace pubsub {

/// Whole frames that lie next to each other in one chunk, ready to be written.
struct frame_run {
  intrusive_ptr<const chunk> owner;
  const std::byte* bytes = nullptr;
  std::size_t size_bytes = 0;
  std::uint32_t messages = 0; ///< 0 for control frames, which are neither bounded nor dropped
};

/// Many producers, one writer. All members are thread-safe and take one mutex. Runs that continue
/// one another in memory are merged, so a stream of messages costs a handful of runs. Bounds count
/// frames not yet written to the socket. `offered == sent + dropped + queued` holds whenever the
/// mutex is free.
class outbox {
public:
  /// `on_work` is called, with no lock held, when the writer was idle and there is work again.
  outbox(const queue_options& options, std::function<void()> on_work);

  // -- producers -------------------------------------------------------------------------------

  /// Offers a run of data frames. Blocks only with policy `block` and `when_full::wait`.
  push_result push(const chunk* owner, const std::byte* bytes, std::size_t size_bytes,
                   std::uint32_t messages, when_full mode);
  /// As `message_queue::push_batch`: takes the run whole and never blocks. Returns true if `source`
  /// was paused.
  bool push_from(const chunk* owner, const std::byte* bytes, std::size_t size_bytes,
                 std::uint32_t messages, const std::weak_ptr<flow_source>& source);
  /// Queues a control frame behind what is there. Ignored once closed.
  void push_control(std::span<const std::byte> frame);
  /// Bytes of control frames the writer has not taken yet.
  std::size_t control_bytes() const;
  /// Waits until `push` would not block. False if it still would at `until`.
  bool wait_for_room(std::chrono::steady_clock::time_point until);

  // -- the writer ------------------------------------------------------------------------------

  /// Moves runs to `out`, up to `max_runs` and about `max_bytes`. If there are none, marks the
  /// writer idle: `on_work` will call again.
  void take(std::vector<frame_run>& out, std::size_t max_runs, std::size_t max_bytes);
  /// Reports runs taken earlier as written to the socket.
  void written(std::uint64_t messages, std::size_t size_bytes);

  // -- both ------------------------------------------------------------------------------------

  /// Nothing is taken any more; what was not written counts as dropped. Wakes every waiter.
  void close();
  /// Waits until everything is written, or closed. Returns the number of messages left.
  std::size_t wait_until_empty(std::chrono::steady_clock::time_point until);
  link_counters counters() const;

private:
  bool full() const noexcept {
    return queued_messages_ >= options_.capacity_messages ||
           queued_bytes_ >= options_.capacity_bytes;
  }
  bool over() const noexcept {
    return queued_messages_ > options_.capacity_messages ||
           (queued_messages_ > 1 && queued_bytes_ > options_.capacity_bytes);
  }
  bool low() const noexcept {
    return queued_messages_ <= options_.capacity_messages / 2 &&
           queued_bytes_ <= options_.capacity_bytes / 2;
  }
  void append(const chunk* owner, const std::byte* bytes, std::size_t size_bytes,
              std::uint32_t messages);
  bool drop_oldest_message();
  push_result refuse(std::uint32_t messages) noexcept;
  std::uint32_t messages_with_room(const std::byte* bytes, std::uint32_t messages) const noexcept;
  void notify(std::unique_lock<std::mutex>& lock);

  const queue_options options_;
  const std::function<void()> on_work_;
  mutable std::mutex mutex_;        // guards everything below
  std::condition_variable changed_; // room, emptiness, or the end
  std::deque<frame_run> runs_;
  std::size_t queued_messages_ = 0; // taken by the writer but not yet written included
  std::size_t queued_bytes_ = 0;
  std::size_t control_bytes_ = 0; // of runs_ only
  std::size_t waiters_ = 0;
  bool writer_idle_ = true;
  bool closed_ = false;
  paused_sources paused_;
  link_counters counters_;
};

} // namespace pubsub
