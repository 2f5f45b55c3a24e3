// Which tasks are here, and how far a queue is with those of each exchange. Pure: no I/O, no
// threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/pattern/pipeline_options.hpp>

#include "pattern/pipeline/task_messages.hpp"
#include "pattern/pipeline/task_pool.hpp"

namespace pubsub::pattern {

class task_queue_core;

/// What tasks that came together have in common.
struct task_origin {
  std::shared_ptr<task_queue_core> queue;
  endpoint_id exchange;
  task_source source;
  bool redelivered = false;
  bool direct = false; ///< the queue at the end of the pipeline tells the source what is done
  std::vector<sequence_range> numbers;
  data_message holder; ///< of the bytes of their values
};

/// A task that is here.
struct ready_task {
  std::shared_ptr<const task_origin> from;
  std::uint64_t place = 0;  ///< among all the exchange has given this queue
  std::uint64_t number = 0; ///< of the source
  data_view value;
};

/// Tasks that were given out, of one origin, whose places and numbers follow one another.
struct task_range {
  const task_origin* from = nullptr;
  sequence_range places;
  std::uint64_t first_number = 0;
};

/// Appends tasks to a list of ranges.
inline void append(std::vector<task_range>& to, const task_range& more) {
  const auto follows = [&](const task_range& x) {
    return x.from == more.from && x.places.first + x.places.count == more.places.first &&
           x.first_number + x.places.count == more.first_number;
  };
  if (!to.empty() && follows(to.back()))
    to.back().places.count += more.places.count;
  else
    to.push_back(more);
}

/// Holds what comes too early until what is before it has come, or is known never to come; appends
/// it to `ready` then. What comes again is ready, or waits, already: it is ready at once, in any
/// place. `Item` is what is ordered.
template <class Item>
class reorder {
public:
  explicit reorder(std::deque<Item>& ready) : ready_(ready) {}

  void put(const endpoint_id& source, std::uint64_t number, Item item) {
    auto& from = sources_[source];
    if (number < from.next || !from.waiting.try_emplace(number, std::move(item)).second)
      ready_.push_back(std::move(item));
    else
      release(from);
  }
  /// Numbers below are done elsewhere, or never will be.
  void settle(const endpoint_id& source, std::uint64_t below) {
    auto& from = sources_[source];
    from.begun = true;
    from.settled = std::max(from.settled, below);
    release(from);
  }
  /// Forgets what waits.
  void clear() noexcept { sources_.clear(); }

private:
  struct stream {
    bool begun = false; // it is known where it begins
    std::uint64_t settled = 0;
    std::uint64_t next = 0; // to be ready
    std::map<std::uint64_t, Item> waiting;
  };

  void release(stream& from) {
    while (!from.waiting.empty()) {
      const auto first = from.waiting.begin();
      if (from.begun && from.settled > from.next)
        from.next = std::min(from.settled, std::max(from.next, first->first));
      if (!from.begun || first->first != from.next)
        return;
      ready_.push_back(std::move(first->second));
      from.waiting.erase(first);
      ++from.next;
    }
  }

  std::deque<Item>& ready_;
  std::map<endpoint_id, stream> sources_;
};

/// Takes every task once, whatever is sent again, and says when it is time to report to an
/// exchange.
class task_inbox {
public:
  /// How far this queue is with the tasks of one exchange.
  struct exchange_state {
    sequence_set received;
    sequence_set done;
    std::vector<sequence_range> rejected; // that the exchange may not have heard of
    std::uint64_t taken = 0;
    std::uint64_t taken_reported = 0;
    std::uint64_t unreported = 0; // done since the last report, where one is waited for
    bool urgent = false;          // the exchange waits for reports
  };

  explicit task_inbox(std::size_t batch_tasks, task_order order = task_order::as_they_come)
      : batch_tasks_(batch_tasks), order_(order) {}
  task_inbox(const task_inbox&) = delete;
  task_inbox& operator=(const task_inbox&) = delete;
  /// A report is worth so many done tasks, if that is more than `batch_tasks`.
  void set_worth_reporting(std::uint64_t tasks) noexcept {
    tasks_per_report_ = std::max<std::uint64_t>(tasks, batch_tasks_);
  }

