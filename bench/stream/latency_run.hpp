// Round trips at a pace, and what a series of such runs amounts to.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "json_object.hpp"
#include "kit/rate_meter.hpp"
#include "stop_signal.hpp"
#include "stream/latency_histogram.hpp"
#include "stream/round_trip.hpp"

namespace pubsub::tool::bench {

struct pace {
  /// Messages a second; 0 sends the next one as soon as the last was answered.
  double rate_per_s = 0;
  std::chrono::nanoseconds duration{0};
  std::chrono::nanoseconds timeout{0};
};

/// Round trips of one transport at one rate, over several runs.
struct latency_series {
  latency_histogram all;       ///< nanoseconds
  std::vector<double> p50;     ///< nanoseconds, one a run
  std::vector<double> p99;     ///< nanoseconds, one a run
  std::vector<double> rates;   ///< round trips a second, one a run
  std::uint64_t scheduled = 0; ///< messages the pace asked for; 0 without a pace
  sequence_result sequence;

  void add(const latency_histogram& run, double seconds);
};

/// Exchanges messages for `how.duration` and adds the run to `into`. With a rate, the time of a
/// message counts from the moment it was to be sent: what waits because an answer was late is late
/// itself (corrected for coordinated omission). A pace that cannot be kept gets as much time again,
/// at least a second, and is then given up. False if an answer did not come in time; a stop
/// ends the run early. `tick` is called after each answer.
bool run_round_trips(round_trip& trip, const pace& how, const stop_signal& stop,
                     latency_series& into, const std::function<void(clock::time_point)>& tick);

/// `{"p50":...,"p90":...,"p99":...,"p99_9":...,"p99_99":...,"min":...,"max":...}`.
json_object describe_percentiles(const latency_histogram& x);

} // namespace pubsub::tool::bench
