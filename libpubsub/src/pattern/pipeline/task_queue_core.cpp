#include "pattern/pipeline/task_queue_core.hpp"

#include <algorithm>
#include <limits>

#include "pattern/pipeline/tuning.hpp"

namespace pubsub::pattern {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

task_queue_options checked(task_queue_options options) {
  options.credit_tasks = std::max<std::size_t>(options.credit_tasks, 1);
  options.batch_tasks = std::clamp<std::size_t>(options.batch_tasks, 1, options.credit_tasks);
  return options;
}

/// Tasks are bounded by the credit, so the queue of messages need not be.
queue_options of_inbox() {
  queue_options result;
  result.policy = overflow_policy::block;
  result.capacity_messages = 1'000'000;
  result.capacity_bytes = std::size_t{1} << 30;
  return result;
}

} // namespace

task_queue_core::task_queue_core(std::shared_ptr<endpoint> at, std::string_view name,
                                 const task_queue_options& options)
    : at_(std::move(at)), options_(checked(options)), scope_(prefix_of(*at_, options_.scope)),
      named_topic_(name.empty() ? std::string{} : topic_of_queue_name(scope_ + std::string{name})),
      books_(options_.batch_tasks), exchanges_(at_, topic_of_exchange), announcements_(at_) {}

filter task_queue_core::topics() const {
  std::vector<std::string> result{topic_of_queue(id_)};
  if (!named_topic_.empty())
    result.push_back(named_topic_);
  if (ordered())
    result.emplace_back(topic_of_progress());
  return filter{result};
}

void task_queue_core::start() {
  mailbox::start(at_->make_subscriber(topics(), of_inbox()), own_reading::when_due);
}

void task_queue_core::bind(std::string_view exchange_name) {
  const lock_type lock{mutex_};
  if (closed_)
    return;
  announcements_.add(topic_of_exchange_name(scope_ + std::string{exchange_name}));
  announce(clock::now());
}

// -- tasks ---------------------------------------------------------------------------------------

std::optional<ready_task> task_queue_core::get(std::optional<std::chrono::nanoseconds> timeout) {
  lock_type lock{mutex_};
  if (!await_task(lock, timeout))
    return {};
  return take_next();
}

/// Called with the mutex held. False if there is none in time, or it is closed.
bool task_queue_core::await_task(lock_type& lock, std::optional<std::chrono::nanoseconds> timeout) {
  if (is_empty() && !closed_) {
    if (meter_.running())
      meter_.stop(std::exchange(untimed_, 0));
    if (timeout)
      look(lock); // which it may not have time for later
    ask_at_ = clock::now() + tuning::time_to_ask;
    wait(lock, limit_after(timeout), [&] { return !is_empty(); });
    ask_at_ = time::max();
  }
  if (untimed_ >= tuning::tasks_of_a_lap) { // the thread has done those it got before
    meter_.lap(untimed_);
    const auto per_task = std::max<std::chrono::nanoseconds>(meter_.last() / untimed_, 1ns);
    books_.set_worth_telling(tuning::time_between_acknowledgements / per_task);
    untimed_ = 0;
  }
  return !closed_ && !is_empty();
}

/// Called with the mutex held.
ready_task task_queue_core::take_next() {
  ++untimed_;
  if (ordered())
    return *in_order_.take();
  auto result = books_.take();
  ready_.store(books_.size(), std::memory_order_relaxed);
  if (result.from->redelivered)
    report_to(result.from->exchange);
  else if (books_.empty())
    report_last_task();
  return result;
}

/// Called with the mutex held: the last task that was here is being worked on, so that the next
/// should be on its way. Where tasks are short there is enough to do ahead.
void task_queue_core::report_last_task() {
  const auto now = clock::now();
  if (now - last_task_reported_ < tuning::time_between_last_tasks)
    return;
  last_task_reported_ = now;
  ask_for_more();
}

std::size_t task_queue_core::exchanges() const {
  lock_type lock{mutex_};
  return books_.exchanges().size();
}

bool task_queue_core::wait_for_exchanges(std::size_t n, std::chrono::nanoseconds timeout) {
  lock_type lock{mutex_};
  return wait(lock, limit_after(timeout), [&] { return books_.exchanges().size() >= n; });
}

/// Called with the mutex held, when a worker waits: exchanges may hold tasks back that would be too
/// many for one that still has those it got.
void task_queue_core::ask_for_more() {
  for (const auto& each : books_.mistaken())
    report_to(each);
}

