// A publishing thread's way into a set of queues: the run it appends to.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

#include "queue/bounded_queue.hpp"

namespace pubsub {

/// Whether to wait for room in full queues whose policy is `block`, or to exceed their bounds by
/// this message because the caller has just seen room.
enum class when_full : std::uint8_t { wait, overshoot };

/// Keeps a run open in all the queues its messages go to, and opens another one where that run
/// cannot go on: other queues, other memory, no room left. Thread-safety: one thread.
class run_writer {
public:
  using exits = std::span<bounded_queue* const>;

  run_writer() = default;
  run_writer(const run_writer&) = delete;
  run_writer& operator=(const run_writer&) = delete;
  ~run_writer() { seal(); }

  /// Appends the record of `size_bytes` bytes at `source`, the same for all of `to`. Waits for room
  /// until `until`: `would_block` if some queue has none by then; no queue got the message.
  push_result push(exits to, const record_source& source, std::size_t size_bytes,
                   const deadline& until) {
    if (append(to, source, size_bytes)) [[likely]]
      return push_result::taken;
    return push_fresh(to, source, size_bytes, until);
  }
  /// The same, if the run at hand goes on with this record; otherwise false, and nothing has
  /// happened.
  bool append(exits to, const record_source& source, std::size_t size_bytes) {
    return goes_on(to) && run_->continues_with(source, end_) && append(size_bytes);
  }
  /// The same, for a record right behind the last one and for the same exits.
  bool append_next(std::size_t size_bytes) { return has_leave() && append(size_bytes); }
  /// As above for a built message that counts `size_bytes`; `msg` is moved from where it was taken.
  push_result push(exits to, data_message& msg, std::uint32_t size_bytes, const deadline& until,
                   when_full mode = when_full::wait);
  /// Waits until every queue has room. False if some queue has none at `until`.
  static bool wait_for_room(exits to, const deadline& until);
  /// Whether the next message for `to` needs no leave of a queue.
  bool goes_on(exits to) const noexcept {
    return to.data() == to_.data() && to.size() == to_.size() && has_leave();
  }
  /// Ends the run: what is pushed next enters behind everything other threads have pushed by then.
  void seal() noexcept;

private:
  // Handles that a run has room for: twice as many as the one before it, where that was filled. So
  // many share what it costs to make a run and to enter the queues with it, which at 256 was a
  // tenth of publishing (`pubsub bench stream --messages repeated`).
  static constexpr std::uint32_t first_slots = 1;
  static constexpr std::uint32_t most_slots = 1024;

  bool has_leave() const noexcept { return run_ && messages_left_ > 0 && bytes_left_ > 0; }
  /// False if the run was closed.
  [[gnu::always_inline]] bool append(std::size_t size_bytes) {
    const auto appended = run_->append(end_, size_bytes);
    if (appended != message_run::outcome::closed) [[likely]]
      count(size_bytes, appended);
    return appended != message_run::outcome::closed;
  }
  void count(std::size_t size_bytes, message_run::outcome appended) {
    --messages_left_;
    bytes_left_ -= static_cast<std::int64_t>(size_bytes);
    if (appended == message_run::outcome::watched) [[unlikely]]
      wake_all();
  }
  void wake_all();
  push_result push_fresh(exits to, const record_source& source, std::size_t size_bytes,
                         const deadline& until);
  push_result open(exits to, intrusive_ptr<message_run> fresh, std::string_view topic);
  static bool one_by_one(exits to) noexcept;
  static push_result push_alone(exits to, const intrusive_ptr<message_run>& run);

  intrusive_ptr<message_run> run_;
  exits to_;
  run_position end_; // of the run, if it is one of records
  std::uint64_t messages_left_ = 0;
  std::int64_t bytes_left_ = 0; // the last message may exceed it
  std::uint32_t next_slots_ = first_slots;
};

} // namespace pubsub
