// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/remote/remote_plan.hpp"

#include <algorithm>
#include <limits>

#include "pattern/remote/tuning.hpp"

namespace pubsub::pattern {

namespace {

double seconds(std::chrono::nanoseconds x) noexcept {
  return std::chrono::duration<double>(x).count();
}

/// Enough to keep all workers busy for some time, and to cover the latency several times; not more,
/// so that instances which are slower get less, and results do not pile up on the links. All, until
/// something is known.
std::size_t best_window(const remote_conditions& at, const service_size& servers,
                        std::size_t max_unfinished) noexcept {
  auto window = static_cast<double>(max_unfinished);
  const auto workers = std::max<std::size_t>(servers.workers, 1);
  if (at.operation.count() > 0)
    window = std::min(window, std::max(tuning::shortest_horizon_s, 4 * seconds(at.latency)) /
                                  seconds(at.operation) * static_cast<double>(workers));
  if (at.result_bytes > 0)
    window = std::min(window,
                      std::max(tuning::bytes_in_flight / at.result_bytes, tuning::least_in_flight));
  return std::max(static_cast<std::size_t>(window), std::min(2 * workers, max_unfinished));
}

/// A request of more would keep the server waiting for its end, or one instance busy for too long.
std::size_t largest_bulk(const remote_conditions& at, const service_size& servers, std::size_t n,
                         std::size_t window) noexcept {
  auto most = n / std::max<std::size_t>(servers.instances, 1);
  if (window < n)
    most = std::min(most, window / 4); // so that the next is there when one is done
  if (at.argument_bytes > 0)
    most =
        std::min(most, static_cast<std::size_t>(tuning::most_bytes_of_a_bulk / at.argument_bytes));
  if (servers.instances > 1 && at.operation.count() > 0)
    most = std::min(
        most, static_cast<std::size_t>(tuning::shortest_horizon_s / 2 / seconds(at.operation)));
  return std::max<std::size_t>(most, 1);
}

} // namespace

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

request_plan bulk_plan() noexcept {
  constexpr auto no_limit = std::numeric_limits<std::size_t>::max();
  return {{remote_mode::bulk, no_limit, no_limit}, true};
}

request_plan fixed_plan(const remote_options& options) noexcept {
  switch (options.mode) {
  case remote_mode::sync:
    return {};
  case remote_mode::bulk:
    return bulk_plan();
  case remote_mode::async:
    return {{remote_mode::async, 1, options.parallel}, false, false};
  case remote_mode::hybrid:
    return {{remote_mode::hybrid, options.bulk_operations, options.window_operations}};
  case remote_mode::pipeline:
  case remote_mode::auto_:
    break;
  }
  return {{remote_mode::pipeline, 1, options.window_operations},
          false,
          options.mode == remote_mode::pipeline,
          tuning::requests_in_a_message};
}

double predicted_seconds(const remote_conditions& at, const service_size& servers,
                         const remote_plan& plan, std::size_t n) noexcept {
  if (n == 0)
    return 0;
  const auto bulk = static_cast<double>(std::min(plan.bulk_operations, n));
  const auto requests = static_cast<double>(n) / bulk;
  const double call = tuning::seconds_of_a_request + bulk * tuning::seconds_of_a_call;
  const double execute = tuning::seconds_of_a_request + bulk * seconds(at.operation);
  const double round = seconds(at.latency) + call + execute;
  const double window = std::max(1.0, static_cast<double>(plan.window_operations) / bulk);
  const double servers_at_work =
      std::min({window, requests, static_cast<double>(std::max<std::size_t>(servers.workers, 1))});
  const double waits = requests > window ? round / window : 0; // for replies
  const double step = std::max({call, execute / servers_at_work, waits});
  return round + std::max(0.0, requests - 1) * step;
}

request_plan best_plan(const remote_conditions& at, const service_size& servers, std::size_t n,
                       const remote_options& options) noexcept {
  const auto window = best_window(at, servers, options.max_unfinished);
  const auto largest = largest_bulk(at, servers, n, window);
  request_plan best{{remote_mode::pipeline, 1, window}, false, false};
  auto least = predicted_seconds(at, servers, best, n);
  for (std::size_t bulk = 2; bulk / 2 < largest; bulk *= 2) {
    remote_plan plan = best;
    plan.bulk_operations = std::min(bulk, largest);
    const auto takes = predicted_seconds(at, servers, plan, n);
    if (takes >= least)
      continue;
    least = takes;
    best.bulk_operations = plan.bulk_operations;
    best.mode = plan.bulk_operations < n ? remote_mode::hybrid : remote_mode::bulk;
  }
  return best;
}

} // namespace pubsub::pattern
