// Which queue gets which tasks, and which tasks are done. Pure: no I/O, no threads, no clock.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <pubsub/pattern/pipeline_options.hpp>

#include "pattern/pipeline/queue_state.hpp"
#include "pattern/pipeline/task_pool.hpp"

namespace pubsub::pattern {

/// Tasks wait, are *in flight* from then on until every queue that got them has acknowledged them,
/// and never are more than the window. They travel in batches: of one task where tasks take long,
/// of so many that a batch takes about `batch_time` where they are short, so that what a message
/// costs is little beside the work, and no queue has much to do when the others have finished; of
/// fewer where a queue has nothing to do, or the window does not hold two for every queue.
class task_scheduler {
public:
  using time = queue_state::time;

  explicit task_scheduler(const exchange_options& options) : options_(options) {}

  bool has_room() const noexcept { return room() > 0; }
  std::size_t room() const noexcept {
    return options_.window_tasks - std::min(in_flight_, options_.window_tasks);
  }
  std::size_t in_flight() const noexcept { return in_flight_; }
  /// At most as many as there is room for. True if they are the first of a batch, which is held
  /// back until it is full.
  bool add(const new_tasks& more);
  /// No batch is held back any more.
  void release() noexcept { pool_.release(); }
  bool holds_back() const noexcept { return pool_.holds_back(); }

  struct outgoing {
    endpoint_id queue;
    batch_position at; ///< without the exchange, which the caller knows
    std::shared_ptr<const task_batch> tasks;
  };
  /// Whether `next` may have something.
  bool may_send() const noexcept {
    return !to_send_.empty() ||
           (!blocked_ && (!redeliveries_.empty() || pool_.ready(wanted()) > 0));
  }
  /// Whether a queue has nothing to do.
  bool has_idle_queue() const noexcept;
  /// The next batch that is to be sent, if any. Call it after anything that happens.
  std::optional<outgoing> next(time now);

  void receive(const queue_report& report, time now);
  /// Tasks that began here are done, and their results, too.
  void complete(const sequence_range& numbers);
  /// The queue is gone, with all it had not done.
  void lose(const endpoint_id& queue);
  /// The queues that have not reported since `then`.
  std::vector<endpoint_id> silent_since(time then) const;
  std::size_t queues() const noexcept { return queues_.size(); }

  /// Those done since the last call that came from another exchange.
  std::vector<upstream_range> take_done() { return std::exchange(done_, {}); }
  /// Those that have been with more queues that were lost than they may.
  std::vector<std::shared_ptr<const task_batch>> take_dead() { return std::exchange(dead_, {}); }
  /// Of the tasks that began here, those with lower numbers are done, dead or dropped.
  std::uint64_t settled_below() const noexcept { return settled_.low(); }
  const exchange_counters& counters() const noexcept { return counters_; }

private:
  using queue_map = std::map<endpoint_id, queue_state>;
  /// Where tasks are whose numbers follow one another.
  struct location {
    queue_state* queue = nullptr;
    std::uint64_t place = 0;
    std::uint64_t count = 0;
  };

  bool to_all() const noexcept { return options_.style == exchange_style::data_distribution; }
  /// How many tasks shall travel together.
  std::size_t wanted() const noexcept { return idle_ ? least_batch_ : batch_; }
  void adapt();
  std::chrono::nanoseconds work_ahead() const noexcept;
  queue_map::iterator choose(std::size_t tasks);
  void hand_out(time now);
  std::shared_ptr<tracked_batch> next_batch();
  void give(queue_map::value_type& to, const std::shared_ptr<tracked_batch>& batch, time now);
  void send(const queue_map::value_type& to, const queue_state::delivery& what);
  void locate(queue_state& queue, const queue_state::delivery& what);
  void forget_settled(queue_state& queue);
  void mark_done(queue_state& queue, const sequence_range& places);
  void take_away(queue_state& queue, const sequence_range& places, bool rejected);
  void lose_task(tracked_batch& of, std::size_t task, bool suspect);
  void settle(tracked_batch& of, std::size_t task, std::size_t n, std::uint64_t& counter);
  void end(const tracked_batch& of, std::size_t task, std::size_t n, std::uint64_t& counter);

  const exchange_options options_;
  queue_map queues_;
  task_pool pool_;
  std::deque<std::shared_ptr<tracked_batch>> redeliveries_; // go before what is in the pool
  bool blocked_ = false; // no queue takes what waits, until something happens
  std::deque<outgoing> to_send_;
  std::map<std::uint64_t, location> located_; // by first number, of tasks for `complete`
  std::size_t in_flight_ = 0;
  std::size_t batch_ = 1;       // tasks that travel together
  std::size_t least_batch_ = 1; // to a queue that has nothing to do
  bool idle_ = false;           // as `has_idle_queue`
  double tasks_per_ns_ = 0;     // that all queues do
  std::uint64_t turn_ = 0;
  std::uint64_t places_ = 0; // given so far: a queue that comes back gets other ones
  sequence_set settled_;
  std::vector<upstream_range> done_;
  std::vector<std::shared_ptr<const task_batch>> dead_;
  exchange_counters counters_;
};

} // namespace pubsub::pattern