void task_queue_core::take(std::span<data_message> messages, time) {
  for (auto& each : messages)
    receive(std::move(each));
  while (ordered() && !books_.empty()) {
    auto next = books_.take();
    const auto source = next.from->source;
    const auto number = next.number;
    in_order_.put(source, number, std::move(next));
  }
  ready_ = books_.size();
  if (!is_empty() && !meter_.running())
    meter_.start();
}

/// Called with the mutex held. Messages of other kinds are passed over.
void task_queue_core::receive(data_message msg) {
  const auto value = get_view(msg);
  if (const auto invited = parse_invitation(value)) {
    books_.invite(invited->exchange);
    report_to(invited->exchange);
    return;
  }
  if (get_topic(msg).starts_with(topic_of_progress())) {
    if (const auto progress = parse_progress(value))
      in_order_.settle(progress->source, progress->below);
    return;
  }
  const auto tasks = parse_tasks(value);
  if (tasks && tasks->values.size() > 0)
    books_.receive(*tasks, std::move(msg), shared_from_this());
}

void task_queue_core::tick(time now) {
  if (now >= ask_at_) {
    ask_at_ = time::max();
    if (is_empty())
      ask_for_more();
  }
  if (announcements_.is_due(now))
    announce(now);
  if (now >= next_report_) {
    report_to_all(now);
    next_report_ = now + tuning::time_between_reports;
  }
}

mailbox::time task_queue_core::next_tick() const {
  return std::min({ask_at_, announcements_.next(), next_report_});
}

void task_queue_core::done(std::span<const task_marks> tasks) {
  lock_type lock{mutex_};
  if (closed_)
    return;
  bool due = false;
  for (const auto& each : tasks) {
    due = books_.done(each) || due;
    if (due && books_.reports_due(each.from->exchange))
      report_to(each.from->exchange);
  }
  if (due)
    report_completed();
}

/// Together they are one reason to report.
void task_queue_core::done(const endpoint_id& exchange, std::span<const number_run> places,
                           bool direct) {
  lock_type lock{mutex_};
  bool due = false;
  for (const auto& each : places)
    due = books_.done(exchange, each, direct) || due;
  if (due && !closed_)
    report_to(exchange);
}

void task_queue_core::reject(const task_origin& from, std::uint64_t place) {
  lock_type lock{mutex_};
  if (closed_)
    return;
  books_.reject(from.exchange, place);
  report_to(from.exchange);
}

/// What waits for something before it must not keep that out.
std::uint64_t task_queue_core::credit() const noexcept {
  return ordered() ? std::numeric_limits<std::uint32_t>::max() : options_.credit_tasks;
}

// -- reports -------------------------------------------------------------------------------------

/// Called with the mutex held.
void task_queue_core::report_to(const endpoint_id& exchange) {
  auto report = books_.report_for(exchange);
  report.queue = id_;
  report.credit = credit();
  report.concurrency = options_.concurrency;
  report.timed = meter_.tasks();
  report.busy_ns = static_cast<std::uint64_t>(meter_.busy().count());
  scratch_.clear();
  write_report(scratch_, report);
  exchanges_[exchange].send(scratch_.bytes()); // else it goes with the next
}

/// Called with the mutex held: to sources. What is lost on the way, the reports to exchanges say
/// again, stage by stage.
void task_queue_core::report_completed() {
  for (const auto& each : books_.take_completed()) {
    scratch_.clear();
    write_completion(scratch_, {each.numbers.runs()});
    exchanges_[each.source].send(scratch_.bytes());
  }
}

/// Called with the mutex held: to exchanges by name, that they know of this queue.
void task_queue_core::announce(time now) {
  queue_report hello;
  hello.queue = id_;
  hello.credit = credit();
  hello.concurrency = options_.concurrency;
  hello.received = std::numeric_limits<std::uint64_t>::max(); // it says nothing of tasks
  scratch_.clear();
  write_report(scratch_, hello);
  announcements_.announce(scratch_.bytes(), now);
}

/// Called with the mutex held.
void task_queue_core::report_to_all(time now) {
  report_completed();
  for (const auto& each : books_.exchanges())
    report_to(each);
  for (const auto& each : exchanges_.find_forgotten(now)) {
    books_.forget(each);
    exchanges_.erase(each);
  }
}

bool task_queue_core::closed() const {
  const lock_type lock{mutex_};
  return closed_;
}

void task_queue_core::close() {
  stop();
  const lock_type lock{mutex_};
  books_.clear(); // tasks keep their queue
  in_order_ = {};
  ready_ = 0;
}

} // namespace pubsub::pattern
