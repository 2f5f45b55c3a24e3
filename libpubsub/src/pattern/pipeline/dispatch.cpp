#include "pattern/pipeline/dispatch.hpp"

#include <algorithm>
#include <limits>

#include "pattern/pipeline/tuning.hpp"

namespace pubsub::pattern {

namespace {

using std::chrono::nanoseconds;

std::uint64_t number_at(const number_list& all, std::size_t task) {
  for (const auto& run : all.runs()) {
    if (task < run.count)
      return run.first + task;
    task -= run.count;
  }
  return 0;
}

upstream_run upstream_at(const std::vector<upstream_run>& all, std::size_t task) {
  for (const auto& run : all) {
    if (task < run.count)
      return {run.exchange, run.first + task, 1, run.direct};
    task -= run.count;
  }
  return {};
}

std::span<const std::byte> value_at(const data_writer& all, std::size_t task) {
  auto rest = all.bytes();
  for (; task > 0; --task)
    rest = rest.subspan(data_view::from_valid(rest).bytes().size());
  return data_view::from_valid(rest).bytes();
}

} // namespace

// -- tasks ---------------------------------------------------------------------------------------

bool dispatch::add(const new_tasks& more) {
  const bool first = pool_.size() == 0;
  counters_.sent += more.ends.size();
  in_flight_ += more.ends.size();
  counters_.in_flight_max = std::max<std::uint64_t>(counters_.in_flight_max, in_flight_);
  pool_.add(more);
  return first;
}

/// By the quickest queue: batches that are short for the others do no harm.
void dispatch::set_target() noexcept {
  auto quickest = nanoseconds::max();
  auto credit = std::numeric_limits<std::uint64_t>::max();
  tasks_per_ns_ = 0;
  for (const auto& [id, queue] : queues_) {
    if (queue.per_task.count() > 0) {
      quickest = std::min(quickest, queue.per_task);
      tasks_per_ns_ += 1 / static_cast<double>(queue.per_task.count());
    }
    credit = std::min(credit, queue.credit);
  }
  const auto most = std::clamp<std::uint64_t>(credit / 2, 1, tuning::max_batch_tasks);
  const auto tasks_in = [&](nanoseconds span) {
    const auto tasks = static_cast<std::uint64_t>(span / quickest);
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(tasks, 1, most));
  };
  const auto least = tasks_in(tuning::short_batch_time);
  const auto share = options_.window_tasks / (2 * std::max<std::size_t>(queues_.size(), 1));
  target_ = std::min(tasks_in(tuning::batch_time), std::max(least, share));
  least_target_ = options_.style == exchange_style::load_balancing ? least : target_;
}

// -- sharing out
// -----------------------------------------------------------------------------------

/// What a queue may have and, for all we know, not be working on: as many as it works on at a time,
/// so that the next is there when one is done; more where they are short.
std::uint64_t dispatch::allowance(const queue_entry& queue) const noexcept {
  const auto least = std::min(queue.credit, queue.concurrency);
  if (queue.per_task.count() == 0)
    return least;
  const auto ahead = std::clamp<nanoseconds>(remaining(), tuning::batch_time, tuning::work_ahead);
  return std::clamp(static_cast<std::uint64_t>(ahead / queue.per_task), least, queue.credit);
}

/// How long the queues together need for what nobody has yet: whoever had more than that to do
/// would be the last to end.
nanoseconds dispatch::remaining() const noexcept {
  if (tasks_per_ns_ <= 0)
    return tuning::work_ahead;
  const auto needed = static_cast<double>(pool_.size()) / tasks_per_ns_;
  return nanoseconds{static_cast<nanoseconds::rep>(std::min(needed, 1e18))};
}

bool dispatch::wants_more(const queue_entry& queue, std::size_t tasks) const noexcept {
  if (queue.outstanding == 0)
    return true;
  if (queue.outstanding + tasks > queue.credit)
    return false;
  return options_.style == exchange_style::data_distribution || queue.backlog() == 0 ||
         queue.backlog() + tasks <= allowance(queue);
}

/// What it has to do, then what it has not been acknowledged for, then who waits longest.
std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>
dispatch::load_of(const queue_entry& queue) noexcept {
  return {queue.backlog(), queue.outstanding, queue.turn};
}

