// How much a queue may hold, alone or together with others.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include <pubsub/queue_options.hpp>

#include "message/message_run.hpp"

namespace pubsub {

/// What several queues hold together. Producers at the same moment may exceed the bounds by what
/// each of them brings. Thread-safe.
struct shared_bounds {
  std::atomic<std::int64_t> messages{0};
  std::atomic<std::int64_t> bytes{0};
};

/// Counts what a queue holds beside what it may hold. Where queues share bounds, each is full when
/// all of them together hold as much as its options say; a queue that holds less than `own_part` of
/// that is not full whatever the others hold, so that no queue waits for room in another one. Not
/// thread-safe: guarded by the queue's mutex.
class queue_bounds {
public:
  static constexpr std::int64_t own_part = 32;

  /// Capacities count as 1 at least, or nothing would ever fit. `shared`, if any, outlives this.
  explicit queue_bounds(const queue_options& options, shared_bounds* shared) noexcept;

  void hold(run_position size) noexcept {
    hold(size.messages, static_cast<std::int64_t>(size.bytes));
  }
  void let_go(run_position size) noexcept {
    hold(-std::int64_t{size.messages}, -static_cast<std::int64_t>(size.bytes));
  }
  void let_all_go() noexcept { hold(-held_.messages, -held_.bytes); }

  std::int64_t held_messages() const noexcept { return held_.messages; }
  bool full() const noexcept {
    const auto left = room();
    return left.messages <= 0 || left.bytes <= 0;
  }
  /// A single message may exceed the bytes.
  bool exceeded() const noexcept {
    const auto left = room();
    return left.messages < 0 || (held_.messages > 1 && left.bytes < 0);
  }
  /// No more than half full; or, where others share the bounds, empty.
  bool low() const noexcept;
  /// All the room there is, and at least that of one message.
  run_position room_for_some() const noexcept;
  /// How far the messages of the run from `from` to `to` fit, one after the other.
  run_position end_of_part_that_fits(const message_run& run, run_position from,
                                     run_position to) const noexcept;

private:
  struct amount {
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
  };

  /// Negative where the bounds are exceeded.
  amount room() const noexcept;
  void hold(std::int64_t messages, std::int64_t bytes) noexcept;

  const amount most_;
  shared_bounds* const shared_; // null: the bounds are for this queue alone
  amount held_;
};

} // namespace pubsub
