// Runs the parts of one measurement, as threads or as processes, and prints what came of it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string_view>

#include "support/run_options.hpp"
#include "support/run_state.hpp"

namespace bench {

/// The parts of a run. Each gets the run's state; a failure is an exception.
struct roles {
  std::function<void(run_state&)> subscribe;
  /// `stage` counts from the subscriber: the last relay is 1, the next stage is `stage - 1`.
  std::function<void(run_state&, unsigned stage)> relay;
  std::function<void(run_state&)> publish;
};

/// Runs subscriber and publisher as threads, or all roles as processes, as the options say. Relays
/// start with the one next to the subscriber. Prints one line of JSON,
/// `{"peer":...,"version":...,"msgs_per_s":...,"published":...,"delivered":...,"lost":...,
/// "disordered":...,"cpu_ns":...}`, the last being processor time of all processes for a message
/// that was delivered; a pipeline adds `"in_flight_max":...,"sink_bytes":...,"worker_bytes":[...],
/// "ventilator_bytes":...`. Returns the exit status: 0, 3 if a message was lost or out of order, 2
/// after a failure. A run that hangs is ended by SIGALRM.
int run(std::string_view peer, std::string_view version, const run_options& options,
        const roles& parts);

/// Prints that the peer cannot be measured and why, `{"peer":...,"unavailable":"..."}`; returns the
/// exit status, 0.
int report_unavailable(std::string_view peer, std::string_view reason);

} // namespace bench
