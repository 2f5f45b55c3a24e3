// Records of the network, sent to loggers of a cluster.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/cluster/zeromq_member.hpp>
#include <pubsub/cluster/zeromq_options.hpp>
#include <pubsub/data_message.hpp>
#include <pubsub/zeek/event.hpp>
#include <pubsub/zeek/log_batch.hpp>

#include "cluster/shared_counters.hpp"

#include <zmq.hpp>

namespace pubsub::cluster {

/// Collects records on `zeek/records/<path>` into batches as Zeek's nodes do: of a thousand
/// records, or what has come in a second. Not thread-safe.
class log_sender {
public:
  using clock = std::chrono::steady_clock;

  log_sender(const zeromq_options& options, shared_counters<zeromq_counters>& counts)
      : options_(options), counts_(counts) {}

  /// A record, or the columns of a log.
  void take(const data_message& message, clock::time_point now);
  /// Whether more records can be taken: few batches wait.
  bool has_room() const noexcept { return ready_.size() < max_ready; }
  /// Ends batches that are a second old.
  void end_old_batches(clock::time_point now);
  void end_all_batches();
  /// Whether there are batches that `send` would send.
  bool is_ready() const noexcept { return !ready_.empty(); }
  /// Sends what is ready and finds room, as `sender`.
  void send(zmq::socket_t& to, std::string_view sender);
  /// Records that were not sent.
  std::size_t waiting() const noexcept;

private:
  struct log {
    zeek::log_batch batch;
    clock::time_point begun{};
  };
  struct encoded_batch {
    std::vector<std::byte> bytes;
    std::size_t records = 0;
  };
  static constexpr std::size_t max_ready = 10;
  /// Publishers shall not make this side hold more names, or records, than this.
  static constexpr std::size_t max_logs = 10'000;
  static constexpr std::size_t max_open_records = 20'000;

  void set_columns(std::string_view path, const data_view& fields);
  void add_record(std::string_view path, const data_view& values, clock::time_point now);
  void end(zeek::log_batch& batch);
  std::string stream_of(const std::string& path) const;

  const zeromq_options& options_;
  shared_counters<zeromq_counters>& counts_;
  std::map<std::string, log, std::less<>> logs_; // by path
  std::size_t open_records_ = 0;                 // in all of them
  std::deque<encoded_batch> ready_;
};

} // namespace pubsub::cluster
