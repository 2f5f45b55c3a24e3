// Batches of log records that come to a logger.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include <pubsub/endpoint.hpp>
#include <pubsub/pattern/pipeline.hpp>

#include "formatted_bytes.hpp"
#include "member_options.hpp"

namespace pubsub::zeek::backend {

/// Holds back the nodes that send while Zeek does not keep up. Not thread-safe.
class log_inbox {
public:
  /// Errors: those of `task_queue::open`.
  static expected<log_inbox> make(endpoint& at, const member_options& options);

  using clock = std::chrono::steady_clock;

  int fd() const;
  /// Hands over at most `max` batches; those of a pipeline are acknowledged some time later,
  /// whether Zeek could write them or not: another logger could not either.
  void process(std::size_t max, const std::function<void(const formatted_bytes&)>& write);

  /// Acknowledges what was handed over long enough ago.
  void acknowledge(clock::time_point now);
  /// When to call that next.
  std::optional<clock::time_point> deadline() const;
  /// Acknowledges everything: it is written.
  void finish() { acknowledge(clock::time_point::max()); }

  std::uint64_t received() const noexcept { return received_; }
  std::uint64_t malformed() const noexcept { return malformed_; }

private:
  struct unacknowledged {
    clock::time_point due;
    std::vector<task> tasks;
  };

  template <class Source>
  log_inbox(Source in, std::chrono::nanoseconds ack_delay)
      : in_(std::move(in)), ack_delay_(ack_delay) {}
  void hand_over(const data_view& value, const std::function<void(const formatted_bytes&)>& write);

  std::variant<subscriber, task_queue> in_;
  std::chrono::nanoseconds ack_delay_;
  std::deque<unacknowledged> unacknowledged_;
  std::vector<data_message> batch_;
  std::uint64_t received_ = 0;
  std::uint64_t malformed_ = 0;
};

} // namespace pubsub::zeek::backend
