// What a process of a pipeline stands on.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pubsub/endpoint.hpp>

#include "connection.hpp"
#include "stop_signal.hpp"

namespace pubsub::tool {

/// An endpoint that listens and is linked as asked for, and is closed on Ctrl-C. What it listens on
/// is reported on stdout, `port N`, for whoever started this process.
class station {
public:
  explicit station(const connection_options& connection);

  endpoint& ep() noexcept { return ep_; }
  /// Whether listening and linking went well; it has complained where not.
  exit_code outcome() const noexcept { return outcome_; }
  bool stopped() const { return stop_.requested(); }
  /// Instead of working: waits for so long. False if stopped before.
  bool pause(std::chrono::duration<double> time) const {
    return wait_readable(-1, stop_, deadline_after(time.count())) != wake::stopped;
  }

private:
  stop_signal stop_;
  endpoint ep_;
  close_on_stop closer_;
  exit_code outcome_ = exit_code::ok;
};

} // namespace pubsub::tool
