// A queue and its endpoint: receives tasks, and reports how far it is.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#include <pubsub/endpoint.hpp>
#include <pubsub/pattern/pipeline_options.hpp>
#include <pubsub/received.hpp>

#include "pattern/mailbox/announcer.hpp"
#include "pattern/mailbox/check_counts.hpp"
#include "pattern/mailbox/mailbox.hpp"
#include "pattern/mailbox/partner.hpp"
#include "pattern/mailbox/ready_fd.hpp"
#include "pattern/mailbox/speakers.hpp"
#include "pattern/pipeline/task_inbox.hpp"
#include "pattern/pipeline/tuning.hpp"

namespace pubsub::pattern {

/// What names begin with on topics: local ones with their endpoint, which no other has.
inline std::string prefix_of(const endpoint& at, name_scope scope) {
  return scope == name_scope::local ? to_string(at.id()) + "/" : std::string{};
}

/// Measures work between `start` and `stop`. A thread that has not waited for anything since then
/// has worked for as long as it had a processor: so it does not look slow where others want one,
/// too. Else, or where several threads work, the time counts that has passed. Thread-safety: none.
class work_meter {
public:
  bool running() const noexcept { return running_; }
  void start() noexcept {
    since_ = reading::here();
    running_ = true;
  }
  /// So many tasks have been done since the last lap; returns how long that was.
  std::chrono::nanoseconds lap(std::uint64_t tasks) noexcept {
    const auto now = reading::here();
    const bool computed = pthread_equal(now.thread, since_.thread) && now.waits == since_.waits;
    const auto lap = computed ? now.processor - since_.processor : now.clock - since_.clock;
    busy_ += lap;
    tasks_ += tasks;
    since_ = now;
    return lap;
  }
  void stop(std::uint64_t tasks) noexcept {
    lap(tasks);
    running_ = false;
  }

  std::chrono::nanoseconds busy() const noexcept { return busy_; }
  /// Done in that time.
  std::uint64_t tasks() const noexcept { return tasks_; }

private:
  struct reading {
    pthread_t thread{};
    std::chrono::nanoseconds clock{0};
    std::chrono::nanoseconds processor{0};
    long waits = 0; ///< voluntary switches

    static reading here() noexcept {
      timespec used{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
      rusage usage{};
      getrusage(RUSAGE_THREAD, &usage);
      return {pthread_self(), std::chrono::steady_clock::now().time_since_epoch(),
              std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec},
              usage.ru_nvcsw};
    }
  };

