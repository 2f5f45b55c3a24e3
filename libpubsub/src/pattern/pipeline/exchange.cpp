// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/pattern/pipeline.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <pubsub/publisher.hpp>

#include "pattern/mailbox/announcer.hpp"
#include "pattern/mailbox/mailbox.hpp"
#include "pattern/mailbox/partner.hpp"
#include "pattern/mailbox/speakers.hpp"
#include "pattern/pipeline/task_queue_core.hpp"
#include "pattern/pipeline/task_scheduler.hpp"
#include "pattern/pipeline/tuning.hpp"

namespace pubsub {

namespace pattern {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// What only those know that tasks have been given to.
std::uint64_t random_secret() {
  const auto random = endpoint_id::random();
  std::uint64_t result = 0;
  std::memcpy(&result, random.bytes().data(), sizeof result);
  return result;
}

/// Threads that send share out their tasks themselves, and read reports while they wait.
/// Thread-safe.
class exchange_core final : private mailbox {
public:
  using mailbox::closed;

  /// As `exchange::open`.
  static expected<std::shared_ptr<exchange_core>> open(const endpoint& at, std::string_view name,
                                                       const exchange_options& options) {
    if (auto wrong = check_counts(
            {{"window_tasks", options.window_tasks}, {"max_losses", options.max_losses}}))
      return wrong;
    if (options.liveness_timeout < 2 * tuning::time_between_reports)
      return error{errc::invalid_argument, "liveness_timeout is " +
                                               std::to_string(options.liveness_timeout.count()) +
                                               " ns; it is at least 500 ms"};
    auto result = std::make_shared<exchange_core>(at.share(), name, options);
    if (!options.dead_letters.empty()) {
      auto dead_letters = open(at, "", {.scope = options.scope});
      if (!dead_letters)
        return dead_letters.error();
      result->dead_letters_ = std::move(*dead_letters);
      result->dead_letters_->bind(options.dead_letters);
    }
    filter topics{topic_of_exchange(result->id_)};
    if (!name.empty())
      topics.add(result->named_topic_);
    auto in = at.share()->make_subscriber(topics);
    if (in.closed())
      return error{errc::shutting_down, "the endpoint is closed"};
    result->start(std::move(in));
    return result;
  }
  /// The options are valid. It begins to work with `open`.
  exchange_core(const std::shared_ptr<endpoint>& at, std::string_view name,
                const exchange_options& options)
      : options_(options), name_(name), scope_(prefix_of(*at, options.scope)),
        named_topic_(topic_of_exchange_name(scope_ + name_)), scheduler_(options_),
        queues_(at, topic_of_queue), announcements_(at),
        progress_(at->make_publisher(topic_of_progress(id_))) {
    if (!name.empty())
      announcements_.add(named_topic_);
  }
  ~exchange_core() override { close(); }
  const endpoint_id& id() const noexcept { return id_; }
  void bind(std::string_view queue_name) {
    const lock_type lock{mutex_};
    if (closed_)
      return;
    announcements_.add(topic_of_queue_name(scope_ + std::string{queue_name}));
    announce(clock::now());
  }
  void close() {
    stop();
    if (dead_letters_)
      dead_letters_->close();
  }
  /// What a function says of the scheduler.
  template <class Function>
  auto ask(Function&& function) const {
    const lock_type lock{mutex_};
    return function(scheduler_);
  }
  error failure() const {
    const lock_type lock{mutex_};
    return failure_;
  }

  /// Sends values that lie one behind the other; without a timeout blocks as long as it takes.
  expected<void> send(std::span<const std::byte> values,
                      std::optional<std::chrono::nanoseconds> timeout = {}) {
    const auto until = limit_after(timeout);
    lock_type lock{mutex_};
    while (!values.empty()) {
      if (!await_room(lock, until))
        return closed_ ? why_closed()
                       : error{errc::request_timeout, "the window of the exchange is full"};
      next_number_ +=
          add({.source = {id_, secret_}, .number = next_number_, .count = values.size()}, values);
    }
    return {};
  }
  /// Sends results of as many tasks; `sent` counts those that were sent before it was closed.
  expected<void> send_results(std::span<const std::byte> values, std::span<const task_range> of,
                              std::size_t& sent) {
    const bool last_of_all = !of.empty() && of.back().from->queue->available() == 0;
    lock_type lock{mutex_};
    for (const auto& [from, places, first_number] : of) {
      upstream_.insert(from->queue);
      new_tasks results{.source = from->source,
                        .number = first_number,
                        .count = places.count,
                        .redelivered = from->redelivered,
                        .upstream = {from->queue.get(), from->exchange, places.first, places.count,
                                     from->direct}};
      while (results.count > 0) {
        if (values.empty())
          return error{errc::invalid_argument, "there are fewer results than tasks"};
        if (!await_room(lock, {}))
          return why_closed();
        const auto n = add(results, values);
        results.number += n;
        results.upstream.first += n;
        results.count = results.upstream.count -= n;
        sent += n;
      }
    }
    if (last_of_all)
      scheduler_.release(); // no other result will fill the batch
    share_out();
    return {};
  }
  void send_pending() {
    const lock_type lock{mutex_};
    scheduler_.release();
    share_out();
  }
  std::size_t drain(std::chrono::nanoseconds timeout) {
    lock_type lock{mutex_};
    send_and_wait(lock, limit_after(timeout), [&] { return scheduler_.in_flight() == 0; });
    return scheduler_.in_flight();
  }
  bool wait_for_queues(std::size_t n, std::chrono::nanoseconds timeout) {
    lock_type lock{mutex_};
    return send_and_wait(lock, limit_after(timeout), [&] { return scheduler_.queues() >= n; });
  }

private:
  /// Where no queue reads dead letters, only the counters tell how many there were.
  void send_dead(const task_batch& single) {
    const lock_type lock{mutex_};
    if (closed_ || !scheduler_.has_room())
      return;
    auto value = single.values.bytes();
    const auto number = single.numbers.runs().front().first;
    add({.source = single.source, .number = number, .count = 1, .redelivered = true}, value);
    scheduler_.release();
    share_out();
  }

