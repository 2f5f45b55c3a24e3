// SPDX-License-Identifier: BSD-3-Clause
#include <deque>
#include <map>

#include <pubsub/pattern/versioned.hpp>

#include "pattern/versioned/handles/group_mailbox.hpp"
#include "pattern/versioned/protocol/client_window.hpp"

namespace pubsub {

namespace pattern {

class group_core final : public group_mailbox<client_window> {
public:
  group_core(const std::shared_ptr<endpoint>& at, std::string_view name,
             const versioned_group_options& options, const endpoint_id& id)
      : group_mailbox(at, name, {topic_of_status(name), topic_of_client(id)}, id, std::string{name},
                      options) {
    begin(*at);
  }
  ~group_core() override { close(); }

  expected<message_version> send_and_wait(std::span<const std::byte> value);
  /// Values one behind the other.
  expected<std::uint64_t> post(std::span<const std::byte> values);
  received<std::vector<versioned_completion>> take_completions(std::chrono::nanoseconds timeout);
  const endpoint_id& id() const noexcept { return protocol_.id(); }

private:
  error why_closed() const;
  error check_size(std::size_t size_bytes) const;
  bool await_room(lock_type& lock);
  void pass_on(lock_type& lock) override;

  std::map<std::uint64_t, std::optional<versioned_completion>> awaited_; // by threads that send
  std::deque<versioned_completion> completions_;
};

/// Called with the mutex held.
error group_core::why_closed() const {
  return protocol_.failure() ? protocol_.failure()
                             : error{errc::shutting_down, "the client of the group is closed"};
}

error group_core::check_size(std::size_t size_bytes) const {
  const auto most = protocol_.options().max_message_bytes;
  if (size_bytes <= most)
    return {};
  return {errc::limit_exceeded, "a message of " + std::to_string(size_bytes) +
                                    " bytes is longer than max_message_bytes, " +
                                    std::to_string(most) + "; it was not sent"};
}

/// Called with the mutex held. False once closed.
bool group_core::await_room(lock_type& lock) {
  if (protocol_.has_room())
    return !closed_;
  protocol_.send_pending(now());
  return wait(lock, {}, [&] { return protocol_.has_room(); });
}

expected<message_version> group_core::send_and_wait(std::span<const std::byte> value) {
  if (auto failed = check_size(value.size()))
    return failed;
  lock_type lock{mutex_};
  if (!await_room(lock))
    return why_closed();
  const auto begun = now();
  const auto number = protocol_.add(value, begun);
  awaited_[number];
  protocol_.send_pending(begun);
  wait(lock, {}, [&] { return awaited_[number].has_value(); });
  const auto became = std::move(awaited_.extract(number).mapped());
  if (!became)
    return why_closed();
  if (became->error)
    return became->error;
  return became->version;
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
    const auto begun = now();
    last = protocol_.add(value, begun);
    protocol_.settle(begun);
  }
  return last;
}

received<std::vector<versioned_completion>>
group_core::take_completions(std::chrono::nanoseconds timeout) {
  lock_type lock{mutex_};
  wait(lock, limit_after(timeout), [&] { return !completions_.empty(); });
  if (completions_.empty())
    return closed_ ? receive_status::closed : receive_status::timeout;
  std::vector<versioned_completion> all{std::make_move_iterator(completions_.begin()),
                                        std::make_move_iterator(completions_.end())};
  completions_.clear();
  return all;
}

/// Sorts what has become of messages: for a thread that sends them, or to be taken.
void group_core::pass_on(lock_type&) {
  const auto reports = protocol_.options().reports;
  for (const auto& run : protocol_.take_finished()) {
    const auto completion_of = [&](std::uint64_t number) {
      auto at = run.at;
      at.number += at.number > 0 ? number - run.first : 0;
      return versioned_completion{number, at, run.error};
    };
    const auto end = run.first + run.count;
    const auto first = awaited_.lower_bound(run.first);
    for (auto each = first; each != awaited_.end() && each->first < end; ++each)
      each->second = completion_of(each->first);
    if (reports == completion_reports::none ||
        (reports == completion_reports::failures && !run.error))
      continue;
    for (auto number = run.first; number < end; ++number)
      if (!awaited_.contains(number))
        completions_.push_back(completion_of(number));
  }
  while (completions_.size() > tuning::most_completions)
    completions_.pop_front();
}

} // namespace pattern

