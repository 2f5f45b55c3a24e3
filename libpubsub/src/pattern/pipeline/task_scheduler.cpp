// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/pipeline/task_scheduler.hpp"

#include <limits>
#include <tuple>

#include "pattern/pipeline/tuning.hpp"

namespace pubsub::pattern {

namespace {

using std::chrono::nanoseconds;

/// The queue at the end of the pipeline tells this exchange what is done.
bool hears_of_the_end(const tracked_batch& x) {
  return x.tasks.direct && x.upstream.empty();
}

} // namespace

bool task_scheduler::add(const new_tasks& more) {
  const bool first = pool_.size() == 0;
  counters_.sent += more.count;
  in_flight_ += more.count;
  counters_.in_flight_max = std::max<std::uint64_t>(counters_.in_flight_max, in_flight_);
  pool_.add(more);
  return first;
}

bool task_scheduler::has_idle_queue() const noexcept {
  return std::ranges::any_of(queues_, [](const auto& each) { return each.second.is_idle(); });
}

// -- how much travels together -------------------------------------------------------------------

/// After anything that queues have said. The quickest queue decides how many tasks travel together:
/// batches that are short for the others do no harm.
void task_scheduler::adapt() {
  auto quickest = nanoseconds::max();
  auto credit = std::numeric_limits<std::uint64_t>::max();
  tasks_per_ns_ = 0;
  for (const auto& [id, queue] : queues_) {
    const auto per_task = queue.time_per_task();
    if (per_task.count() > 0) {
      quickest = std::min(quickest, per_task);
      tasks_per_ns_ += 1 / static_cast<double>(per_task.count());
    }
    credit = std::min(credit, queue.credit());
  }
  const auto most = std::clamp<std::uint64_t>(credit / 2, 1, tuning::max_batch_tasks);
  const auto tasks_in = [&](nanoseconds span) {
    const auto tasks = static_cast<std::uint64_t>(span / quickest);
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(tasks, 1, most));
  };
  const auto least = tasks_in(tuning::short_batch_time);
  const auto share = options_.window_tasks / (2 * std::max<std::size_t>(queues_.size(), 1));
  batch_ = std::min(tasks_in(tuning::batch_time), std::max(least, share));
  least_batch_ = to_all() ? batch_ : least;
  idle_ = has_idle_queue();
  blocked_ = false;
}

/// How much work a queue may have in advance: not more than the queues together need for what no
/// queue has yet, or the one that had more would be the last to end.
nanoseconds task_scheduler::work_ahead() const noexcept {
  if (tasks_per_ns_ <= 0)
    return tuning::work_ahead;
  const nanoseconds remaining{static_cast<nanoseconds::rep>(
      std::min(static_cast<double>(pool_.size()) / tasks_per_ns_, 1e18))};
  return std::clamp<nanoseconds>(remaining, tuning::batch_time, tuning::work_ahead);
}

// -- sharing out ---------------------------------------------------------------------------------

task_scheduler::queue_map::iterator task_scheduler::choose(std::size_t tasks) {
  const bool in_turn = options_.balance == balancing::round_robin;
  const auto ahead = work_ahead();
  const auto load_of = [&](const queue_state& queue) {
    return in_turn ? std::tuple{std::uint64_t{0}, std::uint64_t{0}, queue.turn()} : queue.load();
  };
  auto best = queues_.end();
  for (auto each = queues_.begin(); each != queues_.end(); ++each)
    if ((in_turn || each->second.has_room(tasks, ahead)) &&
        (best == queues_.end() || load_of(each->second) < load_of(best->second)))
      best = each;
  return best == queues_.end() || best->second.has_room(tasks, ahead) ? best : queues_.end();
}

std::optional<task_scheduler::outgoing> task_scheduler::next(time now) {
  if (to_send_.empty())
    hand_out(now);
  if (to_send_.empty())
    return {};
  auto result = std::move(to_send_.front());
  to_send_.pop_front();
  return result;
}

/// Gives out the batch that has waited longest, if a queue may have it.
void task_scheduler::hand_out(time now) {
  const auto n = redeliveries_.empty() ? pool_.ready(wanted()) : 1;
  if (n == 0 || blocked_)
    return;
  const auto chosen = to_all() ? queues_.begin() : choose(n);
  blocked_ =
      chosen == queues_.end() || (to_all() && !std::ranges::all_of(queues_, [&](const auto& each) {
                                    return each.second.has_room(n, {});
                                  }));
  if (blocked_)
    return;
  const auto batch = next_batch();
  if (!to_all())
    return give(*chosen, batch, now);
  batch->open.assign(batch->tasks.size(), static_cast<std::uint32_t>(queues_.size()));
  for (auto& each : queues_)
    give(each, batch, now);
}

std::shared_ptr<tracked_batch> task_scheduler::next_batch() {
  if (!redeliveries_.empty()) {
    auto result = std::move(redeliveries_.front());
    redeliveries_.pop_front();
    return result;
  }
  auto result = std::make_shared<tracked_batch>(pool_.cut(pool_.ready(wanted())));
  result->tasks.direct = !to_all() && (result->upstream.empty() || result->tasks.direct);
  return result;
}

void task_scheduler::give(queue_map::value_type& to, const std::shared_ptr<tracked_batch>& batch,
                          time now) {
  auto& queue = to.second;
  const auto& what = queue.give(batch, ++turn_, now);
  send(to, what);
  if (hears_of_the_end(*batch))
    locate(queue, what);
  places_ = std::max(places_, queue.next_place());
  idle_ = has_idle_queue();
}

