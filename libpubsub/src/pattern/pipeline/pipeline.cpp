#include <pubsub/pattern/pipeline.hpp>

#include <pubsub/data_writer.hpp>

#include "pattern/mailbox/encoded_value.hpp"
#include "pattern/pipeline/exchange_core.hpp"
#include "pattern/pipeline/task_queue_core.hpp"

namespace pubsub {

namespace {

void add_mark(std::vector<pattern::task_marks>& to, const pattern::task_marks& more) {
  const bool next = !to.empty() && to.back().from == more.from &&
                    to.back().places.first + to.back().places.count == more.places.first &&
                    to.back().first_number + to.back().places.count == more.first_number;
  if (next)
    to.back().places.count += more.places.count;
  else
    to.push_back(more);
}

} // namespace

// -- task ----------------------------------------------------------------------------------------

task::task(pattern::ready_task&& what)
    : from_(std::move(what.from)), place_(what.place), number_(what.number), value_(what.value) {}

task::task(task&& other) noexcept
    : from_(std::move(other.from_)), place_(other.place_), number_(other.number_),
      value_(other.value_), settled_(std::exchange(other.settled_, true)) {}

task& task::operator=(task&& other) noexcept {
  std::swap(from_, other.from_);
  std::swap(place_, other.place_);
  std::swap(number_, other.number_);
  std::swap(value_, other.value_);
  std::swap(settled_, other.settled_);
  return *this;
}

task::~task() {
  reject();
}

const endpoint_id& task::source() const noexcept {
  return from_->source;
}

bool task::redelivered() const noexcept {
  return from_->redelivered;
}

void task::done() {
  if (std::exchange(settled_, true))
    return;
  const pattern::task_marks mark{from_.get(), {place_, 1}, number_};
  from_->queue->done({&mark, 1});
}

void task::done(std::vector<task> all) {
  std::vector<pattern::task_marks> marks;
  for (auto each = all.begin(); each != all.end();) {
    const auto& queue = each->from_->queue;
    marks.clear();
    for (; each != all.end() && each->from_->queue == queue; ++each)
      if (!std::exchange(each->settled_, true))
        add_mark(marks, {each->from_.get(), {each->place_, 1}, each->number_});
    queue->done(marks);
  }
}

void task::reject() {
  if (std::exchange(settled_, true))
    return;
  from_->queue->reject(*from_, place_);
}

// -- exchange ------------------------------------------------------------------------------------

exchange::exchange(endpoint& at, std::string_view name, const exchange_options& options)
    : core_(std::make_shared<pattern::exchange_core>(at.share(), name, options)) {}

exchange::exchange(exchange&&) noexcept = default;
exchange& exchange::operator=(exchange&&) noexcept = default;

exchange::~exchange() {
  if (core_)
    core_->close();
}

void exchange::bind(std::string_view queue_name) {
  core_->bind(queue_name);
}

bool exchange::send(const data& value) {
  return core_->send(pattern::encoded_value(value), {});
}

bool exchange::send(const data& value, std::chrono::nanoseconds timeout) {
  return core_->send(pattern::encoded_value(value), timeout);
}

bool exchange::send_encoded(std::span<const std::byte> value) {
  return core_->send(value, {});
}

bool exchange::send_encoded(std::span<const std::byte> value, std::chrono::nanoseconds timeout) {
  return core_->send(value, timeout);
}

bool exchange::send(const data& result, task of) {
  return send_encoded(pattern::encoded_value(result), std::move(of));
}

bool exchange::send_encoded(std::span<const std::byte> result, task of) {
  const pattern::task_marks mark{of.from_.get(), {of.place_, 1}, of.number_};
  of.settled_ = core_->send_results(result, {&mark, 1}) == 1; // it is done when that is
  return of.settled_;
}

bool exchange::send_batch(std::span<const std::byte> values) {
  return core_->send_batch(values);
}

bool exchange::send_batch(std::span<const std::byte> results, std::vector<task> of) {
  std::vector<pattern::task_marks> marks;
  for (const auto& each : of)
    add_mark(marks, {each.from_.get(), {each.place_, 1}, each.number_});
  const auto sent = core_->send_results(results, marks);
  for (std::size_t i = 0; i < sent; ++i)
    of[i].settled_ = true;
  return sent == of.size();
}

void exchange::flush() {
  core_->flush();
}

std::size_t exchange::drain(std::chrono::nanoseconds timeout) {
  return core_->drain(timeout);
}

bool exchange::wait_for_queues(std::size_t n, std::chrono::nanoseconds timeout) const {
  return core_->wait_for_queues(n, timeout);
}

std::size_t exchange::queues() const {
  return core_->queues();
}

const endpoint_id& exchange::id() const noexcept {
  return core_->id();
}

exchange_counters exchange::counters() const {
  return core_->counters();
}

std::size_t exchange::in_flight() const {
  return core_->in_flight();
}

void exchange::close() {
  core_->close();
}

bool exchange::closed() const {
  return core_->closed();
}

error exchange::failure() const {
  return core_->failure();
}

// -- queue ---------------------------------------------------------------------------------------

task_queue::task_queue(endpoint& at, std::string_view name, const task_queue_options& options)
    : core_(std::make_shared<pattern::task_queue_core>(at.share(), name, options)) {
  core_->start();
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

std::optional<task> task_queue::get() {
  auto found = core_->get({});
  if (!found)
    return {};
  return task{std::move(*found)};
}

std::optional<task> task_queue::get(std::chrono::nanoseconds timeout) {
  auto found = core_->get(timeout);
  if (!found)
    return {};
  return task{std::move(*found)};
}

std::vector<task> task_queue::get_batch(std::size_t max) {
  return core_->get_batch<task>(max, {}, wrap);
}

std::vector<task> task_queue::get_batch(std::size_t max, std::chrono::nanoseconds timeout) {
  return core_->get_batch<task>(max, timeout, wrap);
}

task task_queue::wrap(pattern::ready_task&& found) {
  return task{std::move(found)};
}

std::size_t task_queue::available() const {
  return core_->available();
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