  reading since_;
  std::chrono::nanoseconds busy_{0};
  std::uint64_t tasks_ = 0;
  bool running_ = false;
};

/// Workers read as they wait; meanwhile reports are due from time to time. Thread-safe.
class task_queue_core final : public std::enable_shared_from_this<task_queue_core>,
                              private mailbox {
public:
  using clock = std::chrono::steady_clock;
  using mailbox::closed;
  using timeout_type = std::optional<std::chrono::nanoseconds>; // none: as long as it takes

  /// As `task_queue::open`.
  static expected<std::shared_ptr<task_queue_core>> open(const endpoint& at, std::string_view name,
                                                         const task_queue_options& options) {
    if (auto wrong = check_counts({{"credit_tasks", options.credit_tasks},
                                   {"batch_tasks", options.batch_tasks},
                                   {"concurrency", options.concurrency}}))
      return wrong;
    const auto id = endpoint_id::random();
    filter topics{topic_of_queue(id)};
    if (!name.empty())
      topics.add(topic_of_queue_name(prefix_of(at, options.scope).append(name)));
    if (options.order == task_order::by_number)
      topics.add(progress_topics);
    const auto shared = at.share();
    // Tasks are bounded by the credit, so the queue of messages need not be.
    const queue_options unbounded{.policy = overflow_policy::block,
                                  .capacity_messages = 1'000'000,
                                  .capacity_bytes = std::size_t{1} << 30};
    auto in = shared->make_subscriber(topics, unbounded);
    if (in.closed())
      return error{errc::shutting_down, "the endpoint is closed"};
    auto result = std::make_shared<task_queue_core>(shared, options, id);
    result->start(std::move(in), own_reading::when_due);
    return result;
  }
  /// The options are valid. It begins to work with `open`, once it is shared.
  task_queue_core(std::shared_ptr<endpoint> at, const task_queue_options& options,
                  const endpoint_id& id)
      : options_(options), id_(id), scope_(prefix_of(*at, options.scope)),
        inbox_(options.batch_tasks, options.order), exchanges_(at, topic_of_exchange),
        announcements_(at) {}
  ~task_queue_core() override { close(); }
  void bind(std::string_view exchange_name) {
    const lock_type lock{mutex_};
    if (closed_)
      return;
    announcements_.add(topic_of_exchange_name(scope_ + std::string{exchange_name}));
    announce(clock::now());
  }
  void close() {
    stop();
    const lock_type lock{mutex_};
    inbox_.clear(); // tasks keep their queue
    note_ready();
  }

  /// As `make` has made it.
  template <class Make>
  auto get(timeout_type timeout, Make make) -> received<decltype(make(ready_task{}))> {
    lock_type lock{mutex_};
    if (!await_task(lock, timeout))
      return why_none();
    return make(take_next());
  }
  /// At most `max`, at least one.
  template <class Make>
  auto get_batch(std::size_t max, timeout_type timeout, Make make)
      -> received<std::vector<decltype(make(ready_task{}))>> {
    lock_type lock{mutex_};
    if (!await_task(lock, timeout))
      return why_none();
    std::vector<decltype(make(ready_task{}))> result;
    result.reserve(std::min(max, inbox_.size()));
    do
      result.push_back(make(take_next()));
    while (result.size() < max && !inbox_.empty());
    return result;
  }
  std::size_t available() const noexcept { return ready_; }
  /// Readable also when what has come turns out to be no task.
  int fd() {
    const lock_type lock{mutex_};
    return fd_.open(unread_fd(), !inbox_.empty());
  }
  std::size_t exchanges() const {
    const lock_type lock{mutex_};
    return inbox_.exchanges().size();
  }
  bool wait_for_exchanges(std::size_t n, std::chrono::nanoseconds timeout) {
    lock_type lock{mutex_};
    return wait(lock, limit_after(timeout), [&] { return inbox_.exchanges().size() >= n; });
  }

  void done(std::span<const task_range> tasks) {
    const lock_type lock{mutex_};
    if (closed_)
      return;
    bool redelivered = false; // acknowledged at once: the task must not be lost once more
    for (const auto& each : tasks) {
      inbox_.done(each);
      redelivered = redelivered || each.from->redelivered;
    }
    for (const auto& each : tasks)
      if (inbox_.report_is_due(each.from->exchange, redelivered))
        report_to(each.from->exchange);
    if (inbox_.completion_is_due(redelivered))
      report_completed();
  }
  /// Together they are one reason to report.
  void done(std::span<const upstream_range> tasks) {
    const lock_type lock{mutex_};
    if (closed_)
      return;
    for (const auto& each : tasks)
      inbox_.done(each);
    for (const auto& each : tasks)
      if (inbox_.report_is_due(each.exchange))
        report_to(each.exchange);
  }
  void reject(const task_origin& from, std::uint64_t place) {
    const lock_type lock{mutex_};
    if (closed_)
      return;
    inbox_.reject(from.exchange, place);
    report_to(from.exchange);
  }

private:
  // -- the rest is called with the mutex held ----------------------------------------------------

  void take(std::span<data_message> messages, time now) override {
    for (auto& each : messages)
      receive(std::move(each), now);
    note_ready();
    if (!inbox_.empty() && !meter_.running())
      meter_.start();
  }

  void tick(time now) override {
    if (now >= ask_at_) {
      ask_at_ = time::max();
      if (inbox_.empty())
        ask_for_more();
    }
    if (announcements_.is_due(now))
      announce(now);
    if (now >= next_report_) {
      report_to_all(now);
      next_report_ = now + tuning::time_between_reports;
    }
  }

  time next_tick() const override {
    return std::min({ask_at_, announcements_.next(), next_report_});
  }

  /// False if there is none in time, or it is closed.
  bool await_task(lock_type& lock, timeout_type timeout) {
    if (inbox_.empty() && !closed_) {
      if (meter_.running())
        meter_.stop(std::exchange(untimed_, 0));
      if (timeout)
        look(lock); // which it may not have time for later
      ask_at_ = clock::now() + tuning::time_to_ask;
      wait(lock, limit_after(timeout), [&] { return !inbox_.empty(); });
      ask_at_ = time::max();
    }
    if (untimed_ >= tuning::tasks_of_a_lap) { // the thread has done those it got before
      const auto lap = meter_.lap(untimed_);
      const auto per_task =
          std::max<std::chrono::nanoseconds>(lap / untimed_, std::chrono::nanoseconds{1});
      inbox_.set_worth_reporting(tuning::time_between_acknowledgements / per_task);
      untimed_ = 0;
    }
    return !closed_ && !inbox_.empty();
  }

  void note_ready() noexcept {
    ready_.store(inbox_.size(), std::memory_order_relaxed);
    fd_.set(!inbox_.empty());
  }

  receive_status why_none() const {
    return closed_ ? receive_status::closed : receive_status::timeout;
  }

  /// Only while there is a task. With the last one that is here the next should be on its way;
  /// where tasks are short there is enough to do ahead.
  ready_task take_next() {
    ++untimed_;
    auto result = inbox_.take();
    note_ready();
    if (result.from->redelivered) {
      report_to(result.from->exchange);
    } else if (inbox_.empty()) {
      const auto now = clock::now();
      if (now - last_task_reported_ >= tuning::time_between_last_tasks) {
        last_task_reported_ = now;
        ask_for_more();
      }
    }
    return result;
  }

  /// Messages of other kinds are passed over.
  void receive(data_message msg, time now) {
    const auto value = get_view(msg);
    const auto from = [&](const endpoint_id& part) {
      return speakers_.is_own_word(part, msg, now);
    };
    if (const auto hello = parse<exchange_hello>(value); hello && from(hello->exchange)) {
      inbox_.invite(hello->exchange);
      report_to(hello->exchange);
    } else if (get_topic(msg).starts_with(progress_topics)) {
      if (const auto progress = parse<progress_report>(value); progress && from(progress->source))
        inbox_.receive(*progress);
    } else if (const auto tasks = parse<tasks_view>(value); tasks && from(tasks->at.exchange)) {
      inbox_.receive(*tasks, std::move(msg), shared_from_this());
    }
  }

  /// The credit of an ordered queue has no end: a task that waits for another must not keep that
  /// out.
  queue_report about_this_queue() const {
    queue_report result;
    result.queue = id_;
    result.credit = options_.order == task_order::by_number
                        ? std::numeric_limits<std::uint32_t>::max()
                        : options_.credit_tasks;
    result.concurrency = options_.concurrency;
    return result;
  }

  /// What a link does not take goes with the next report.
  void report_to(const endpoint_id& exchange) {
    auto report = about_this_queue();
    inbox_.report_to(exchange, report);
    report.timed = meter_.tasks();
    report.busy_ns = static_cast<std::uint64_t>(meter_.busy().count());
    exchanges_[exchange].send(message_.encode(report));
  }

  /// To sources. What is lost on the way, the reports to exchanges say again, stage by stage.
  void report_completed() {
    for (const auto& [source, numbers] : inbox_.take_completed())
      exchanges_[source.id].send(message_.encode(completion{source.secret, numbers.runs()}));
  }

  void report_to_all(time now) {
    report_completed();
    for (const auto& [id, its] : inbox_.exchanges())
      report_to(id);
    for (const auto& each : exchanges_.find_forgotten(now)) {
      inbox_.forget(each);
      exchanges_.erase(each);
    }
  }

  /// When nothing is left to do: exchanges may hold tasks back that would be too many for a queue
  /// that still has those it got.
  void ask_for_more() {
    for (const auto& [id, its] : inbox_.exchanges())
      if (its.taken != its.taken_reported)
        report_to(id);
  }

  /// To exchanges by name. They learn of this queue, and nothing of tasks.
  void announce(time now) {
    auto hello = about_this_queue();
    hello.received = std::numeric_limits<std::uint64_t>::max();
    announcements_.announce(message_.encode(hello), now);
  }

  const task_queue_options options_;
  const endpoint_id id_;
  const std::string scope_; // what names begin with

  task_inbox inbox_;
  partner_map exchanges_; // and sources
  speakers speakers_;
  announcer announcements_;
  message_buffer message_;
  work_meter meter_;
  std::uint64_t untimed_ = 0; // tasks given out since its last lap
  time last_task_reported_{};
  time next_report_{};
  time ask_at_ = time::max();
  std::atomic<std::size_t> ready_{0};
  ready_fd fd_;
};

} // namespace pubsub::pattern
