// The producers' side of every bounded place: runs go in, a policy says what happens when it is
// full.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include <boost/container/deque.hpp>
#include <boost/container/small_vector.hpp>

#include "queue/deadline.hpp"
#include "queue/flow_source.hpp"
#include "queue/newest_messages.hpp"
#include "queue/queue_bounds.hpp"

namespace pubsub {

/// What became of a message offered to a queue.
enum class push_result : std::uint8_t { taken, dropped, closed, would_block };

/// How much may be appended to a run before its writer asks again: messages, and bytes that only
/// the last message may exceed. Nothing, if the queue does not take the run.
struct run_grant {
  push_result result = push_result::taken;
  bool entered = false;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

/// A sequence of runs, some still growing. A run enters once and takes room for as much as it is
/// granted; from then on its writer appends without asking, and takes the mutex only to wake a
/// consumer that sleeps. Room granted but not used is taken back from its writer, by closing the
/// run, when another thread needs it. Bounds and counters are exact:
/// `offered == gone out + dropped + filtered + queued` holds whenever the mutex is free. With
/// `conflate`, or where a condition selects messages, there is no room in advance: every message is
/// looked at when it comes. Thread-safe.
class bounded_queue {
public:
  bounded_queue(const bounded_queue&) = delete;
  bounded_queue& operator=(const bounded_queue&) = delete;

  /// Lets a fresh run enter, as the policy says. With `block` it always enters: wait for room
  /// before. A run that does not enter, or makes others drop, counts as one message offered: the
  /// one it is opened for, of this topic. Not for queues that take messages one by one.
  run_grant open(const intrusive_ptr<message_run>& run, std::string_view topic);
  /// Takes a finished run of a publisher; with `block` whole: wait for room before.
  push_result push(const intrusive_ptr<message_run>& run);
  /// Whether messages come one by one, with `push`.
  bool takes_one_by_one() const noexcept { return conflates() || selects_; }
  /// Whether producers wait for room.
  bool makes_wait() const noexcept { return policy_ == overflow_policy::block; }
  /// The consumer is to be called with what enters next. Takes no lock.
  bool armed() const noexcept { return armed_.load(std::memory_order_acquire); }
  /// A writer has learnt that its run is watched.
  void wake();
  /// Publishers have to find another route: their runs end, and what would enter next gets
  /// `would_block`, without waiting. What an I/O thread has at hand still enters.
  void refuse_publishers();
  /// Waits until there is room. False if there is none at `until`; a queue that has ended, or whose
  /// policy is not to wait, always has room.
  bool wait_for_room(const deadline& until);
  /// Takes what an I/O thread has at hand, a finished run; never blocks. If the policy is `block`
  /// and a bound is now exceeded, `source` is paused: it must stop, and is resumed once when there
  /// is room. Returns true if paused.
  bool push_run(const intrusive_ptr<message_run>& run, const std::weak_ptr<flow_source>& source);

protected:
  struct entry {
    intrusive_ptr<message_run> run;
    run_position taken{};
    run_position end{}; ///< as far as it is ours; of a growing run, as last seen
    bool growing = false;
    run_position granted{}; ///< counted as held while growing

    bool empty() const noexcept { return taken.bytes == end.bytes; }
    bool control() const noexcept { return !growing && end.messages == 0; }
  };
  struct account {
    std::uint64_t offered = 0;
    std::uint64_t dropped_oldest = 0;
    std::uint64_t dropped_newest = 0;
    std::uint64_t dropped_closed = 0;
    std::uint64_t dropped_overflow = 0;
    std::uint64_t conflated = 0;
    std::uint64_t filtered = 0;
    std::uint64_t queued = 0; ///< not gone out yet
  };
  /// Messages of a run that were selected, in a row; or one of them alone, in a run of its own.
  struct selected_part {
    intrusive_ptr<message_run> run;
    run_position from;
    run_position to;
  };
  using selection = boost::container::small_vector<selected_part, 4>;
  /// Whether a queue lets in all messages, or asks `select` first.
  enum class entrance : std::uint8_t { all, selected };
  using limits = take_limits;
  /// Takes no memory while nothing ever entered, and little for a few: there are queues by the
  /// thousands.
  using entry_queue =
      boost::container::deque<entry, void,
                              boost::container::deque_options_t<boost::container::block_size<4U>>>;

