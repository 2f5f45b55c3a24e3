// Which queue gets which tasks, and which tasks are done: the books of one exchange. Pure: no I/O,
// no threads, no clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <pubsub/pattern/pipeline_options.hpp>

#include "pattern/pipeline/task_pool.hpp"

namespace pubsub::pattern {

/// Tasks wait, are *in flight* from then on until every queue that got them has acknowledged them,
/// and never are more than the window. They travel in batches: of one task where tasks take long,
/// of so many that a batch takes about `batch_time` where they are short, so that what a message
/// costs is little beside the work, and no queue has much to do when the others have finished; of
/// fewer where a queue has nothing to do, or the window does not hold two for every queue.
class dispatch {
public:
  using clock = std::chrono::steady_clock;
  using time = clock::time_point;

  explicit dispatch(const exchange_options& options) : options_(options) {}

  // -- tasks -------------------------------------------------------------------------------------

  bool has_room() const noexcept { return room() > 0; }
  std::size_t room() const noexcept {
    return options_.window_tasks - std::min(in_flight_, options_.window_tasks);
  }
  std::size_t in_flight() const noexcept { return in_flight_; }
  /// At most as many as there is room for. True if they are the first of those that will travel
  /// together: they are held back for the others.
  bool add(const new_tasks& more);
  /// What is held back to travel with others goes now.
  void flush() noexcept { pool_.release(); }
  bool holds_back() const noexcept { return pool_.holds_back(); }

  struct outgoing {
    endpoint_id queue;
    std::uint64_t first = 0;
    std::uint64_t settled = 0;
    bool urgent = false;
    std::shared_ptr<const task_batch> tasks;
  };
  /// Whether `next` may have something.
  bool may_send() const noexcept {
    return !to_send_.empty() ||
           (!nobody_takes_ && (!again_first_.empty() || pool_.ready(wanted()) > 0));
  }
  /// A queue has nothing to do.
  bool leaves_someone_idle() const noexcept;
  /// The next batch that is to be sent, if any. Call it after anything that happens.
  std::optional<outgoing> next(time now);

  // -- queues ------------------------------------------------------------------------------------

  void receive(const queue_report& report, time now);
  /// Tasks that began here are done, and their results, too.
  void complete(const number_run& numbers);
  /// The queue is gone, with all it had not done.
  void lose(const endpoint_id& queue);
  /// The queues nothing was heard of since then.
  std::vector<endpoint_id> silent_since(time then) const;
  std::vector<endpoint_id> queues() const;

  // -- what has become of tasks ------------------------------------------------------------------

  /// Those done since the last call that came from another exchange.
  std::vector<upstream_run> take_done() { return std::exchange(done_, {}); }
  /// Those that have been with more queues that were lost than they may.
  std::vector<std::shared_ptr<const task_batch>> take_dead() { return std::exchange(dead_, {}); }
  /// Of the tasks that began here, those with lower numbers are done, dead or dropped.
  std::uint64_t settled_below() const noexcept { return settled_.low(); }
  const exchange_counters& counters() const noexcept { return counters_; }

private:
  struct parcel {
    task_batch tasks;
    std::vector<upstream_run> upstream; // of all tasks, or of none
    std::vector<std::uint16_t> left;    // queues that have not done it, by task
    unsigned losses = 0;                // of queues that had it
  };
  struct given {
    std::uint64_t first = 0;
    std::shared_ptr<parcel> what;
    std::vector<bool> done;
    std::size_t left = 0;
    time sent;
  };
  struct queue_entry {
    std::uint64_t credit = 0;
    std::uint64_t concurrency = 1;
    std::uint64_t outstanding = 0; // not done
    std::uint64_t taken = 0;       // worked on, or done, as far as is known
    std::uint64_t timed = 0;       // tasks, of all exchanges, that took so long as `busy`
    std::uint64_t done_below = 0;  // places
    std::uint64_t next_place = 0;
    std::deque<given> all;
    std::chrono::nanoseconds busy{0};
    std::chrono::nanoseconds per_task{0}; // smoothed; 0: not known yet
    time heard;
    std::uint64_t turn = 0; // of its last batch

    std::uint64_t backlog() const noexcept { return next_place - taken; }
  };
  using queue_map = std::map<endpoint_id, queue_entry>;
  /// Where tasks are whose numbers follow one another.
  struct location {
    endpoint_id queue;
    std::uint64_t place = 0;
    std::uint64_t count = 0;
  };

  void set_target() noexcept;
  /// How many tasks shall travel together.
  std::size_t wanted() const noexcept { return someone_idle_ ? least_target_ : target_; }
  std::chrono::nanoseconds remaining() const noexcept;
  std::uint64_t allowance(const queue_entry& queue) const noexcept;
  bool wants_more(const queue_entry& queue, std::size_t tasks) const noexcept;
  static std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>
  load_of(const queue_entry& queue) noexcept;
  queue_map::iterator choose(std::size_t tasks);
  outgoing to_queue(const endpoint_id& id, const queue_entry& queue, const given& batch) const;
  void note(const endpoint_id& queue, const given& batch);
  void forget(const endpoint_id& queue, const given& batch);
  void drop_finished(const endpoint_id& id, queue_entry& queue);
  void give(queue_map::iterator to, const std::shared_ptr<parcel>& what, time now);
  void hand_out(time now);
  void hand_to_all(std::size_t tasks, time now);
  std::shared_ptr<parcel> next_parcel();
  void mark_done(queue_entry& queue, std::uint64_t first, std::uint64_t end);
  void reject(queue_entry& queue, std::uint64_t first, std::uint64_t end);
  void send_again(const endpoint_id& id, queue_entry& queue, std::uint64_t received, time now);
  template <class Visitor>
  static void visit(queue_entry& queue, given& batch, std::uint64_t first, std::uint64_t end,
                    Visitor&& each);
  void settle(parcel& of, std::size_t task);
  void settle_all(const parcel& of);
  static void learn(queue_entry& queue, const queue_report& report);
  static bool is_suspect(const queue_entry& queue, const parcel& of, std::uint64_t place);
  void lose_task(parcel& of, std::size_t task, bool suspect);
  void put_first(std::vector<std::shared_ptr<parcel>> again);

  const exchange_options options_;
  queue_map queues_;
  task_pool pool_;
  std::deque<std::shared_ptr<parcel>> again_first_; // lost with a queue, before what is in the pool
  bool nobody_takes_ = false;                       // of what waits, until something happens
  std::deque<outgoing> to_send_;
  std::map<std::uint64_t, location> direct_;   // by first number, of those that began here
  std::vector<std::shared_ptr<parcel>> again_; // lost, to be put before what waits
  std::size_t in_flight_ = 0;
  std::size_t target_ = 1;       // tasks that travel together
  std::size_t least_target_ = 1; // to a queue that has nothing to do
  bool someone_idle_ = false;    // as `leaves_someone_idle`
  double tasks_per_ns_ = 0;      // that all queues do
  std::uint64_t turn_ = 0;
  std::uint64_t places_ = 0; // given so far: a queue that comes back gets other ones
  endpoint_id last_given_;   // whose turn it was
  number_set settled_;
  std::vector<upstream_run> done_;
  std::vector<std::shared_ptr<const task_batch>> dead_;
  exchange_counters counters_;
};

} // namespace pubsub::pattern
