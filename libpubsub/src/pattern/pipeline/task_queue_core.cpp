#include "pattern/pipeline/task_queue_core.hpp"

#include <algorithm>
#include <limits>

namespace pubsub::pattern {

namespace {

using namespace std::chrono_literals;

constexpr auto time_between_reports = 250ms;
constexpr auto memory_of_exchanges = 60s;                // that are gone
constexpr std::chrono::nanoseconds longest_read = 100ms; // without a look whether it is closed
constexpr std::chrono::nanoseconds time_to_ask = 2ms;    // for more, when there is nothing
constexpr std::chrono::nanoseconds time_between_acknowledgements = 25us; // of work, at least
constexpr auto shortest_to_tell = 5ms; // between reports of the last task
constexpr std::size_t messages_at_once = 64;
constexpr std::uint64_t tasks_of_a_lap = 64; // of the meter

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

task_queue_core::task_queue_core(endpoint& at, std::string_view name,
                                 const task_queue_options& options)
    : at_(at), options_(checked(options)),
      named_topic_(name.empty() ? std::string{}
                                : topic_of_queue_name(name_in(at, options_.scope, name))),
      in_(at.make_subscriber(topics(), of_inbox())), books_(options_.batch_tasks) {}

filter task_queue_core::topics() const {
  std::vector<std::string> result{topic_of_queue(id_)};
  if (!named_topic_.empty())
    result.push_back(named_topic_);
  if (ordered())
    result.emplace_back(topic_of_progress());
  return filter{result};
}

void task_queue_core::start() {
  reporter_ = std::thread{[this] { run(); }};
}

void task_queue_core::bind(std::string_view exchange_name) {
  const auto topic = topic_of_exchange_name(name_in(at_, options_.scope, exchange_name));
  lock_type lock{mutex_};
  if (closed_)
    return;
  to_names_.try_emplace(topic, at_.make_publisher(topic));
  announce();
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
  if (is_empty() && !closed_)
    await(lock, limit_after(timeout));
  if (untimed_ >= tasks_of_a_lap) { // whoever asks has done what he got
    meter_.lap(untimed_);
    const auto per_task = std::max<std::chrono::nanoseconds>(meter_.last() / untimed_, 1ns);
    books_.set_worth_telling(time_between_acknowledgements / per_task);
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
    tell_of_the_last();
  return result;
}

/// Called with the mutex held: somebody works on the last task that was here, so that the next
/// should be on its way. Where tasks are short there is enough to do ahead.
void task_queue_core::tell_of_the_last() {
  const auto now = std::chrono::steady_clock::now();
  if (now - told_of_the_last_ < shortest_to_tell)
    return;
  told_of_the_last_ = now;
  ask_for_more();
}

/// Called with the mutex held: until something is here, or the time has come, or it is closed.
void task_queue_core::await(lock_type& lock, time_limit until) {
  if (meter_.running())
    meter_.stop(std::exchange(untimed_, 0));
  auto patience = time_to_ask; // at first
  while (is_empty() && !closed_) {
    const auto left =
        until ? *until - std::chrono::steady_clock::now() : std::chrono::nanoseconds{longest_read};
    if (until && left <= 0ns) {
      if (!reading_)
        read(lock, 0ns);
      return;
    }
    if (!reading_) {
      read(lock, std::min<std::chrono::nanoseconds>(left, patience));
      if (is_empty() && std::exchange(patience, longest_read) == time_to_ask)
        ask_for_more();
    } else if (until) {
      read_.wait_until(lock, *until);
    } else {
      read_.wait(lock);
    }
  }
}

std::size_t task_queue_core::exchanges() const {
  lock_type lock{mutex_};
  return books_.exchanges().size();
}

bool task_queue_core::wait_for_exchanges(std::size_t n, std::chrono::nanoseconds timeout) {
  const auto until = limit_after(timeout);
  lock_type lock{mutex_};
  while (!closed_ && books_.exchanges().size() < n) {
    const auto left = *until - std::chrono::steady_clock::now();
    if (left <= 0ns)
      return false;
    if (!reading_)
      read(lock, std::min<std::chrono::nanoseconds>(left, longest_read));
    else
      read_.wait_until(lock, *until);
  }
  return !closed_;
}

/// Called with the mutex held, when somebody waits: exchanges may hold tasks back that would be too
/// many for somebody who still has those he got.
void task_queue_core::ask_for_more() {
  for (const auto& each : books_.mistaken())
    report_to(each);
}

/// Called with the mutex held, which is released while there is nothing.
void task_queue_core::read(lock_type& lock, std::chrono::nanoseconds limit) {
  reading_ = true;
  lock.unlock();
  batch_.clear();
  in_.get_batch(batch_, messages_at_once, limit);
  lock.lock();
  for (auto& each : batch_)
    take(std::move(each));
  reading_ = false;
  while (ordered() && !books_.empty()) {
    auto next = books_.take();
    const auto source = next.from->source;
    const auto number = next.number;
    in_order_.put(source, number, std::move(next));
  }
  ready_ = books_.size();
  if (!is_empty() && !meter_.running())
    meter_.start();
  read_.notify_all();
}

/// Called with the mutex held. What is no message of ours is passed over.
void task_queue_core::take(data_message msg) {
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
    tell_sources();
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
  link_to(exchange).out.publish_encoded(scratch_.bytes(), 0ns); // else it goes with the next
}

task_queue_core::exchange_link& task_queue_core::link_to(const endpoint_id& exchange) {
  auto found = to_exchanges_.find(exchange);
  if (found == to_exchanges_.end())
    found =
        to_exchanges_
            .emplace(exchange, exchange_link{at_.make_publisher(topic_of_exchange(exchange)), {}})
            .first;
  return found->second;
}

/// Called with the mutex held. What is lost on the way the reports to exchanges tell, stage by
/// stage.
void task_queue_core::tell_sources() {
  for (const auto& each : books_.take_completed()) {
    scratch_.clear();
    write_completion(scratch_, {each.numbers.runs()});
    link_to(each.source).out.publish_encoded(scratch_.bytes(), 0ns);
  }
}

/// Called with the mutex held: to exchanges by name, that they know of this queue.
void task_queue_core::announce() {
  queue_report hello;
  hello.queue = id_;
  hello.credit = credit();
  hello.concurrency = options_.concurrency;
  hello.received = std::numeric_limits<std::uint64_t>::max(); // it says nothing of tasks
  scratch_.clear();
  write_report(scratch_, hello);
  for (auto& [name, out] : to_names_)
    out.publish_encoded(scratch_.bytes(), 0ns);
}

void task_queue_core::run() {
  lock_type lock{mutex_};
  while (!closed_) {
    closing_.wait_for(lock, time_between_reports, [&] { return closed_; });
    if (closed_)
      return;
    while (!reading_ && !closed_ && in_.available() > 0)
      read(lock, 0ns);
    announce();
    report_to_all(std::chrono::steady_clock::now());
  }
}

/// Called with the mutex held. An exchange that is gone is not forgotten at once: what it had sent
/// may still be on its way, and come twice.
void task_queue_core::report_to_all(time now) {
  tell_sources();
  for (const auto& each : books_.exchanges())
    report_to(each);
  for (auto each = to_exchanges_.begin(); each != to_exchanges_.end();) {
    auto& link = each->second;
    if (link.out.subscribers() > 0)
      link.gone_since.reset();
    else if (!link.gone_since)
      link.gone_since = now;
    const bool over = link.gone_since && now - *link.gone_since > memory_of_exchanges;
    if (over)
      books_.forget(each->first);
    each = over ? to_exchanges_.erase(each) : std::next(each);
  }
}

void task_queue_core::close() {
  {
    lock_type lock{mutex_};
    closed_ = true;
  }
  read_.notify_all();
  closing_.notify_all();
  if (reporter_.joinable())
    reporter_.join();
  in_.close();
  lock_type lock{mutex_};
  books_.clear(); // tasks keep their queue
  in_order_ = {};
  ready_ = 0;
}

} // namespace pubsub::pattern
