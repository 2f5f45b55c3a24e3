// SPDX-License-Identifier: BSD-3-Clause
#include "log_inbox.hpp"

#include <utility>

#include "log_sender.hpp"
#include "logger_pool.hpp"

namespace pubsub::zeek::backend {

namespace {

constexpr std::chrono::nanoseconds at_once{0};

} // namespace

expected<log_inbox> log_inbox::make(endpoint& at, const member_options& options) {
  if (options.logs == log_transport::pipeline) {
    task_queue_options how;
    how.credit_tasks = 1'000; // each may be of a thousand records
    auto in = task_queue::open(at, log_pipeline, how);
    if (!in)
      return in.error();
    return log_inbox{std::move(*in), options.log_ack_delay};
  }
  auto in = at.make_subscriber({logger_pool::topic_of(at.id())},
                               {.policy = overflow_policy::block, .capacity_messages = 1'000});
  return log_inbox{std::move(in), options.log_ack_delay};
}

int log_inbox::fd() const {
  return std::visit([](const auto& in) { return in.fd(); }, in_);
}

void log_inbox::process(std::size_t max, const std::function<void(const formatted_bytes&)>& write) {
  if (auto* in = std::get_if<subscriber>(&in_)) {
    batch_.clear();
    if (in->get_batch_for(batch_, max, at_once) == receive_status::received)
      for (const auto& each : batch_)
        hand_over(get_view(each), write);
    batch_.clear(); // which makes room
    return;
  }
  auto tasks = std::get<task_queue>(in_).get_batch_for(max, at_once);
  if (!tasks)
    return;
  for (const auto& each : *tasks)
    hand_over(each.value(), write);
  unacknowledged_.push_back({clock::now() + ack_delay_, std::move(*tasks)});
}

void log_inbox::acknowledge(clock::time_point now) {
  for (; !unacknowledged_.empty() && unacknowledged_.front().due <= now;
       unacknowledged_.pop_front())
    task::done(std::move(unacknowledged_.front().tasks));
}

std::optional<log_inbox::clock::time_point> log_inbox::deadline() const {
  if (unacknowledged_.empty())
    return std::nullopt;
  return unacknowledged_.front().due;
}

void log_inbox::hand_over(const data_view& value,
                          const std::function<void(const formatted_bytes&)>& write) {
  const auto batch = read_formatted(value);
  ++(batch ? received_ : malformed_);
  if (batch)
    write(*batch);
}

} // namespace pubsub::zeek::backend
