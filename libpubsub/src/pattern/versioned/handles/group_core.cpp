#include "pattern/versioned/handles/group_core.hpp"

#include <algorithm>
#include <iterator>

#include "pattern/mailbox/tuning.hpp"

namespace pubsub::pattern {

using clock = std::chrono::steady_clock;

expected<std::shared_ptr<group_core>> group_core::open(const endpoint& at, std::string_view name,
                                                       const versioned_group_options& options) {
  const auto refuse = [](std::string why) { return error{errc::invalid_argument, std::move(why)}; };
  if (std::ranges::find(all_versionings, options.scheme) == std::end(all_versionings))
    return refuse("there is no versioning scheme with the number " +
                  std::to_string(static_cast<unsigned>(options.scheme)));
  if (options.window_messages == 0)
    return refuse("window_messages is at least 1");
  if (options.replicas == 0)
    return refuse("replicas is at least 1");
  if (options.timeout <= std::chrono::nanoseconds{0})
    return refuse("timeout is more than 0");
  const auto id = endpoint_id::random();
  std::array topics{topic_of_status(name), topic_of_client(id)};
  const auto shared = at.share();
  auto in = shared->make_subscriber(filter{topics[0], topics[1]});
  if (in.closed())
    return error{errc::shutting_down, "the endpoint is closed"};
  return std::make_shared<group_core>(shared, std::move(in), std::move(topics), name, options, id);
}

group_core::group_core(const std::shared_ptr<endpoint>& at, subscriber in,
                       std::array<std::string, 2> topics, std::string_view name,
                       const versioned_group_options& options, const endpoint_id& id)
    : options_(options), id_(id), topics_(std::move(topics)),
      links_(at, name, without_subscribers::is_not_sent),
      window_(id_, std::string{name}, options_, links_, clock::now()) {
  start(std::move(in));
}

// -- sending -------------------------------------------------------------------------------------

/// Called with the mutex held.
error group_core::why_closed() const {
  return window_.failure() ? window_.failure()
                           : error{errc::shutting_down, "the client of the group is closed"};
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

void group_core::take(std::span<data_message> messages, time now) {
  for (const auto& each : messages) {
    if (std::ranges::find(topics_, get_topic(each)) != topics_.end())
      window_.receive(each, now);
  }
  if (!messages.empty())
    window_.send_what_is_due(now);
  collect();
}

void group_core::tick(time now) {
  if (now >= next_look_) {
    next_look_ = now + tuning::time_between_looks;
    for (const auto& each : links_.find_lost(window_.known_replicas(), now))
      window_.lose(each);
  }
  window_.tick(now);
  collect();
}

void group_core::collect() {
  for (const auto& run : window_.take_finished()) {
    auto sender = awaited_.lower_bound(run.first);
    const bool reported = options_.reports == completion_reports::all ||
                          (options_.reports == completion_reports::failures && run.error);
    for (std::uint64_t i = 0; i < run.count; ++i) {
      const auto number = run.first + i;
      if (sender != awaited_.end() && sender->first == number) {
        sender->second =
            result{{run.at.epoch, run.at.number + (run.at.number > 0 ? i : 0)}, run.error};
        ++sender;
      } else if (reported) {
        report(run, number);
      } else if (sender == awaited_.end() || sender->first >= run.first + run.count) {
        break;
      }
    }
  }
  if (window_.failure() && !closed_)
    end();
}

void group_core::report(const finished_run& run, std::uint64_t number) {
  auto at = run.at;
  at.number += at.number > 0 ? number - run.first : 0;
  completions_.push_back({number, at, run.error});
  if (completions_.size() > tuning::most_completions)
    completions_.pop_front();
}

} // namespace pubsub::pattern
