// A thread that reads one subscription, at a speed that can be set, and keeps its history.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include <pubsub/endpoint.hpp>

#include "command.hpp"
#include "history.hpp"
#include "planted.hpp"

namespace faults {

class consuming {
public:
  /// Reads at most `per_second` messages a second; 0: as fast as they come.
  consuming(pubsub::endpoint& node, const pubsub::filter& topics,
            const pubsub::queue_options& options, std::uint64_t per_second, planted fault);
  ~consuming() { close(); }

  /// Ends the subscription and waits for the thread; the history stays. Idempotent.
  void close();
  bool wait_ready(std::chrono::nanoseconds timeout) { return in_.wait_ready(timeout); }
  /// The history, and beside it what the library has counted.
  json_object report() const;

private:
  void run();
  void write_down(const pubsub::data_message& msg);

  pubsub::subscriber in_;
  const std::uint64_t per_second_;
  const planted fault_;
  mutable std::mutex mutex_; // guards history_
  history history_;
  std::uint64_t taken_ = 0;
  pubsub::data_message late_;
  std::thread thread_;
};

} // namespace faults
