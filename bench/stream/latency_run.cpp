// SPDX-License-Identifier: BSD-3-Clause
#include "stream/latency_run.hpp"

#include <algorithm>

namespace pubsub::tool::bench {

namespace {

// What was due is sent although it is late: leaving it out would hide the worst times.
constexpr std::chrono::seconds answer_patience{1};

// A sleeping thread wakes late by up to a tenth of a millisecond: the last part is spent awake.
// False if a stop comes first.
bool wait_until(clock::time_point moment, const stop_signal& stop) {
  constexpr std::chrono::microseconds awake{200};
  if (moment - clock::now() > awake && wait_readable(-1, stop, moment - awake) == wake::stopped)
    return false;
  while (clock::now() < moment) {
  }
  return true;
}

} // namespace

void latency_series::add(const latency_histogram& run, double seconds) {
  all += run;
  p50.push_back(static_cast<double>(run.percentile(0.5)));
  p99.push_back(static_cast<double>(run.percentile(0.99)));
  rates.push_back(static_cast<double>(run.count()) / seconds);
}

bool run_round_trips(round_trip& trip, const pace& how, const stop_signal& stop,
                     latency_series& into, const std::function<void(clock::time_point)>& tick) {
  latency_histogram run;
  auto begin = clock::now();
  auto end = begin + how.duration;
  bool paced = how.rate_per_s > 0;
  auto give_up = paced ? end + std::max<clock::duration>(how.duration, answer_patience) : end;
  auto now = begin;
  bool answered = true;
  for (std::uint64_t i = 0; answered; ++i) {
    auto scheduled = now;
    if (paced) {
      auto offset = std::chrono::duration<double>{static_cast<double>(i) / how.rate_per_s};
      scheduled = begin + std::chrono::duration_cast<clock::duration>(offset);
    }
    if (scheduled >= end || now >= give_up || (i % 64 == 0 && stop.requested()))
      break;
    if (paced && !wait_until(scheduled, stop))
      break;
    answered = trip.exchange(how.timeout);
    now = clock::now();
    if (answered)
      run.record(static_cast<std::uint64_t>((now - scheduled).count()));
    tick(now);
  }
  if (paced)
    into.scheduled += static_cast<std::uint64_t>(
        how.rate_per_s * std::chrono::duration<double>(how.duration).count());
  if (run.count() > 0)
    into.add(run, std::chrono::duration<double>(now - begin).count());
  return answered;
}

json_object describe_percentiles(const latency_histogram& x) {
  json_object result;
  result.add("p50", x.percentile(0.5))
      .add("p90", x.percentile(0.9))
      .add("p99", x.percentile(0.99))
      .add("p99_9", x.percentile(0.999))
      .add("p99_99", x.percentile(0.9999))
      .add("min", x.min())
      .add("max", x.max());
  return result;
}

} // namespace pubsub::tool::bench