  /// `shared`, if any, outlives the queue.
  explicit bounded_queue(const queue_options& options, shared_bounds* shared = nullptr,
                         entrance lets_in = entrance::all);
  virtual ~bounded_queue() = default;

  /// Adds to `out` what shall enter of a finished run. Called without the mutex, by several
  /// producers at once, and only where the queue lets in what is selected.
  virtual void select(const intrusive_ptr<message_run>& /*run*/, selection& /*out*/) {}

  // All of these are called with the mutex held.

  /// The consumer sleeps or has armed its descriptor: there is work. May unlock.
  virtual void on_work(std::unique_lock<std::mutex>& lock) = 0;
  /// The policy is `disconnect` and there was no room: nothing enters any more. May unlock.
  virtual void on_overflow(std::unique_lock<std::mutex>& lock) = 0;
  /// What a link has read is about to enter.
  virtual void on_arrival(const message_run&) {}
  void enter_control(intrusive_ptr<message_run> frame, std::unique_lock<std::mutex>& lock);
  /// Moves slices to `out`, oldest first. They count as held until `release`.
  run_position take(std::vector<run_slice>& out, const limits& most);
  /// Whether there is anything to take.
  bool available();
  /// `on_work` shall be called with the next thing that enters. False if there is one already.
  bool arm();
  account accounts() const noexcept;
  /// What went out is no longer held. Unlocks, and lets waiting producers go on if there is room.
  void release(run_position size, std::unique_lock<std::mutex>& lock);
  /// Nothing enters any more. Unlocks, and wakes waiting producers.
  void end_input(std::unique_lock<std::mutex>& lock);
  /// Drops everything held.
  void clear();
  bool ended() const noexcept { return ended_; }

  mutable std::mutex mutex_; // guards everything below
  std::condition_variable room_;
  std::size_t waiting_ = 0; // at room_

private:
  bool full_for_good();
  bool conflates() const noexcept { return policy_ == overflow_policy::conflate; }
  push_result enter(const intrusive_ptr<message_run>& run, const selection& selected);
  push_result enter(const intrusive_ptr<message_run>& run, run_position from, run_position to);
  push_result enter_part(const intrusive_ptr<message_run>& run, run_position from, run_position to);
  push_result conflate(message_run& run, run_position from, run_position to);
  push_result count_late(std::uint64_t messages) noexcept;
  const char* why_ended() const noexcept { return overflowed_ ? "overflow" : "closed"; }
  void after_entry(push_result result, std::unique_lock<std::mutex>& lock);
  void add_entry(const intrusive_ptr<message_run>& run, run_position from, run_position to);
  run_grant grant_room(const intrusive_ptr<message_run>& run, push_result result);
  void look_at(entry& x) noexcept;
  void settle(bool revoke) noexcept;
  bool drop_front() noexcept;
  void signal(std::unique_lock<std::mutex>& lock);
  void let_producers_go_on(std::unique_lock<std::mutex>& lock);

  const overflow_policy policy_;
  const bool selects_;
  queue_bounds bounds_;
  entry_queue entries_;
  std::optional<newest_messages> newest_; // in place of entries_, if the policy is `conflate`
  std::size_t growing_ = 0;               // entries that are
  std::atomic<bool> armed_{false};        // set and cleared with the mutex held
  bool ended_ = false;
  bool refuses_ = false;    // publishers
  bool overflowed_ = false; // that is why it ended
  account counts_;          // without growing runs
  std::uint64_t left_ = 0;  // messages that have gone out
  paused_sources paused_;
};

} // namespace pubsub
