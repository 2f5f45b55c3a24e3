#include "pattern/remote/remote_plan.hpp"

#include <algorithm>
#include <limits>

#include "pattern/remote/tuning.hpp"

namespace pubsub::pattern {

namespace {

constexpr auto no_limit = std::numeric_limits<std::size_t>::max();
double transfer(double bytes, double bytes_per_s) noexcept {
  return bytes_per_s > 0 ? bytes / bytes_per_s : 0;
}

std::size_t clamped(std::size_t x) noexcept {
  return std::max<std::size_t>(x, 1);
}

} // namespace

request_plan bulk_plan() noexcept {
  return {remote_mode::bulk, no_limit, no_limit, 1, true};
}

request_plan fixed_plan(const remote_options& options) noexcept {
  switch (options.mode) {
  case remote_mode::sync:
    return {remote_mode::sync, 1, 1, 0, true};
  case remote_mode::bulk:
    return bulk_plan();
  case remote_mode::async:
    return {remote_mode::async, 1, clamped(options.parallel), 0, false};
  case remote_mode::hybrid:
    return {remote_mode::hybrid, clamped(options.bulk_operations),
            clamped(options.window_operations), 0, true};
  case remote_mode::pipeline:
  case remote_mode::auto_:
    break;
  }
  return {remote_mode::pipeline,
          1,
          clamped(options.window_operations),
          0,
          options.mode == remote_mode::pipeline,
          tuning::requests_in_a_message};
}

double predicted_seconds(const remote_conditions& at, const service_size& servers,
                         const request_plan& plan, std::size_t n) noexcept {
  if (n == 0)
    return 0;
  const auto instances = static_cast<double>(clamped(servers.instances));
  const auto workers = static_cast<double>(clamped(servers.workers));
  const auto all = static_cast<double>(n);
  const auto bulk = std::min(static_cast<double>(plan.bulk_operations),
                             plan.mode == remote_mode::bulk ? all / instances : all);
  const auto requests = all / bulk;
  const double call = tuning::seconds_of_a_request + bulk * seconds(at.call);
  const double send = transfer(bulk * at.argument_bytes, at.request_bytes_per_s);
  const double execute = tuning::seconds_of_a_request + bulk * seconds(at.operation);
  const double receive = transfer(bulk * at.result_bytes, at.reply_bytes_per_s);
  const double round = seconds(at.latency) + call + send + execute + receive;
  const double window = std::max(1.0, static_cast<double>(plan.window_operations) / bulk);
  const double servers_at_work = std::min({window, requests, workers});
  const double waits = requests > window ? round / window : 0; // for replies
  const double step = std::max({call, send, execute / servers_at_work, receive, waits});
  return round + std::max(0.0, requests - 1) * step;
}

namespace {

/// Enough to keep everybody busy for some time, and to cover the latency several times; not more,
/// so that instances which are slower get less, and results do not pile up on their way. All, until
/// something is known.
std::size_t best_window(const remote_conditions& at, const service_size& servers,
                        const remote_options& options) noexcept {
  auto window = static_cast<double>(clamped(options.max_unfinished));
  const auto round_trips = 4 * seconds(at.latency);
  if (at.operation.count() > 0)
    window =
        std::min(window, std::max(tuning::shortest_horizon_s, round_trips) / seconds(at.operation) *
                             static_cast<double>(clamped(servers.workers)));
  if (at.result_bytes > 0)
    window = std::min(window,
                      std::max({tuning::bytes_in_flight / at.result_bytes, tuning::least_in_flight,
                                round_trips * at.reply_bytes_per_s / at.result_bytes}));
  const auto least = std::min(2 * clamped(servers.workers), clamped(options.max_unfinished));
  return std::max(static_cast<std::size_t>(window), least);
}

double bytes_of_a_bulk(const remote_conditions& at) noexcept {
  if (at.request_bytes_per_s <= 0)
    return tuning::most_bytes_of_a_bulk;
  return std::clamp(tuning::time_of_a_bulk_s * at.request_bytes_per_s,
                    tuning::least_bytes_of_a_bulk, tuning::most_bytes_of_a_bulk);
}

/// A request of more would keep the server waiting for its end, or one instance busy for too long.
std::size_t largest_bulk(const remote_conditions& at, const service_size& servers, std::size_t n,
                         std::size_t window) noexcept {
  auto most = n / clamped(servers.instances);
  if (window < n)
    most = std::min(most, window / 4); // so that the next is there when one is done
  if (at.argument_bytes > 0)
    most = std::min(most, static_cast<std::size_t>(bytes_of_a_bulk(at) / at.argument_bytes));
  if (servers.instances > 1 && at.operation.count() > 0)
    most = std::min(
        most, static_cast<std::size_t>(tuning::shortest_horizon_s / 2 / seconds(at.operation)));
  return clamped(most);
}

} // namespace

/// How long bytes take does not depend on how they are divided, but for those of the first request,
/// which are bounded, since replies come while a request is being done.
request_plan best_plan(const remote_conditions& measured, const service_size& servers,
                       std::size_t n, const remote_options& options) noexcept {
  const auto window = best_window(measured, servers, options);
  const auto largest = largest_bulk(measured, servers, n, window);
  auto at = measured;
  at.request_bytes_per_s = at.reply_bytes_per_s = 0;
  request_plan best;
  double least = std::numeric_limits<double>::infinity();
  const auto try_bulk = [&](std::size_t bulk) {
    const auto mode = bulk == 1  ? remote_mode::pipeline
                      : bulk < n ? remote_mode::hybrid
                                 : remote_mode::bulk;
    const request_plan plan{mode, bulk, window, 0, false};
    const auto takes = predicted_seconds(at, servers, plan, n);
    if (takes < least) {
      least = takes;
      best = plan;
    }
  };
  for (std::size_t bulk = 1; bulk < largest; bulk *= 2)
    try_bulk(bulk);
  try_bulk(largest);
  return best;
}

/// They carry more where the link does less than copying does; small results share packets.
bool gains_by_connections(const remote_conditions& at) noexcept {
  const auto rate = at.reply_bytes_per_s;
  return rate > 0 && rate < tuning::copied_bytes_per_s &&
         at.result_bytes > std::max(tuning::packet_bytes, tuning::long_transfer_s * rate);
}

} // namespace pubsub::pattern