versioned_group::versioned_group(std::shared_ptr<pattern::group_core> core) noexcept
    : core_(std::move(core)) {}

expected<versioned_group> versioned_group::open(const endpoint& at, std::string_view name,
                                                const versioned_group_options& options) {
  if (to_string(options.scheme) == "invalid")
    return error{errc::invalid_argument,
                 "scheme: " + std::to_string(static_cast<unsigned>(options.scheme)) +
                     " is out of range, the enumerators of versioning"};
  if (options.reports > completion_reports::all)
    return error{errc::invalid_argument,
                 "reports: " + std::to_string(static_cast<unsigned>(options.reports)) +
                     " is out of range, the enumerators of completion_reports"};
  if (auto wrong = pattern::check_counts({{"replicas", options.replicas},
                                          {"window_messages", options.window_messages},
                                          {"window_bytes", options.window_bytes},
                                          {"max_message_bytes", options.max_message_bytes}}))
    return wrong;
  if (auto wrong = pattern::check_time("timeout", options.timeout, std::chrono::nanoseconds{1}))
    return wrong;
  auto core =
      std::make_shared<pattern::group_core>(at.share(), name, options, endpoint_id::random());
  if (core->closed())
    return error{errc::shutting_down, "the endpoint is closed"};
  return versioned_group{std::move(core)};
}

versioned_group::versioned_group(versioned_group&&) noexcept = default;
versioned_group& versioned_group::operator=(versioned_group&&) noexcept = default;

versioned_group::~versioned_group() {
  if (core_)
    core_->close();
}

expected<message_version> versioned_group::send(const encodable& value) {
  data_writer room;
  return core_->send_and_wait(pattern::bytes_of(value, room));
}

expected<std::uint64_t> versioned_group::post(const encodable& value) {
  data_writer room;
  return core_->post(pattern::bytes_of(value, room));
}

expected<std::uint64_t> versioned_group::post_batch(std::span<const std::byte> values) {
  return core_->post(values);
}

void versioned_group::send_pending() {
  core_->ask([](auto& x) { x.send_pending(pattern::group_core::now()); });
}

std::size_t versioned_group::drain(std::chrono::nanoseconds timeout) {
  send_pending();
  core_->await(timeout, [](auto& x) { return x.in_flight() == 0; });
  return in_flight();
}

std::vector<versioned_completion> versioned_group::take_completions() {
  auto found = core_->take_completions(std::chrono::nanoseconds{0});
  return found ? std::move(*found) : std::vector<versioned_completion>{};
}

received<std::vector<versioned_completion>>
versioned_group::take_completions_for(std::chrono::nanoseconds timeout) {
  return core_->take_completions(timeout);
}

bool versioned_group::wait_for_replicas(std::size_t n, std::chrono::nanoseconds timeout) const {
  return core_->await(timeout,
                      [&](auto& x) { return x.replicas(pattern::group_core::now()) >= n; });
}

std::size_t versioned_group::replicas() const {
  return core_->ask([](auto& x) { return x.replicas(pattern::group_core::now()); });
}

std::size_t versioned_group::in_flight() const {
  return core_->ask([](auto& x) { return x.in_flight(); });
}

const endpoint_id& versioned_group::id() const noexcept {
  return core_->id();
}

versioned_group_counters versioned_group::counters() const {
  return core_->ask([](auto& x) { return x.counters(); });
}

void versioned_group::close() {
  core_->close();
}

bool versioned_group::closed() const {
  return core_->closed();
}

error versioned_group::failure() const {
  return core_->ask([](auto& x) { return x.failure(); });
}

} // namespace pubsub
