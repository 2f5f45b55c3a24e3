// What an exchange knows of one queue. Pure: no I/O, no threads, no clock.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "pattern/pipeline/task_pool.hpp"
#include "pattern/pipeline/tuning.hpp"

namespace pubsub::pattern {

/// What a queue has said of itself, and the batches that it was given and has not done.
class queue_state {
public:
  using nanoseconds = std::chrono::nanoseconds;
  using time = std::chrono::steady_clock::time_point;

  struct delivery {
    std::uint64_t first = 0; ///< the place of its first task
    std::shared_ptr<tracked_batch> batch;
    std::size_t left = 0; ///< tasks that are not done
    time sent;
  };

  /// The queue is given places from `first_place` on.
  explicit queue_state(std::uint64_t first_place) : taken_(first_place), next_place_(first_place) {
    settled_.raise(first_place);
  }

  /// Takes over what a report says of the queue; what it says of tasks is for `settle`. The time of
  /// a task is the mean of the last ones, so that what comes with a single one counts little, and a
  /// single one that takes long much.
  void update(const queue_report& report, time now) {
    credit_ = std::max<std::uint64_t>(report.credit, 1);
    concurrency_ = std::max<std::uint64_t>(report.concurrency, 1);
    heard_ = now;
    taken_ = std::clamp(report.taken, taken_, next_place_);
    if (report.timed <= timed_)
      return;
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    const auto n = static_cast<nanoseconds::rep>(
        std::min(report.timed - std::exchange(timed_, report.timed), most));
    const nanoseconds busy{
        static_cast<nanoseconds::rep>(std::min(report.busy_ns, most * most / 4))};
    const auto took = std::max(busy - std::exchange(busy_, busy), nanoseconds{1});
    const auto known = per_task_.count() == 0 ? 0 : tuning::remembered_tasks;
    per_task_ = std::max((took + known * per_task_) / (known + n), nanoseconds{1});
  }
  /// It has taken the tasks at places below `end`.
  void take_until(std::uint64_t end) noexcept { taken_ = std::max(taken_, end); }
  time last_heard() const noexcept { return heard_; }
  std::uint64_t credit() const noexcept { return credit_; }
  /// How long a task takes there, on average; 0: not known yet.
  nanoseconds time_per_task() const noexcept { return per_task_; }

  bool is_idle() const noexcept { return outstanding_ == 0; }
  /// Whether it takes so many tasks more: without `ahead` as its credit allows; else as many as it
  /// works on at a time may wait there, so that the next is there when one is done, or `ahead` of
  /// work if that is more.
  bool has_room(std::size_t tasks, std::optional<nanoseconds> ahead) const noexcept {
    if (outstanding_ == 0)
      return true;
    if (outstanding_ + tasks > credit_)
      return false;
    if (!ahead || backlog() == 0)
      return true;
    auto most = std::min(credit_, concurrency_);
    if (per_task_.count() > 0)
      most = std::clamp(static_cast<std::uint64_t>(*ahead / per_task_), most, credit_);
    return backlog() + tasks <= most;
  }
  /// What it has to do, what it has not acknowledged, and when it was last given something: less is
  /// better.
  auto load() const noexcept { return std::tuple{backlog(), outstanding_, turn_}; }
  std::uint64_t turn() const noexcept { return turn_; }
  std::uint64_t next_place() const noexcept { return next_place_; }
  /// Places below are done with.
  std::uint64_t settled_below() const noexcept {
    return deliveries_.empty() ? next_place_ : deliveries_.front().first;
  }
  /// Whether it may have died of the task at this place: it was working on it.
  bool was_working_on(std::uint64_t place) const noexcept {
    return place < taken_ && place + concurrency_ >= taken_;
  }

  /// `turn` counts batches.
  const delivery& give(std::shared_ptr<tracked_batch> batch, std::uint64_t turn, time now) {
    const auto n = batch->tasks.size();
    deliveries_.push_back({next_place_, std::move(batch), n, now});
    next_place_ += n;
    outstanding_ += n;
    turn_ = turn;
    return deliveries_.back();
  }
  /// The tasks at these places are done, or are taken from the queue. For every `n` tasks that a
  /// batch still had, from the index `task` on, it calls `each(batch, task, n, place)`.
  template <class Each>
  void settle(const sequence_range& places, Each&& each) {
    const auto end = std::min(places.first + places.count, next_place_);
    if (places.first >= end)
      return;
    settled_.insert({places.first, end - places.first}, [&](sequence_range fresh) {
      auto at = std::ranges::upper_bound(deliveries_, fresh.first, {}, &delivery::first);
      for (--at; fresh.count > 0; ++at) {
        const auto task = fresh.first - at->first;
        const auto n = std::min<std::uint64_t>(fresh.count, at->batch->tasks.size() - task);
        at->left -= n;
        outstanding_ -= n;
        each(*at->batch, static_cast<std::size_t>(task), static_cast<std::size_t>(n), fresh.first);
        fresh.first += n;
        fresh.count -= n;
      }
    });
  }
  /// The oldest delivery, if all of it is done: it leaves the queue.
  std::optional<delivery> take_settled() {
    if (deliveries_.empty() || deliveries_.front().left > 0)
      return {};
    auto result = std::move(deliveries_.front());
    deliveries_.pop_front();
    return result;
  }
  /// Calls `each` with deliveries that have not arrived in time: messages are lost only where links
  /// break.
  template <class Each>
  void send_again(std::uint64_t received, time now, nanoseconds in_time, Each&& each) {
    if (deliveries_.empty() || now - deliveries_.front().sent < in_time)
      return; // the front has been on its way for longest
    for (auto& it : deliveries_)
      if (it.first + it.batch->tasks.size() > received && now - it.sent >= in_time) {
        it.sent = now;
        each(it);
      }
  }

private:
  std::uint64_t backlog() const noexcept { return next_place_ - taken_; }

  std::uint64_t credit_ = 0;
  std::uint64_t concurrency_ = 1;
  std::uint64_t taken_;     // places below are worked on, or done, as far as is known
  std::uint64_t timed_ = 0; // tasks, of all exchanges, that took as long as `busy_`
  nanoseconds busy_{0};
  nanoseconds per_task_{0}; // smoothed
  time heard_;
  std::uint64_t turn_ = 0; // of its last batch
  std::uint64_t next_place_;
  std::uint64_t outstanding_ = 0; // tasks that are not done
  sequence_set settled_;          // places
  std::deque<delivery> deliveries_;
};

} // namespace pubsub::pattern
