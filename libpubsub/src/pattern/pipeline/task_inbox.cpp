#include "pattern/pipeline/task_inbox.hpp"

namespace pubsub::pattern {

void task_inbox::receive(const tasks_view& tasks, data_message holder,
                         std::shared_ptr<task_queue_core> queue) {
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
      in_order_.put(tasks.source, next.number(), next);
    state.taken = std::max(state.taken, next.place); // tasks that wait for others are no backlog
  });
}

void task_inbox::waiting_tasks::advance() {
  ++next;
  ++place;
  if (++in_run == from->numbers[run].count) {
    ++run;
    in_run = 0;
  }
}

ready_task task_inbox::take() {
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

void task_inbox::clear() noexcept {
  ready_.clear();
  in_order_.clear();
  ready_tasks_ = 0;
  taking_ = nullptr;
}

/// Where the source hears of the end, the exchange in between need not at once.
void task_inbox::done(const task_range& tasks) {
  const auto& from = *tasks.from;
  const bool ends_here = from.direct && from.source != from.exchange;
  done({nullptr, from.exchange, tasks.places.first, tasks.places.count, ends_here});
  if (!ends_here || !exchanges_.contains(from.exchange))
    return;
  completed_[from.source].append({tasks.first_number, tasks.places.count});
  completed_tasks_ += tasks.places.count;
}

void task_inbox::done(const upstream_range& tasks) {
  auto* its = find(tasks.exchange);
  if (its == nullptr)
    return;
  its->done.insert({tasks.first, tasks.count});
  if (!tasks.direct || its->urgent)
    its->unreported += tasks.count;
}

void task_inbox::reject(const endpoint_id& exchange, std::uint64_t place) {
  if (auto* its = find(exchange))
    its->rejected.push_back({place, 1});
}

bool task_inbox::report_is_due(const endpoint_id& exchange, bool at_once) const {
  const auto found = exchanges_.find(exchange);
  return found != exchanges_.end() && is_due(found->second.unreported, at_once);
}

void task_inbox::report_to(const endpoint_id& exchange, queue_report& report) {
  auto& its = exchanges_[exchange];
  its.unreported = 0;
  its.taken_reported = its.taken;
  report.received = its.received.low();
  report.taken = its.taken;
  report.done = its.done.low();
  report.done_above = its.done.above();
  report.rejected = its.rejected;
}

std::map<endpoint_id, sequence_list> task_inbox::take_completed() {
  completed_tasks_ = 0;
  return std::exchange(completed_, {});
}

task_inbox::exchange_state* task_inbox::find(const endpoint_id& exchange) {
  const auto found = exchanges_.find(exchange);
  return found != exchanges_.end() ? &found->second : nullptr;
}

} // namespace pubsub::pattern
