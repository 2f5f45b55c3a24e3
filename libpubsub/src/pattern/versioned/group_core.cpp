#include "pattern/versioned/group_core.hpp"

#include <algorithm>
#include <iterator>

namespace pubsub::pattern {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::size_t most_completions = 1'000'000;

error check(const versioned_group_options& options) {
  if (std::ranges::find(all_versionings, options.scheme) == std::end(all_versionings))
    return {errc::invalid_argument, "there is no versioning scheme with the number " +
                                        std::to_string(static_cast<unsigned>(options.scheme))};
  if (options.window_messages == 0)
    return {errc::invalid_argument, "a window has room for one message at least"};
  if (options.replicas == 0)
    return {errc::invalid_argument, "replicas is at least 1"};
  if (options.timeout <= 0ms)
    return {errc::invalid_argument, "timeout is at least 1 ms"};
  return {};
}

} // namespace

group_core::group_core(endpoint& at, std::string_view name, const versioned_group_options& options)
    : group_core(at, name, options, endpoint_id::random()) {}

group_core::group_core(endpoint& at, std::string_view name, const versioned_group_options& options,
                       const endpoint_id& id)
    : turn_reader(at.make_subscriber(filter{topic_of_status(name), topic_of_client(id)})),
      options_(options), id_(id), status_topic_(topic_of_status(name)),
      own_topic_(topic_of_client(id_)), ways_(at, name, unwanted::is_not_sent),
      window_(id_, std::string{name}, options_, ways_, clock::now()), failure_(check(options)) {
  closed_ = static_cast<bool>(failure_);
  if (!closed_)
    start();
}

// -- sending -------------------------------------------------------------------------------------

/// Called with the mutex held.
error group_core::why_closed() const {
  return failure_ ? failure_ : error{errc::shutting_down, "the client of the group is closed"};
}

error group_core::check_size(std::size_t size_bytes) const {
  if (size_bytes <= options_.max_message_bytes)
    return {};
  return {errc::limit_exceeded, "a message of " + std::to_string(size_bytes) +
                                    " bytes is longer than max_message_bytes, " +
                                    std::to_string(options_.max_message_bytes) +
                                    "; it was not sent"};
}

/// Called with the mutex held. False once closed.
bool group_core::await_room(lock_type& lock) {
  if (!window_.has_room()) {
    window_.flush(clock::now());
    return wait(lock, {}, [&] { return window_.has_room(); });
  }
  return !closed_;
}

expected<message_version> group_core::send(std::span<const std::byte> value) {
  if (auto failed = check_size(value.size()))
    return failed;
  lock_type lock{mutex_};
  if (!await_room(lock))
    return why_closed();
  const auto now = clock::now();
  const auto number = window_.add(value, now);
  awaited_[number];
  window_.flush(now);
  wait(lock, {}, [&] { return awaited_[number].has_value(); });
  const auto became = std::move(awaited_.extract(number).mapped());
  if (!became)
    return why_closed();
  if (became->error)
    return became->error;
  return became->at;
}

expected<std::uint64_t> group_core::post(std::span<const std::byte> values) {
  std::uint64_t last = 0;
  lock_type lock{mutex_};
  look(lock);
  while (!values.empty()) {
    const auto value = data_view::from_valid(values).bytes();
    values = values.subspan(value.size());
    if (auto failed = check_size(value.size()))
      return failed;
    if (!await_room(lock))
      return why_closed();
    const auto now = clock::now();
    last = window_.add(value, now);
    window_.send_what_is_due(now);
  }
  return last;
}

void group_core::flush() {
  lock_type lock{mutex_};
  window_.flush(clock::now());
}

std::size_t group_core::drain(std::chrono::nanoseconds timeout) {
  lock_type lock{mutex_};
  window_.flush(clock::now());
  wait(lock, limit_after(timeout), [&] { return window_.in_flight() == 0; });
  return window_.in_flight();
}

std::vector<versioned_completion> group_core::take_completions(std::chrono::nanoseconds timeout) {
  lock_type lock{mutex_};
  wait(lock, limit_after(timeout), [&] { return !completions_.empty(); });
  std::vector<versioned_completion> all{std::make_move_iterator(completions_.begin()),
                                        std::make_move_iterator(completions_.end())};
  completions_.clear();
  return all;
}

// -- hearing -------------------------------------------------------------------------------------

void group_core::take(const std::vector<data_message>& messages, time now) {
  for (const auto& each : messages) {
    const auto topic = get_topic(each);
    if (topic == own_topic_ || topic == status_topic_)
      window_.receive(each, now);
  }
  if (!messages.empty())
    window_.send_what_is_due(now);
  collect();
}

void group_core::tick(time now) {
  if (now >= next_look_) {
    next_look_ = now + time_between_looks;
    for (const auto& each : ways_.find_lost(window_.known_replicas()))
      window_.lose(each);
  }
  window_.tick(now);
  collect();
}

void group_core::collect() {
  for (const auto& run : window_.take_finished()) {
    auto sender = awaited_.lower_bound(run.first);
    const bool wanted = options_.reports == completion_reports::all ||
                        (options_.reports == completion_reports::failures && run.error);
    for (std::uint64_t i = 0; i < run.count; ++i) {
      const auto number = run.first + i;
      if (sender != awaited_.end() && sender->first == number) {
        sender->second =
            result{{run.at.epoch, run.at.number + (run.at.number > 0 ? i : 0)}, run.error};
        ++sender;
      } else if (wanted) {
        report(run, number);
      } else if (sender == awaited_.end() || sender->first >= run.first + run.count) {
        break;
      }
    }
  }
  if (window_.failure() && !closed_) {
    failure_ = window_.failure();
    close_by_itself();
  }
}

void group_core::report(const finished_run& run, std::uint64_t number) {
  auto at = run.at;
  at.number += at.number > 0 ? number - run.first : 0;
  completions_.push_back({number, at, run.error});
  if (completions_.size() > most_completions)
    completions_.pop_front();
}

// -- looking -------------------------------------------------------------------------------------

bool group_core::wait_for_replicas(std::size_t n, std::chrono::nanoseconds timeout) {
  lock_type lock{mutex_};
  return wait(lock, limit_after(timeout), [&] { return window_.replicas(clock::now()) >= n; });
}

std::size_t group_core::replicas() const {
  lock_type lock{mutex_};
  return window_.replicas(clock::now());
}

std::size_t group_core::in_flight() const {
  lock_type lock{mutex_};
  return window_.in_flight();
}

versioned_group_counters group_core::counters() const {
  lock_type lock{mutex_};
  return window_.counters();
}

} // namespace pubsub::pattern