  /// `holder` is the message `tasks` was read from; `queue` goes with every task.
  void receive(const tasks_view& tasks, data_message holder,
               std::shared_ptr<task_queue_core> queue = {}) {
    const auto& [exchange, first, settled, urgent] = tasks.at;
    auto& state = exchanges_[exchange];
    state.urgent = urgent;
    state.received.raise(settled); // more than is known here, if the exchange was taken for lost
    state.done.raise(settled);
    state.taken = std::max(state.taken, settled);
    std::erase_if(state.rejected, [&](const auto& run) { return run.first < tasks.at.settled; });
    waiting_tasks next{.from = std::make_shared<const task_origin>(
                           task_origin{std::move(queue), exchange, tasks.source, tasks.redelivered,
                                       tasks.direct, tasks.numbers, std::move(holder)}),
                       .next = tasks.values.elements().begin(),
                       .place = first};
    state.received.insert({first, tasks.values.size()}, [&](const sequence_range& fresh) {
      while (next.place < fresh.first)
        next.advance();
      if (order_ == task_order::as_they_come) {
        next.left = fresh.count;
        ready_tasks_ += fresh.count;
        return ready_.push_back(next);
      }
      for (next.left = 1; next.place < fresh.first + fresh.count; next.advance())
        in_order_.put(tasks.source.id, next.number(), next);
      state.taken = std::max(state.taken, next.place); // tasks that wait for others are no backlog
    });
  }
  /// Where tasks are ordered: those of this source with lower numbers are done, or never will be.
  void receive(const progress_report& x) { in_order_.settle(x.source, x.below); }
  bool empty() const noexcept { return ready_.empty(); }
  std::size_t size() const noexcept {
    return order_ == task_order::by_number ? ready_.size() : ready_tasks_;
  }
  /// The next task; call it while there is one. Its exchange should hear of it at once if it has
  /// been with another queue: that may have died of it.
  ready_task take() {
    auto& tasks = ready_.front();
    if (taking_ == nullptr)
      taking_ = find(tasks.from->exchange);
    if (taking_ != nullptr)
      taking_->taken = std::max(taking_->taken, tasks.place + 1);
    ready_task result{tasks.from, tasks.place, tasks.number(), *tasks.next};
    ready_tasks_ -= std::min<std::size_t>(ready_tasks_, 1);
    if (--tasks.left > 0)
      tasks.advance();
    else {
      ready_.pop_front();
      taking_ = nullptr;
    }
    return result;
  }
  /// Forgets the tasks that were not given out.
  void clear() noexcept {
    ready_.clear();
    in_order_.clear();
    ready_tasks_ = 0;
    taking_ = nullptr;
  }

  /// These are done. Where the source hears of the end, the exchange in between need not at once.
  void done(const task_range& tasks) {
    const auto& from = *tasks.from;
    const bool ends_here = from.direct && from.source.id != from.exchange;
    done({nullptr, from.exchange, tasks.places.first, tasks.places.count, ends_here});
    if (!ends_here || !exchanges_.contains(from.exchange))
      return;
    completed_[from.source].append({tasks.first_number, tasks.places.count});
    completed_tasks_ += tasks.places.count;
  }
  /// These are done with their results. `direct`: their source knows.
  void done(const upstream_range& tasks) {
    auto* its = find(tasks.exchange);
    if (its == nullptr)
      return;
    its->done.insert({tasks.first, tasks.count});
    if (!tasks.direct || its->urgent)
      its->unreported += tasks.count;
  }
  /// The exchange hears of it until it has settled the place.
  void reject(const endpoint_id& exchange, std::uint64_t place) {
    if (auto* its = find(exchange))
      its->rejected.push_back({place, 1});
  }

  /// Whether it is time to report to this exchange: enough is done, or nothing else is left to do.
  bool report_is_due(const endpoint_id& exchange, bool at_once = false) const {
    const auto found = exchanges_.find(exchange);
    return found != exchanges_.end() && is_due(found->second.unreported, at_once);
  }
  /// Fills in how far this queue is; fields about the queue itself are left to the caller.
  void report_to(const endpoint_id& exchange, queue_report& report) {
    auto& its = exchanges_[exchange];
    its.unreported = 0;
    its.taken_reported = its.taken;
    report.received = its.received.low();
    report.taken = its.taken;
    report.done = its.done.low();
    report.done_above = its.done.above();
    report.rejected = its.rejected;
  }
  /// The same for `take_completed`.
  bool completion_is_due(bool at_once = false) const noexcept {
    return is_due(completed_tasks_, at_once);
  }
  /// Of tasks whose sources hear of the end, those done since the last call, by source.
  std::map<task_source, sequence_list> take_completed() {
    completed_tasks_ = 0;
    return std::exchange(completed_, {});
  }

  void invite(const endpoint_id& exchange) { exchanges_[exchange]; }
  void forget(const endpoint_id& exchange) {
    exchanges_.erase(exchange);
    taking_ = nullptr;
  }
  const std::map<endpoint_id, exchange_state>& exchanges() const noexcept { return exchanges_; }

private:
  /// Tasks of one origin whose places follow one another; of an ordered queue, one task.
  struct waiting_tasks {
    std::shared_ptr<const task_origin> from;
    data_view::iterator next;
    std::uint64_t place = 0;
    std::uint64_t left = 0;
    std::size_t run = 0;      // of the numbers, the one that the next task is in,
    std::uint64_t in_run = 0; // and where

    std::uint64_t number() const noexcept { return from->numbers[run].first + in_run; }
    void advance() {
      ++next;
      ++place;
      if (++in_run == from->numbers[run].count) {
        ++run;
        in_run = 0;
      }
    }
  };

  exchange_state* find(const endpoint_id& exchange) {
    const auto found = exchanges_.find(exchange);
    return found != exchanges_.end() ? &found->second : nullptr;
  }
  bool is_due(std::uint64_t tasks, bool at_once) const noexcept {
    return tasks >= tasks_per_report_ || (tasks > 0 && (at_once || ready_.empty()));
  }

  const std::size_t batch_tasks_;
  const task_order order_;
  std::uint64_t tasks_per_report_ = batch_tasks_;
  std::map<endpoint_id, exchange_state> exchanges_;
  std::deque<waiting_tasks> ready_;
  std::size_t ready_tasks_ = 0; // where they are not ordered
  reorder<waiting_tasks> in_order_{ready_};
  exchange_state* taking_ = nullptr; // of the first in `ready_`, if it is known
  std::map<task_source, sequence_list> completed_;
  std::uint64_t completed_tasks_ = 0;
};

} // namespace pubsub::pattern
