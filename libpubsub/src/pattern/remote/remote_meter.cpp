#include "pattern/remote/remote_meter.hpp"

#include <algorithm>

#include "pattern/remote/tuning.hpp"

namespace pubsub::pattern {

void measure(const sent_request& request, const received_reply& reply, remote_conditions& of) {
  using std::chrono::nanoseconds;
  if (reply.operations == 0 || request.operations == 0)
    return;
  const auto n = static_cast<double>(reply.operations);
  // Many operations count as several samples.
  const auto share = std::min(1.0, tuning::weight_of_a_sample * std::min(n, 5.0));
  const auto blend = [share](double old, double more) {
    return old == 0 ? more : old + share * (more - old);
  };
  const auto blend_time = [&](nanoseconds old, double more_ns) {
    return nanoseconds{static_cast<std::int64_t>(blend(static_cast<double>(old.count()), more_ns))};
  };
  of.operation = blend_time(of.operation, static_cast<double>(reply.busy.count()) / n);
  of.argument_bytes = blend(of.argument_bytes, static_cast<double>(request.size_bytes) /
                                                   static_cast<double>(request.operations));
  of.result_bytes = blend(of.result_bytes, static_cast<double>(reply.size_bytes) / n);
  const nanoseconds trip = reply.at - request.at - reply.here;
  const bool is_short = request.size_bytes + reply.size_bytes < tuning::long_message_bytes;
  if (trip > nanoseconds{0} && (trip < of.latency || of.latency == nanoseconds{0}))
    of.latency = trip;
  else if (trip > nanoseconds{0} && is_short && reply.prompt)
    of.latency = blend_time(of.latency, static_cast<double>(trip.count()));
}

} // namespace pubsub::pattern