bool dispatch::leaves_someone_idle() const noexcept {
  return std::ranges::any_of(queues_,
                             [](const auto& each) { return each.second.outstanding == 0; });
}

dispatch::queue_map::iterator dispatch::choose(std::size_t tasks) {
  if (queues_.empty())
    return queues_.end();
  if (options_.balance == balancing::round_robin) {
    auto next = queues_.upper_bound(last_given_);
    if (next == queues_.end())
      next = queues_.begin();
    return wants_more(next->second, tasks) ? next : queues_.end();
  }
  auto best = queues_.end();
  for (auto each = queues_.begin(); each != queues_.end(); ++each)
    if (wants_more(each->second, tasks) &&
        (best == queues_.end() || load_of(each->second) < load_of(best->second)))
      best = each;
  return best;
}

void dispatch::give(queue_map::iterator to, const std::shared_ptr<parcel>& what, time now) {
  auto& [id, queue] = *to;
  const auto n = what->tasks.size();
  queue.all.push_back({queue.next_place, what, std::vector<bool>(n), n, now});
  to_send_.push_back(to_queue(id, queue, queue.all.back()));
  note(id, queue.all.back());
  queue.next_place += n;
  places_ = std::max(places_, queue.next_place);
  queue.outstanding += n;
  queue.turn = ++turn_;
  last_given_ = id;
  someone_idle_ = leaves_someone_idle();
  ++counters_.batches;
}

dispatch::outgoing dispatch::to_queue(const endpoint_id& id, const queue_entry& queue,
                                      const given& batch) const {
  return {id,
          batch.first,
          queue.all.front().first,
          2 * in_flight_ > options_.window_tasks,
          {batch.what, &batch.what->tasks}};
}

/// Where tasks are that began here, and whose end will be told.
void dispatch::note(const endpoint_id& queue, const given& batch) {
  if (!batch.what->tasks.direct || !batch.what->upstream.empty())
    return;
  auto place = batch.first;
  for (const auto& each : batch.what->tasks.numbers.runs()) {
    direct_[each.first] = {queue, place, each.count};
    place += each.count;
  }
}

void dispatch::forget(const endpoint_id& queue, const given& batch) {
  if (!batch.what->tasks.direct || !batch.what->upstream.empty())
    return;
  for (const auto& each : batch.what->tasks.numbers.runs()) {
    const auto found = direct_.find(each.first);
    if (found != direct_.end() && found->second.queue == queue)
      direct_.erase(found);
  }
}

std::optional<dispatch::outgoing> dispatch::next(time now) {
  if (to_send_.empty())
    hand_out(now);
  if (to_send_.empty())
    return {};
  auto result = std::move(to_send_.front());
  to_send_.pop_front();
  return result;
}

/// The batch that waits longest, if somebody may have it.
void dispatch::hand_out(time now) {
  const auto n = again_first_.empty() ? pool_.ready(wanted()) : 1;
  if (n == 0 || nobody_takes_)
    return;
  if (options_.style == exchange_style::data_distribution)
    return hand_to_all(n, now);
  const auto to = choose(n);
  nobody_takes_ = to == queues_.end();
  if (!nobody_takes_)
    give(to, next_parcel(), now);
}

void dispatch::hand_to_all(std::size_t tasks, time now) {
  nobody_takes_ = queues_.empty() || !std::ranges::all_of(queues_, [&](const auto& each) {
                    return wants_more(each.second, tasks);
                  });
  if (nobody_takes_)
    return;
  const auto what = next_parcel();
  std::ranges::fill(what->left, static_cast<std::uint16_t>(queues_.size()));
  for (auto each = queues_.begin(); each != queues_.end(); ++each)
    give(each, what, now);
}

std::shared_ptr<dispatch::parcel> dispatch::next_parcel() {
  if (!again_first_.empty()) {
    auto result = std::move(again_first_.front());
    again_first_.pop_front();
    return result;
  }
  auto cut = pool_.cut(pool_.ready(wanted()));
  auto result = std::make_shared<parcel>();
  result->tasks = std::move(cut.tasks);
  result->upstream = std::move(cut.upstream);
  result->tasks.direct = options_.style == exchange_style::load_balancing &&
                         (result->upstream.empty() || result->upstream.front().direct);
  result->left.assign(result->tasks.size(), 1);
  return result;
}

// -- queues
// ----------------------------------------------------------------------------------------

