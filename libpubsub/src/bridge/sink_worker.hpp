// The thread of a sink: takes, maps, writes, and settles what the engine has confirmed.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <pubsub/bridge/sink.hpp>

#include "bridge/engine/engine_writer.hpp"
#include "bridge/mapping/message_mapper.hpp"
#include "bridge/sink_input.hpp"
#include "bridge/sink_ledger.hpp"
#include "bridge/wake_up.hpp"

namespace pubsub::bridge {

class sink_worker {
public:
  using clock = std::chrono::steady_clock;

  /// As `sink::open`.
  static expected<std::shared_ptr<sink_worker>> start(const endpoint& at, const engine& to,
                                                      const sink_options& options);
  sink_worker(std::shared_ptr<endpoint> at, std::unique_ptr<engine_writer> writer,
              message_mapper mapper, sink_input input, const sink_options& options);
  sink_worker(const sink_worker&) = delete;
  sink_worker& operator=(const sink_worker&) = delete;
  ~sink_worker();

  bool wait_ready(std::chrono::nanoseconds timeout) { return input_.wait_ready(timeout); }
  bridge_counters counters() const { return ledger_.counters(); }
  std::size_t drain(std::chrono::nanoseconds timeout);
  bool closed() const;
  error failure() const;
  std::string last_problem() const;
  void close();

private:
  // All but `run` are called by it.
  void run();
  bool take();
  void map(std::uint64_t number);
  void give_up(std::uint64_t number, rejection why);
  bool has_waiting() const noexcept { return written_ < waiting_.size(); }
  void write_waiting();
  void settle();
  bool has_ended();
  void show();
  void wait();
  std::size_t left_below(std::uint64_t target) const;

  const std::shared_ptr<endpoint> endpoint_;
  const std::chrono::nanoseconds close_timeout_;
  const bool has_dead_letters_;
  sink_input input_;
  sink_ledger ledger_;
  std::unique_ptr<engine_writer> writer_; // goes before the ledger, whose values it may be sending
  message_mapper mapper_;
  std::vector<input_item> items_;
  std::vector<engine_record> waiting_; // for room at the engine
  std::size_t written_ = 0;            // so many of those are with it
  bool input_ended_ = false;
  wake_up wake_;

  std::atomic<bool> closing_{false};
  std::atomic<bool> hurried_{false};
  mutable std::mutex mutex_; // guards the following
  std::condition_variable changed_;
  clock::time_point close_by_ = clock::time_point::max();
  std::uint64_t drain_marks_wanted_ = 0; // calls of `drain`
  std::uint64_t drain_marks_set_ = 0;    // of those, whose target is known
  std::uint64_t drain_target_ = 0;       // number below which all has to be settled
  bool ended_ = false;
  error failure_;
  std::string problem_;

  std::once_flag closed_once_;
  std::thread thread_; // last: it uses all of the above
};

} // namespace pubsub::bridge
