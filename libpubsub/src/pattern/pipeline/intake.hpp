// Which tasks are here, and which are done: the books of one queue. Pure: no I/O, no threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/pattern/pipeline_options.hpp>

#include "pattern/pipeline/task_messages.hpp"

namespace pubsub::pattern {

class task_queue_core;

/// How far a queue is with the tasks of one exchange.
struct exchange_books {
  number_set received;
  number_set done;
  std::uint64_t settled = 0;
  std::vector<number_run> rejected_runs; // that the exchange may not have heard of
  std::uint64_t taken = 0;
  std::uint64_t taken_reported = 0;
  std::uint64_t unreported = 0; // done, since the last report, and somebody may wait for it
  bool urgent = false;          // the exchange waits for reports
  bool forgotten = false;
};

/// What tasks that came together have in common.
struct task_origin {
  std::shared_ptr<task_queue_core> queue;
  std::shared_ptr<exchange_books> books; ///< of the exchange, guarded by the queue
  endpoint_id exchange;
  endpoint_id source;
  bool redelivered = false;
  bool direct = false; ///< whoever has done them tells the source
  data_message holder; ///< of the bytes of their values

  /// The source is told, and the exchange need not be at once.
  bool ends_here() const noexcept { return direct && source != exchange; }
};

/// A task that is here.
struct ready_task {
  std::shared_ptr<const task_origin> from;
  std::uint64_t place = 0;  ///< among all the exchange has given this queue
  std::uint64_t number = 0; ///< of the source
  data_view value;
};

/// Tasks that were given out, of one origin, whose places and numbers follow one another.
struct task_marks {
  const task_origin* from = nullptr;
  number_run places;
  std::uint64_t first_number = 0;
};

/// Takes every task once, whatever is sent again, and says when it is time to tell an exchange how
/// far this queue is.
class intake {
public:
  explicit intake(std::size_t batch_tasks) : batch_tasks_(batch_tasks), together_(batch_tasks) {}
  /// So many done tasks are worth telling of, if that is more than `batch_tasks`.
  void set_worth_telling(std::uint64_t tasks) noexcept {
    together_ = std::max<std::uint64_t>(tasks, batch_tasks_);
  }

  /// `holder` is the message `tasks` was read from; `queue` goes with every task.
  void receive(const tasks_view& tasks, data_message holder,
               std::shared_ptr<task_queue_core> queue = {});
  bool empty() const noexcept { return ready_.empty(); }
  std::size_t size() const noexcept { return ready_tasks_; }
  /// The next task; call it while there is one. Its exchange should be told at once if it has been
  /// with another queue: that may have died of it.
  ready_task take();

  /// True if the exchange, or the source, should be told now.
  bool done(const task_marks& tasks);
  /// True if the exchange should be told now. `direct`: the source has been told.
  bool done(const endpoint_id& exchange, const number_run& places, bool direct);
  /// Of tasks that end here, those done since the last call, by source.
  struct completed {
    endpoint_id source;
    number_list numbers;
  };
  std::vector<completed> take_completed();
  void reject(const endpoint_id& exchange, std::uint64_t place);

  /// Forgets the tasks that were not given out.
  void clear() noexcept;

  void invite(const endpoint_id& exchange) { books_of(exchange); }
  void forget(const endpoint_id& exchange);
  std::vector<endpoint_id> exchanges() const;
  /// Those that believe there is something to do here, and have not been told that there is not.
  std::vector<endpoint_id> mistaken() const;
  /// Somebody may wait to hear from this queue.
  bool reports_due(const endpoint_id& exchange) const;
  /// How far this queue is; fields about the queue itself are left to the caller.
  queue_report report_for(const endpoint_id& exchange);

private:
  struct waiting_batch {
    std::shared_ptr<const task_origin> from;
    std::vector<number_run> numbers;
    std::size_t run = 0; // of the next task
    std::uint64_t in_run = 0;
    data_view::iterator next;
    std::uint64_t place;
    std::uint64_t left;
    std::vector<std::uint64_t> had; // places that came before, ascending
  };

  std::shared_ptr<exchange_books>& books_of(const endpoint_id& exchange);
  bool is_due(std::uint64_t untold) const noexcept;
  void note_done(const task_origin& from, const number_run& numbers);
  void skip_what_was_had(waiting_batch& batch);
  static void advance(waiting_batch& batch);

  const std::size_t batch_tasks_;
  std::uint64_t together_; // so many are told of at a time
  std::map<endpoint_id, std::shared_ptr<exchange_books>> exchanges_;
  std::deque<waiting_batch> ready_;
  std::size_t ready_tasks_ = 0;
  std::vector<completed> completed_;
  std::uint64_t completed_tasks_ = 0;
};

} // namespace pubsub::pattern