void dispatch::receive(const queue_report& report, time now) {
  const auto [found, fresh] = queues_.try_emplace(report.queue);
  auto& queue = found->second;
  if (fresh)
    queue.next_place = queue.taken = places_;
  queue.credit = std::max<std::uint64_t>(report.credit, 1);
  queue.concurrency = std::max<std::uint64_t>(report.concurrency, 1);
  queue.heard = now;
  mark_done(queue, queue.done_below, report.done);
  queue.done_below = std::max(queue.done_below, report.done);
  for (const auto& each : report.done_above)
    mark_done(queue, each.first, each.first + each.count);
  for (const auto& each : report.rejected)
    reject(queue, each.first, each.first + each.count);
  drop_finished(report.queue, queue);
  learn(queue, report);
  set_target();
  someone_idle_ = leaves_someone_idle();
  put_first(std::exchange(again_, {}));
  send_again(report.queue, queue, report.received, now);
}

void dispatch::drop_finished(const endpoint_id& id, queue_entry& queue) {
  for (; !queue.all.empty() && queue.all.front().left == 0; queue.all.pop_front())
    forget(id, queue.all.front());
}

/// As if the queues that have them had said so.
void dispatch::complete(const number_run& numbers) {
  const auto end = numbers.first + numbers.count;
  auto at = direct_.upper_bound(numbers.first);
  if (at != direct_.begin())
    --at;
  std::vector<location> all; // what is done leaves the map
  for (; at != direct_.end() && at->first < end; ++at) {
    const auto& [queue, place, count] = at->second;
    const auto first = std::max(at->first, numbers.first);
    const auto last = std::min(at->first + count, end);
    if (first < last)
      all.push_back({queue, place + (first - at->first), last - first});
  }
  for (const auto& [id, place, count] : all) {
    const auto found = queues_.find(id);
    if (found == queues_.end())
      continue;
    auto& queue = found->second;
    queue.taken = std::max(queue.taken, place + count);
    mark_done(queue, place, place + count);
    drop_finished(id, queue);
    someone_idle_ = someone_idle_ || queue.outstanding == 0;
    nobody_takes_ = false;
  }
}

/// Calls `each` with the tasks of a batch at places in [first, end) that the queue still has.
template <class Visitor>
void dispatch::visit(queue_entry& queue, given& batch, std::uint64_t first, std::uint64_t end,
                     Visitor&& each) {
  const auto from = std::max(first, batch.first) - batch.first;
  const auto to = std::min<std::uint64_t>(end - batch.first, batch.done.size());
  for (auto task = from; task < to && batch.left > 0; ++task)
    if (!batch.done[task]) {
      batch.done[task] = true;
      --batch.left;
      --queue.outstanding;
      each(*batch.what, static_cast<std::size_t>(task), batch.first + task);
    }
}

void dispatch::mark_done(queue_entry& queue, std::uint64_t first, std::uint64_t end) {
  for (auto& batch : queue.all) {
    if (batch.first >= end)
      return;
    const auto n = batch.done.size();
    if (options_.style == exchange_style::load_balancing && batch.left == n &&
        first <= batch.first && batch.first + n <= end) {
      batch.left = 0;
      queue.outstanding -= n;
      settle_all(*batch.what);
    } else {
      visit(queue, batch, first, end, [this](parcel& of, std::size_t task, std::uint64_t) {
        counters_.done += of.left[task] == 1 ? 1 : 0;
        settle(of, task);
      });
    }
  }
}

void dispatch::reject(queue_entry& queue, std::uint64_t first, std::uint64_t end) {
  for (auto& batch : queue.all)
    if (batch.first < end)
      visit(queue, batch, first, end,
            [this](parcel& of, std::size_t task, std::uint64_t) { lose_task(of, task, true); });
}

/// One queue less has this task to do.
void dispatch::settle(parcel& of, std::size_t task) {
  if (--of.left[task] > 0)
    return;
  --in_flight_;
  if (of.upstream.empty())
    settled_.insert(number_at(of.tasks.numbers, task));
  else
    append(done_, upstream_at(of.upstream, task));
}

/// Of a batch that only one queue had, and all of it.
void dispatch::settle_all(const parcel& of) {
  in_flight_ -= of.tasks.size();
  counters_.done += of.tasks.size();
  for (const auto& each : of.upstream)
    append(done_, each);
  if (of.upstream.empty())
    for (const auto& each : of.tasks.numbers.runs())
      settled_.insert(each);
}

