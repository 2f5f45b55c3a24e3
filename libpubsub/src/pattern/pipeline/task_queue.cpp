// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/pattern/pipeline.hpp>

#include <utility>

#include "pattern/pipeline/task_queue_core.hpp"

namespace pubsub {

// -- task ----------------------------------------------------------------------------------------

task::task(pattern::ready_task&& what)
    : from_(std::move(what.from)), place_(what.place), number_(what.number), value_(what.value) {}

task::task(task&& other) noexcept = default;

task& task::operator=(task&& other) noexcept {
  if (this != &other) {
    std::destroy_at(this);
    std::construct_at(this, std::move(other));
  }
  return *this;
}

task::~task() {
  reject();
}

pattern::task_range task::range() const {
  return {from_.get(), {place_, 1}, number_};
}

const endpoint_id& task::source() const noexcept {
  return from_->source.id;
}

bool task::redelivered() const noexcept {
  return from_->redelivered;
}

void task::done() {
  if (!from_ || std::exchange(settled_, true))
    return;
  const auto one = range();
  from_->queue->done({&one, 1});
}

void task::done(std::vector<task> all) {
  std::vector<pattern::task_range> ranges;
  for (auto each = all.begin(); each != all.end();) {
    const auto& queue = each->from_->queue;
    ranges.clear();
    for (; each != all.end() && each->from_->queue == queue; ++each)
      if (!std::exchange(each->settled_, true))
        append(ranges, each->range());
    queue->done(ranges);
  }
}

void task::reject() {
  if (from_ && !std::exchange(settled_, true))
    from_->queue->reject(*from_, place_);
}

// -- task_queue ----------------------------------------------------------------------------------

task_queue::task_queue(std::shared_ptr<pattern::task_queue_core> core) noexcept
    : core_(std::move(core)) {}

expected<task_queue> task_queue::open(const endpoint& at, std::string_view name,
                                      const task_queue_options& options) {
  auto core = pattern::task_queue_core::open(at, name, options);
  if (!core)
    return core.error();
  return task_queue{std::move(*core)};
}

task_queue::task_queue(task_queue&&) noexcept = default;
task_queue& task_queue::operator=(task_queue&&) noexcept = default;

task_queue::~task_queue() {
  if (core_)
    core_->close();
}

void task_queue::bind(std::string_view exchange_name) {
  core_->bind(exchange_name);
}

received<task> task_queue::get() {
  return core_->get({}, wrap);
}

received<task> task_queue::get_for(std::chrono::nanoseconds timeout) {
  return core_->get(timeout, wrap);
}

received<task> task_queue::try_get() {
  return core_->get(std::chrono::nanoseconds{0}, wrap);
}

received<std::vector<task>> task_queue::get_batch(std::size_t max) {
  return core_->get_batch(max, {}, wrap);
}

received<std::vector<task>> task_queue::get_batch_for(std::size_t max,
                                                      std::chrono::nanoseconds timeout) {
  return core_->get_batch(max, timeout, wrap);
}

task task_queue::wrap(pattern::ready_task&& found) {
  return task{std::move(found)};
}

std::size_t task_queue::available() const {
  return core_->available();
}

int task_queue::fd() const {
  return core_->fd();
}

bool task_queue::wait_for_exchanges(std::size_t n, std::chrono::nanoseconds timeout) const {
  return core_->wait_for_exchanges(n, timeout);
}

std::size_t task_queue::exchanges() const {
  return core_->exchanges();
}

void task_queue::close() {
  core_->close();
}

bool task_queue::closed() const {
  return core_->closed();
}

} // namespace pubsub