  // -- the rest is called with the mutex held ----------------------------------------------------

  void take(std::span<data_message> messages, time now) override {
    for (const auto& each : messages)
      receive(each, now);
    if (!messages.empty()) {
      if (scheduler_.has_idle_queue())
        scheduler_.release();
      share_out();
    }
  }

  void tick(time now) override {
    if (now - batch_begun_ >= tuning::longest_held_back)
      scheduler_.release(); // no other task has come to fill the batch
    if (now >= next_look_) {
      look_after_queues(now);
      if (next_number_ > 0) // again and again, for a queue may have begun to listen
        (void)progress_.try_publish(
            message_.encode(progress_report{id_, scheduler_.settled_below()}));
      next_look_ = now + tuning::time_between_looks;
    }
    if (announcements_.is_due(now))
      announce(now);
    share_out();
  }

  time next_tick() const override {
    const auto next = std::min(next_look_, announcements_.next());
    return scheduler_.holds_back() ? std::min(next, batch_begun_ + tuning::longest_held_back)
                                   : next;
  }

  /// Releases the mutex meanwhile: senders need not wait until the queues that tasks came from know
  /// that their results are done.
  void pass_on(lock_type& lock) override {
    std::map<task_queue_core*, std::vector<upstream_range>> done;
    for (const auto& each : scheduler_.take_done())
      done[each.queue].push_back(each);
    const auto dead = scheduler_.take_dead();
    if (done.empty() && dead.empty())
      return;
    lock.unlock();
    for (const auto& [queue, tasks] : done)
      queue->done(tasks);
    if (dead_letters_)
      for (const auto& each : dead)
        dead_letters_->send_dead(*each);
    lock.lock();
  }

  /// As `mailbox::wait`; what was held back goes before.
  template <class Condition>
  bool send_and_wait(lock_type& lock, time_limit until, Condition&& met) {
    scheduler_.release();
    share_out();
    return wait(lock, until, met);
  }

  /// False if there is none in time, or once closed.
  bool await_room(lock_type& lock, time_limit until) {
    if (!scheduler_.has_room())
      return send_and_wait(lock, until, [&] { return scheduler_.has_room(); });
    return !closed_;
  }

  error why_closed() const {
    return failure_ ? failure_ : error{errc::shutting_down, "the exchange is closed"};
  }

  /// Only while there is room. Takes values from the front, at most `count`, and sends what is due.
  /// Returns how many.
  std::size_t add(new_tasks more, std::span<const std::byte>& values) {
    const auto most = std::min({more.count, scheduler_.room(), tuning::tasks_between_looks});
    std::size_t end = 0;
    for (more.count = 0; more.count < most; ++more.count) {
      if (end >= std::min(values.size(), tuning::bytes_between_looks))
        break;
      end += size_of_values(values.subspan(end), 1);
    }
    more.values = values.first(end);
    more.upstream.count = std::min<std::uint64_t>(more.upstream.count, more.count);
    values = values.subspan(end);
    if (scheduler_.add(more)) {
      const auto now = clock::now();
      if (now - std::exchange(batch_begun_, now) > tuning::burst)
        scheduler_.release(); // after a pause no others are about to come
    }
    share_out();
    return more.count;
  }

  /// What a link does not take now is sent again later, as if it had been lost on the way.
  void share_out() {
    if (!scheduler_.may_send())
      return;
    const auto now = clock::now();
    while (auto next = scheduler_.next(now)) {
      next->at.exchange = id_;
      queues_[next->queue].send(message_.encode(message_of(next->at, *next->tasks)));
    }
  }

  /// Messages of other kinds are passed over. A report to the name, not to this exchange, calls for
  /// an invitation.
  void receive(const data_message& msg, time now) {
    const auto value = get_view(msg);
    if (const auto report = parse<queue_report>(value)) {
      if (!speakers_.is_own_word(report->queue, msg, now))
        return;
      scheduler_.receive(*report, now);
      if (get_topic(msg) == named_topic_)
        queues_[report->queue].send(hello(now));
    } else if (const auto ended = parse<completion>(value); ended && ended->secret == secret_) {
      for (const auto& each : ended->numbers)
        scheduler_.complete(each);
    } else if (const auto other = parse<exchange_hello>(value);
               other && speakers_.is_own_word(other->exchange, msg, now)) {
      contest(*other, now);
    }
  }