/// Messages are lost only where links break.
void dispatch::send_again(const endpoint_id& id, queue_entry& queue, std::uint64_t received,
                          time now) {
  if (queue.all.empty() || now - queue.all.front().sent < tuning::sending_time)
    return; // the front has been on its way for longest
  for (auto& each : queue.all) {
    if (each.first + each.done.size() <= received || now - each.sent < tuning::sending_time)
      continue;
    each.sent = now;
    to_send_.push_back(to_queue(id, queue, each));
    ++counters_.batches;
  }
}

/// How long a task takes there: the mean of the last, so that what comes with a single one counts
/// little, and a single one that takes long much.
void dispatch::learn(queue_entry& queue, const queue_report& report) {
  queue.taken = std::clamp(report.taken, queue.taken, queue.next_place);
  if (report.timed <= queue.timed)
    return;
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  const auto n = static_cast<nanoseconds::rep>(
      std::min(report.timed - std::exchange(queue.timed, report.timed), most));
  const nanoseconds busy{static_cast<nanoseconds::rep>(std::min(report.busy_ns, most * most / 4))};
  const auto took = std::max(busy - std::exchange(queue.busy, busy), nanoseconds{1});
  const auto known = queue.per_task.count() == 0 ? 0 : tuning::remembered_tasks;
  queue.per_task = std::max((took + known * queue.per_task) / (known + n), nanoseconds{1});
}

void dispatch::lose(const endpoint_id& id) {
  const auto found = queues_.find(id);
  if (found == queues_.end())
    return;
  auto lost = std::move(found->second);
  queues_.erase(found);
  std::erase_if(to_send_, [&](const auto& each) { return each.queue == id; });
  for (const auto& batch : lost.all)
    forget(id, batch);
  for (auto& batch : lost.all)
    visit(lost, batch, 0, lost.next_place, [&](parcel& of, std::size_t task, std::uint64_t place) {
      lose_task(of, task, is_suspect(lost, of, place));
    });
  set_target();
  someone_idle_ = leaves_someone_idle();
  put_first(std::exchange(again_, {}));
}

/// Whether the queue may have died of it. Of a task that has been lost before it tells that it
/// begins; of others nobody knows how far it was.
bool dispatch::is_suspect(const queue_entry& queue, const parcel& of, std::uint64_t place) {
  return of.losses == 0 || (place < queue.taken && place + queue.concurrency >= queue.taken);
}

/// It is given to another queue, by itself; or not, if it has been lost too often, or may not be.
void dispatch::lose_task(parcel& of, std::size_t task, bool suspect) {
  if (options_.style == exchange_style::data_distribution ||
      options_.on_loss == worker_loss::drop) {
    counters_.dropped += of.left[task] == 1 ? 1 : 0;
    return settle(of, task);
  }
  auto single = std::make_shared<parcel>();
  single->tasks.source = of.tasks.source;
  single->tasks.redelivered = true;
  single->tasks.direct = of.tasks.direct;
  single->tasks.numbers.append(number_at(of.tasks.numbers, task));
  single->tasks.values.write_encoded(value_at(of.tasks.values, task));
  single->left = {1};
  if (!of.upstream.empty())
    single->upstream = {upstream_at(of.upstream, task)};
  single->losses = of.losses + (suspect ? 1 : 0);
  if (single->losses >= options_.max_losses) {
    ++counters_.dead;
    dead_.emplace_back(single, &single->tasks);
    return settle(of, task);
  }
  ++counters_.redelivered;
  again_.push_back(std::move(single));
}

void dispatch::put_first(std::vector<std::shared_ptr<parcel>> again) {
  again_first_.insert(again_first_.begin(), again.begin(), again.end());
  nobody_takes_ = false;
}

std::vector<endpoint_id> dispatch::silent_since(time then) const {
  std::vector<endpoint_id> result;
  for (const auto& [id, queue] : queues_)
    if (queue.heard < then)
      result.push_back(id);
  return result;
}

std::vector<endpoint_id> dispatch::queues() const {
  std::vector<endpoint_id> result;
  for (const auto& [id, queue] : queues_)
    result.push_back(id);
  return result;
}

} // namespace pubsub::pattern
