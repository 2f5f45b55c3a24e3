// The thread of a source: reads, publishes, and tells the engine once that was taken.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <pubsub/bridge/source.hpp>
#include <pubsub/pattern/pipeline.hpp>

#include "bridge/engine/engine_reader.hpp"
#include "bridge/mapping/name_template.hpp"
#include "bridge/mapping/payload_reader.hpp"
#include "bridge/mapping/record_source.hpp"

namespace pubsub::bridge {

class source_worker {
public:
  using clock = std::chrono::steady_clock;

  /// As `source::open`.
  static expected<std::shared_ptr<source_worker>> start(const endpoint& at, const engine& from,
                                                        const source_options& options);
  /// Errors: invalid_argument.
  static expected<name_template> parse_publish(std::string_view text);
  source_worker(std::shared_ptr<endpoint> at, std::unique_ptr<engine_reader> reader,
                name_template publish, std::optional<exchange> out, source_options options);
  source_worker(const source_worker&) = delete;
  source_worker& operator=(const source_worker&) = delete;
  ~source_worker();

  bridge_counters counters() const;
  bool wait_end(std::chrono::nanoseconds timeout);
  bool closed() const;
  error failure() const;
  std::string last_problem() const;
  void close();

private:
  // All but `run` are called by it.
  void run();
  bool must_end() const;
  bool out_of_time() const;
  bool pass_on_batch();
  bool pass_on(const fetched_record& record);
  std::optional<publish_result> publish(const std::string& to, std::span<const std::byte> value);
  void reject(const fetched_record& record, rejection why);
  bool keep_pace();
  void commit_if_due();
  bool confirm();
  void show();

  const std::shared_ptr<endpoint> endpoint_;
  std::unique_ptr<engine_reader> reader_;
  const name_template publish_;
  std::optional<exchange> out_;
  const source_options options_;
  payload_reader payloads_;
  std::vector<fetched_record> batch_;
  std::string topic_;
  bridge_counters counts_;
  std::uint64_t handed_over_ = 0; // of those consumed, that were taken and are not confirmed
  std::uint64_t handed_bytes_ = 0;
  std::uint64_t dead_before_ = 0; // tasks, as of the last confirmation
  clock::time_point commit_at_;
  clock::time_point next_at_;
  bool endpoint_closed_ = false;

  std::atomic<bool> closing_{false};
  mutable std::mutex mutex_; // guards the following
  std::condition_variable changed_;
  clock::time_point close_by_ = clock::time_point::max();
  bridge_counters shown_;
  bool ended_ = false;
  error failure_;
  std::string problem_;

  std::once_flag closed_once_;
  std::thread thread_; // last: it uses all of the above
};

} // namespace pubsub::bridge
