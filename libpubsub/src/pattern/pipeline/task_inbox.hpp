// Which tasks are here, and how far a queue is with those of each exchange. Pure: no I/O, no
// threads.
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
  endpoint_id source;
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
               std::shared_ptr<task_queue_core> queue = {});
  /// Where tasks are ordered: those of this source with lower numbers are done, or never will be.
  void receive(const progress_report& x) { in_order_.settle(x.source, x.below); }
  bool empty() const noexcept { return ready_.empty(); }
  std::size_t size() const noexcept {
    return order_ == task_order::by_number ? ready_.size() : ready_tasks_;
  }
  /// The next task; call it while there is one. Its exchange should hear of it at once if it has
  /// been with another queue: that may have died of it.
  ready_task take();
  /// Forgets the tasks that were not given out.
  void clear() noexcept;

  /// These are done.
  void done(const task_range& tasks);
  /// These are done with their results. `direct`: their source knows.
  void done(const upstream_range& tasks);
  /// The exchange hears of it until it has settled the place.
  void reject(const endpoint_id& exchange, std::uint64_t place);

  /// Whether it is time to report to this exchange: enough is done, or nothing else is left to do.
  bool report_is_due(const endpoint_id& exchange, bool at_once = false) const;
  /// Fills in how far this queue is; fields about the queue itself are left to the caller.
  void report_to(const endpoint_id& exchange, queue_report& report);
  /// The same for `take_completed`.
  bool completion_is_due(bool at_once = false) const noexcept {
    return is_due(completed_tasks_, at_once);
  }
  /// Of tasks whose sources hear of the end, those done since the last call, by source.
  std::map<endpoint_id, sequence_list> take_completed();

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
    void advance();
  };

  exchange_state* find(const endpoint_id& exchange);
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
  std::map<endpoint_id, sequence_list> completed_;
  std::uint64_t completed_tasks_ = 0;
};

} // namespace pubsub::pattern