  void look_after_queues(time now) {
    auto lost = scheduler_.silent_since(now - options_.liveness_timeout);
    std::ranges::copy(queues_.find_gone(now), std::back_inserter(lost));
    for (const auto& id : lost) {
      scheduler_.lose(id);
      queues_.erase(id);
    }
  }

  std::span<const std::byte> hello(time now) {
    const auto age = static_cast<std::uint64_t>((now - begun_).count());
    return message_.encode(exchange_hello{id_, age});
  }

  /// Invites queues, and claims the name.
  void announce(time now) { announcements_.announce(hello(now), now); }

  /// Of two exchanges of a name the younger one closes; where they differ by less than a message
  /// may take, the one with the larger id.
  void contest(const exchange_hello& other, time now) {
    if (closed_ || other.exchange == id_)
      return;
    const auto difference =
        now - begun_ -
        std::chrono::nanoseconds{static_cast<std::int64_t>(
            std::min<std::uint64_t>(other.age_ns, std::numeric_limits<std::int64_t>::max()))};
    const bool same_age = std::chrono::abs(difference) < tuning::same_age;
    if (same_age ? id_ < other.exchange : difference > 0ns) {
      announce(now); // it may not have heard of this one
      return;
    }
    failure_ = {errc::invalid_argument,
                "another exchange is named '" + name_ + "': " + to_string(other.exchange)};
    end();
  }

  const exchange_options options_;
  const endpoint_id id_ = endpoint_id::random();
  const std::uint64_t secret_ = random_secret();
  const std::string name_;        // empty: it has none
  const std::string scope_;       // what names begin with
  const std::string named_topic_; // of all exchanges of its name
  const time begun_ = std::chrono::steady_clock::now();

  task_scheduler scheduler_;
  partner_map queues_;
  speakers speakers_;
  announcer announcements_;
  std::set<std::shared_ptr<task_queue_core>> upstream_; // where tasks came from
  std::shared_ptr<exchange_core> dead_letters_;         // fixed by `open`
  publisher progress_;
  message_buffer message_;
  std::uint64_t next_number_ = 0;
  time batch_begun_{}; // when the first task was held back for others
  time next_look_{};
  error failure_; // why it closed by itself
};

} // namespace pattern

exchange::exchange(std::shared_ptr<pattern::exchange_core> core) noexcept
    : core_(std::move(core)) {}

expected<exchange> exchange::open(const endpoint& at, std::string_view name,
                                  const exchange_options& options) {
  auto core = pattern::exchange_core::open(at, name, options);
  if (!core)
    return core.error();
  return exchange{std::move(*core)};
}

exchange::exchange(exchange&&) noexcept = default;
exchange& exchange::operator=(exchange&&) noexcept = default;

exchange::~exchange() {
  if (core_)
    core_->close();
}

void exchange::bind(std::string_view queue_name) {
  core_->bind(queue_name);
}

expected<void> exchange::send(const encodable& value) {
  data_writer room;
  return core_->send(pattern::bytes_of(value, room));
}

expected<void> exchange::send_for(const encodable& value, std::chrono::nanoseconds timeout) {
  data_writer room;
  return core_->send(pattern::bytes_of(value, room), timeout);
}

expected<void> exchange::send(const encodable& result, task of) {
  data_writer room;
  std::size_t sent = 0;
  const auto one = of.range();
  auto outcome = core_->send_results(pattern::bytes_of(result, room), {&one, 1}, sent);
  of.settled_ = sent == 1; // it is done when its result is
  return outcome;
}

expected<void> exchange::send_batch(std::span<const std::byte> values) {
  return core_->send(values);
}

expected<void> exchange::send_batch(std::span<const std::byte> results, std::vector<task> of) {
  std::vector<pattern::task_range> ranges;
  for (const auto& each : of)
    append(ranges, each.range());
  std::size_t sent = 0;
  auto outcome = core_->send_results(results, ranges, sent);
  for (std::size_t i = 0; i < sent; ++i)
    of[i].settled_ = true;
  return outcome;
}

void exchange::send_pending() {
  core_->send_pending();
}

std::size_t exchange::drain(std::chrono::nanoseconds timeout) {
  return core_->drain(timeout);
}

bool exchange::wait_for_queues(std::size_t n, std::chrono::nanoseconds timeout) const {
  return core_->wait_for_queues(n, timeout);
}

std::size_t exchange::queues() const {
  return core_->ask([](const auto& scheduler) { return scheduler.queues(); });
}

const endpoint_id& exchange::id() const noexcept {
  return core_->id();
}

exchange_counters exchange::counters() const {
  return core_->ask([](const auto& scheduler) { return scheduler.counters(); });
}

std::size_t exchange::in_flight() const {
  return core_->ask([](const auto& scheduler) { return scheduler.in_flight(); });
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

} // namespace pubsub
