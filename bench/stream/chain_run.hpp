// One run of a relay chain: starts its processes, watches them, collects what they report.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "exit_code.hpp"
#include "kit/rate_meter.hpp"
#include "stop_signal.hpp"
#include "stream/numbered_stream.hpp"

namespace pubsub::tool::bench {

struct chain_settings {
  unsigned relays = 0;
  std::size_t payload_bytes = 100;
  double duration_s = 5;
  unsigned wire_version = 2;
  std::string transport = "tcp"; ///< between the processes: `tcp`, `unix` or `tls`
  std::string input; ///< file of records to send instead of a synthetic payload, or empty
  message_form form = message_form::encoded;
  bool name_processes = false; ///< as lines of progress
};

/// Nanoseconds of processor time for each message.
struct chain_cost {
  double user_ns = 0;
  double system_ns = 0;
};

struct chain_outcome {
  exit_code status = exit_code::ok;
  std::string problem; ///< a sentence where the status is not ok
  std::vector<double> rates;
  double mean_rate = 0; ///< over the whole run
  std::uint64_t payload_bytes = 0;
  sequence_result sequence;
  std::vector<chain_cost> relays; ///< what each relay used, from the publisher to the subscriber
  double cpu_ns = 0;              ///< for each message, of all processes together
};

/// Receives every second's rate, and other lines of progress.
using chain_progress = std::function<void(const std::string& line)>;

/// Runs subscriber, relays and publisher as processes of their own, connected as the
/// settings say, for about `duration_s` seconds. Never blocks for longer than that and a minute.
chain_outcome run_chain(const chain_settings& settings, const stop_signal& stop,
                        const chain_progress& progress);

} // namespace pubsub::tool::bench
