#include "pattern/pipeline/intake.hpp"

#include <algorithm>

namespace pubsub::pattern {

std::shared_ptr<exchange_books>& intake::books_of(const endpoint_id& exchange) {
  auto& result = exchanges_[exchange];
  if (!result)
    result = std::make_shared<exchange_books>();
  return result;
}

void intake::receive(const tasks_view& tasks, data_message holder,
                     std::shared_ptr<task_queue_core> queue) {
  const auto& books = books_of(tasks.exchange);
  auto& from = *books;
  from.urgent = tasks.urgent;
  if (tasks.settled > from.settled) {
    from.settled = tasks.settled;
    from.received.raise(tasks.settled); // more than it knows if it had taken the exchange for lost
    from.done.raise(tasks.settled);
    from.taken = std::max(from.taken, tasks.settled);
    std::erase_if(from.rejected_runs, [&](const auto& run) { return run.first < tasks.settled; });
  }
  const auto n = tasks.values.size();
  waiting_batch batch{.from = std::make_shared<task_origin>(
                          task_origin{std::move(queue), books, tasks.exchange, tasks.source,
                                      tasks.redelivered, tasks.direct, std::move(holder)}),
                      .numbers = tasks.numbers,
                      .next = tasks.values.elements().begin(),
                      .place = tasks.first,
                      .left = n,
                      .had = {}};
  if (!from.received.extend(tasks.first, n))
    for (auto place = tasks.first; place < tasks.first + n; ++place)
      if (!from.received.insert(place))
        batch.had.push_back(place);
  if (n == batch.had.size())
    return;
  ready_tasks_ += n - batch.had.size();
  skip_what_was_had(batch);
  ready_.push_back(std::move(batch));
}

void intake::advance(waiting_batch& batch) {
  ++batch.next;
  ++batch.place;
  --batch.left;
  if (++batch.in_run == batch.numbers[batch.run].count) {
    ++batch.run;
    batch.in_run = 0;
  }
}

void intake::skip_what_was_had(waiting_batch& batch) {
  while (!batch.had.empty() && batch.left > 0 && std::ranges::binary_search(batch.had, batch.place))
    advance(batch);
}

ready_task intake::take() {
  auto& batch = ready_.front();
  ready_task result{.from = batch.from,
                    .place = batch.place,
                    .number = batch.numbers[batch.run].first + batch.in_run,
                    .value = *batch.next};
  --ready_tasks_;
  auto& taken = batch.from->books->taken;
  taken = std::max(taken, batch.place + 1);
  advance(batch);
  skip_what_was_had(batch);
  if (batch.left == 0)
    ready_.pop_front();
  return result;
}

void intake::forget(const endpoint_id& exchange) {
  const auto found = exchanges_.find(exchange);
  if (found == exchanges_.end())
    return;
  found->second->forgotten = true;
  exchanges_.erase(found);
}

void intake::clear() noexcept {
  ready_.clear();
  ready_tasks_ = 0;
}

bool intake::done(const task_marks& tasks) {
  const auto& from = *tasks.from;
  auto& books = *from.books;
  const auto [first, count] = tasks.places;
  if (books.forgotten)
    return false;
  bool fresh = books.done.extend(first, count);
  if (fresh)
    note_done(from, {tasks.first_number, count});
  else
    for (std::uint64_t i = 0; i < count; ++i)
      if (books.done.insert(first + i)) {
        note_done(from, {tasks.first_number + i, 1});
        fresh = true;
      }
  if (!fresh)
    return false;
  return is_due(from.ends_here() ? completed_tasks_ : books.unreported) || from.redelivered;
}

void intake::note_done(const task_origin& from, const number_run& numbers) {
  auto& books = *from.books;
  if (!from.ends_here() || books.urgent)
    books.unreported += numbers.count;
  if (!from.ends_here())
    return;
  const auto found = std::ranges::find(completed_, from.source, &completed::source);
  auto& its =
      found != completed_.end() ? *found : completed_.emplace_back(completed{from.source, {}});
  its.numbers.append(numbers);
  completed_tasks_ += numbers.count;
}

std::vector<intake::completed> intake::take_completed() {
  completed_tasks_ = 0;
  return std::exchange(completed_, {});
}

bool intake::done(const endpoint_id& exchange, const number_run& places, bool direct) {
  const auto found = exchanges_.find(exchange);
  if (found == exchanges_.end())
    return false;
  auto& books = *found->second;
  books.done.insert(places);
  if (direct && !books.urgent)
    return false;
  books.unreported += places.count;
  return is_due(books.unreported);
}

bool intake::is_due(std::uint64_t untold) const noexcept {
  return untold >= together_ || ready_.empty();
}

/// It is told until the exchange is known to have heard of it.
void intake::reject(const endpoint_id& exchange, std::uint64_t place) {
  const auto found = exchanges_.find(exchange);
  if (found != exchanges_.end())
    found->second->rejected_runs.push_back({place, 1});
}

std::vector<endpoint_id> intake::exchanges() const {
  std::vector<endpoint_id> result;
  for (const auto& [id, each] : exchanges_)
    result.push_back(id);
  return result;
}

std::vector<endpoint_id> intake::mistaken() const {
  std::vector<endpoint_id> result;
  for (const auto& [id, each] : exchanges_)
    if (each->taken != each->taken_reported)
      result.push_back(id);
  return result;
}

bool intake::reports_due(const endpoint_id& exchange) const {
  const auto found = exchanges_.find(exchange);
  return found != exchanges_.end() && found->second->unreported > 0;
}

queue_report intake::report_for(const endpoint_id& exchange) {
  auto& from = *books_of(exchange);
  from.unreported = 0;
  from.taken_reported = from.taken;
  queue_report result;
  result.received = from.received.low();
  result.taken = from.taken;
  result.done = from.done.low();
  result.done_above = from.done.above();
  result.rejected = from.rejected_runs;
  return result;
}

} // namespace pubsub::pattern
