// SPDX-License-Identifier: BSD-3-Clause
#include "log_sender.hpp"

#include <thread>
#include <utility>

namespace pubsub::zeek::backend {

namespace {

/// Batches that loggers have and did not acknowledge: each may be of a thousand records.
constexpr std::size_t max_unacknowledged = 4'000;

} // namespace

expected<log_sender> log_sender::make(endpoint& at, value_sender send,
                                      const member_options& options) {
  if (options.logs != log_transport::pipeline)
    return log_sender{at, std::move(send), options, std::nullopt};
  exchange_options how;
  how.window_tasks = max_unacknowledged;
  how.max_losses = 1'000'000; // there is no queue for dead letters
  auto out = exchange::open(at, "", how);
  if (!out)
    return out.error();
  out->bind(log_pipeline);
  return log_sender{at, std::move(send), options, std::move(*out)};
}

bool log_sender::publish(const formatted_bytes& batch) {
  if (as_records_)
    return publish_records(batch);
  value_.clear();
  write(value_, batch);
  send_waiting();
  if (backlog_.empty() && try_send(value_.bytes())) {
    ++counters_.taken;
    return true;
  }
  if (backlog_bytes_ + value_.size_bytes() > max_backlog_bytes_) {
    ++counters_.dropped;
    return false;
  }
  backlog_bytes_ += value_.size_bytes();
  backlog_.push_back(value_.take());
  return true;
}

bool log_sender::publish_records(const formatted_bytes& batch) {
  const auto sent =
      batch.format == record_format
          ? records_.publish(batch.bytes)
          : expected<published_records>{error{errc::invalid_argument, "not a batch of records"}};
  if (!sent) {
    ++counters_.dropped;
    return false;
  }
  counters_.taken += sent->taken;
  counters_.dropped += sent->dropped;
  return sent->dropped == 0;
}

void log_sender::send_waiting() {
  while (!backlog_.empty() && try_send(backlog_.front())) {
    ++counters_.taken;
    backlog_bytes_ -= backlog_.front().size();
    backlog_.pop_front();
  }
}

bool log_sender::try_send(std::span<const std::byte> value) {
  if (!out_)
    return pool_.try_send(value);
  return out_->queues() > 0 && out_->send_for(value, std::chrono::nanoseconds{0}).has_value();
}

std::size_t log_sender::drain(std::chrono::nanoseconds timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  send_waiting();
  while (!backlog_.empty() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1}); // links do not tell of room
    send_waiting();
  }
  const auto left = std::max<std::chrono::nanoseconds>(until - std::chrono::steady_clock::now(),
                                                       std::chrono::nanoseconds{0});
  return backlog_.size() + (out_ ? out_->drain(left) : 0);
}

log_counters log_sender::counters() const {
  auto result = counters_;
  result.waiting = backlog_.size();
  return result;
}

} // namespace pubsub::zeek::backend