void task_scheduler::send(const queue_map::value_type& to, const queue_state::delivery& what) {
  const bool urgent = 2 * in_flight_ > options_.window_tasks;
  to_send_.push_back({to.first,
                      {.exchange = {},
                       .first = what.first,
                       .settled = to.second.settled_below(),
                       .urgent = urgent},
                      {what.batch, &what.batch->tasks}});
  ++counters_.batches;
}

void task_scheduler::locate(queue_state& queue, const queue_state::delivery& what) {
  auto place = what.first;
  for (const auto& each : what.batch->tasks.numbers.runs()) {
    located_[each.first] = {&queue, place, each.count};
    place += each.count;
  }
}

void task_scheduler::forget_settled(queue_state& queue) {
  while (const auto what = queue.take_settled())
    if (hears_of_the_end(*what->batch))
      for (const auto& each : what->batch->tasks.numbers.runs()) {
        const auto found = located_.find(each.first);
        if (found != located_.end() && found->second.queue == &queue)
          located_.erase(found);
      }
}

// -- queues --------------------------------------------------------------------------------------

void task_scheduler::receive(const queue_report& report, time now) {
  auto& entry = *queues_.try_emplace(report.queue, places_).first;
  auto& queue = entry.second;
  queue.update(report, now);
  mark_done(queue, {0, report.done});
  for (const auto& each : report.done_above)
    mark_done(queue, each);
  for (const auto& each : report.rejected)
    take_away(queue, each, true);
  forget_settled(queue);
  adapt();
  queue.send_again(report.received, now, tuning::sending_time,
                   [&](const auto& what) { send(entry, what); });
}

/// As if the queues that have them had said so.
void task_scheduler::complete(const sequence_range& numbers) {
  const auto end = numbers.first + numbers.count;
  auto at = located_.upper_bound(numbers.first);
  if (at != located_.begin())
    --at;
  for (; at != located_.end() && at->first < end; ++at) {
    const auto& [queue, place, count] = at->second;
    const auto first = std::max(at->first, numbers.first);
    const auto last = std::min(at->first + count, end);
    if (first >= last)
      continue;
    queue->take_until(place + count);
    mark_done(*queue, {place + (first - at->first), last - first});
  }
  for (auto& [id, queue] : queues_)
    forget_settled(queue);
  idle_ = has_idle_queue();
  blocked_ = false;
}

void task_scheduler::lose(const endpoint_id& id) {
  const auto found = queues_.find(id);
  if (found == queues_.end())
    return;
  auto& queue = found->second;
  std::erase_if(to_send_, [&](const auto& each) { return each.queue == id; });
  take_away(queue, {0, queue.next_place()}, false);
  forget_settled(queue);
  queues_.erase(found);
  adapt();
}

std::vector<endpoint_id> task_scheduler::silent_since(time then) const {
  std::vector<endpoint_id> result;
  for (const auto& [id, queue] : queues_)
    if (queue.last_heard() < then)
      result.push_back(id);
  return result;
}

// -- what has become of tasks --------------------------------------------------------------------

void task_scheduler::mark_done(queue_state& queue, const sequence_range& places) {
  queue.settle(places, [&](tracked_batch& of, std::size_t task, std::size_t n, std::uint64_t) {
    settle(of, task, n, counters_.done);
  });
}

/// Of a task that has been lost before, the queue tells that it begins; of others it is not known
/// how far the queue was.
void task_scheduler::take_away(queue_state& queue, const sequence_range& places, bool rejected) {
  queue.settle(places, [&](tracked_batch& of, std::size_t task, std::size_t n, std::uint64_t at) {
    for (const auto end = task + n; task < end; ++task, ++at)
      lose_task(of, task, rejected || of.losses == 0 || queue.was_working_on(at));
  });
}

/// The task is given to another queue, by itself; or not, if it has been lost too often, or may not
/// be. `suspect`: the queue may have died of it.
void task_scheduler::lose_task(tracked_batch& of, std::size_t task, bool suspect) {
  if (to_all() || options_.on_loss == worker_loss::drop)
    return settle(of, task, 1, counters_.dropped);
  const auto values = of.tasks.values.bytes();
  const auto value = values.subspan(size_of_values(values, task));
  auto single =
      std::make_shared<tracked_batch>(part_of(of, task, 1, value.first(size_of_values(value, 1))));
  single->tasks.redelivered = true;
  single->losses += suspect ? 1 : 0;
  if (single->losses >= options_.max_losses) {
    dead_.emplace_back(single, &single->tasks);
    return settle(of, task, 1, counters_.dead);
  }
  ++counters_.redelivered;
  redeliveries_.push_back(std::move(single));
}

/// A queue less has these tasks to do; those that no queue has are counted.
void task_scheduler::settle(tracked_batch& of, std::size_t task, std::size_t n,
                            std::uint64_t& counter) {
  if (of.open.empty())
    return end(of, task, n, counter);
  for (const auto last = task + n; task < last; ++task)
    if (--of.open[task] == 0)
      end(of, task, 1, counter);
}

void task_scheduler::end(const tracked_batch& of, std::size_t task, std::size_t n,
                         std::uint64_t& counter) {
  counter += n;
  in_flight_ -= n;
  if (of.upstream.empty())
    for_each_part(of.tasks.numbers.runs(), task, n,
                  [&](const auto& numbers) { settled_.insert(numbers); });
  else
    for_each_part(of.upstream, task, n, [&](const auto& places) { append(done_, places); });
}

} // namespace pubsub::pattern
