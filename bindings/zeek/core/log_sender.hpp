// Batches of log records on their way out.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <pubsub/data_writer.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/pattern/pipeline.hpp>

#include "formatted_bytes.hpp"
#include "logger_pool.hpp"
#include "member_counters.hpp"
#include "member_options.hpp"
#include "record_feed.hpp"

namespace pubsub::zeek::backend {

/// The name of the queues that loggers of a pipeline have.
inline constexpr std::string_view log_pipeline = "zeek-log";

/// Sends what no logger takes as soon as one does. Until then it waits in a backlog of bounded
/// size: at the start no logger is known yet. Never blocks. Not thread-safe.
class log_sender {
public:
  /// Errors: those of `exchange::open`.
  static expected<log_sender> make(endpoint& at, value_sender send, const member_options& options);

  /// The loggers that it sends to, where it picks them itself.
  logger_pool& pool() noexcept { return pool_; }
  /// Takes a batch. False if something of it is lost.
  bool publish(const formatted_bytes& batch);
  /// Sends what waits, in order, as far as there is room.
  void send_waiting();
  bool is_waiting() const noexcept { return !backlog_.empty(); }
  /// Waits until loggers have taken everything, and acknowledged it where they do so. Returns the
  /// number of batches that are not through at `timeout`.
  std::size_t drain(std::chrono::nanoseconds timeout);

  log_counters counters() const;

private:
  log_sender(endpoint& at, value_sender send, const member_options& options,
             std::optional<exchange> out)
      : out_(std::move(out)), pool_(at, options.link.policy),
        records_(std::move(send), options.record_prefix),
        as_records_(options.logs == log_transport::records),
        max_backlog_bytes_(options.log_backlog_bytes) {}

  bool publish_records(const formatted_bytes& batch);
  bool try_send(std::span<const std::byte> value);

  std::optional<exchange> out_; // of a pipeline
  logger_pool pool_;
  record_feed records_;
  bool as_records_;
  std::size_t max_backlog_bytes_;
  std::deque<std::vector<std::byte>> backlog_; // encoded values
  std::size_t backlog_bytes_ = 0;
  data_writer value_;
  log_counters counters_;
};

} // namespace pubsub::zeek::backend
