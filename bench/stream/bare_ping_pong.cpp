// SPDX-License-Identifier: BSD-3-Clause
#include "stream/bare_ping_pong.hpp"

#include "kit/child_process.hpp"
#include "kit/child_report.hpp"
#include "stream/latency_histogram.hpp"
#include "stream/round_trip.hpp"

namespace pubsub::tool::bench {

namespace {

constexpr std::chrono::seconds answer_limit{10};

} // namespace

double bare_ping_pong::p50_us(std::size_t payload_bytes, double seconds) {
  child_process echo{"echo", {"latency-part", "bare"}};
  const auto port = wait_for_report(echo, "port", stop_, deadline_after(answer_limit.count()));
  if (port.what != child_report::kind::line)
    return 0;
  const auto trip = make_bare_trip(static_cast<std::uint16_t>(std::stoi(port.rest)), payload_bytes,
                                   waiting::asleep);
  for (int i = 0; i < 100; ++i) // connections and caches get warm
    trip->exchange(answer_limit);
  latency_histogram times;
  for (const auto end = deadline_after(seconds); left_until(end).count() > 0;) {
    const auto begin = clock::now();
    if (!trip->exchange(answer_limit))
      return 0;
    times.record(static_cast<std::uint64_t>((clock::now() - begin).count()));
  }
  return static_cast<double>(times.percentile(0.5)) / 1e3;
}

} // namespace pubsub::tool::bench
