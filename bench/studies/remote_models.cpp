// SPDX-License-Identifier: BSD-3-Clause
#include "studies/remote_models.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pubsub::tool::bench {

namespace {

constexpr double piece_bytes = 256 * 1024; // of a reply, as a service sends it
constexpr double piece_s = 100e-6;         // of work, and then it leaves
constexpr std::size_t few = 1'000;         // operations
constexpr std::size_t many = 6'000;
constexpr double surely = 1.1; // more than the rest explains

std::size_t index_of(operation_kind x) noexcept {
  return static_cast<std::size_t>(x);
}

/// Requests of `shape`, one after the other, and their replies.
double windowed(const remote_parameters& at, const remote_shape& shape, const remote_work& what) {
  const auto n = static_cast<double>(what.operations);
  const auto bulk = std::min(static_cast<double>(shape.bulk), n);
  const auto requests = n / bulk;
  const auto kind = index_of(what.operation);
  const auto result = static_cast<double>(result_bytes(what));
  const double operation = at.operation_s[kind] + result * at.operation_byte_s[kind] +
                           std::chrono::duration<double>{what.work}.count();
  const double send =
      (at.up_header_bytes + bulk * static_cast<double>(argument_bytes(what))) / at.up_bytes_per_s;
  const double execute = at.request_s + bulk * operation;
  const double receive = (at.down_header_bytes + bulk * result) / at.down_bytes_per_s;
  const double pieces = std::clamp(
      std::floor(std::max(bulk * result / piece_bytes, bulk * operation / piece_s)), 1.0, bulk);
  const double answer = (execute + receive + (pieces - 1) * std::max(execute, receive)) / pieces;
  const double once = at.latency_s + send + answer;
  const double step = std::max({send, execute, receive});
  const auto under_way = std::max(1.0, static_cast<double>(shape.window) / bulk);
  const auto others = requests - 1;
  if (requests <= under_way) // none waits for a reply
    return once + std::max(0.0, others) * step;
  const double refill = std::max({send, at.refill_s + bulk * operation, receive, once / under_way});
  return once + (under_way - 1) * step + (requests - under_way) * refill;
}

/// What one operation more takes, and its bytes.
remote_sample slope(const remote_measure& measure, remote_mode mode, remote_work what,
                    std::size_t less, std::size_t more) {
  what.operations = less;
  const auto a = measure(mode, what);
  what.operations = more;
  const auto b = measure(mode, what);
  const auto n = static_cast<double>(more - less);
  return {std::max(0.0, b.seconds - a.seconds) / n, (b.sent_bytes - a.sent_bytes) / n,
          (b.received_bytes - a.received_bytes) / n, b.plan};
}

/// Bandwidths, and what the server needs for a byte: of a single long result execution and transfer
/// are seen one after the other, of several only the slower of the two.
void fit_bytes(remote_parameters& to, const remote_measure& measure, std::size_t big_bytes) {
  const auto big = static_cast<double>(big_bytes);
  for (const auto kind : {operation_kind::noop, operation_kind::faop}) {
    remote_work what;
    what.operation = kind;
    what.size_bytes = big_bytes;
    const auto alone = std::max(0.0, measure(remote_mode::sync, what).seconds - to.latency_s) / big;
    const auto each = slope(measure, remote_mode::bulk, what, 2, 8).seconds / big;
    if (kind == operation_kind::noop)
      to.down_bytes_per_s = 1 / std::max(each, 1e-12);
    to.operation_byte_s[index_of(kind)] =
        std::clamp(alone - 1 / to.down_bytes_per_s, 0.0, std::max(each, 1e-12));
  }
  remote_work up;
  up.ballast_bytes = big_bytes;
  const auto each = slope(measure, remote_mode::bulk, up, 1, 4).seconds / big;
  to.up_bytes_per_s = 1 / std::max(each, 1e-12);
}

/// What a request costs: within a window, and beyond it where a full window does not wait for its
/// replies (else the latency says what it costs).
void fit_requests(remote_parameters& to, const remote_measure& measure) {
  const remote_work small;
  const auto window = remote_options{}.window_operations;
  const auto each = slope(measure, remote_mode::pipeline, small, window / 10, window);
  to.up_header_bytes = std::max(0.0, each.sent_bytes - static_cast<double>(argument_bytes(small)));
  to.down_header_bytes =
      std::max(0.0, each.received_bytes - static_cast<double>(result_bytes(small)));
  // On a slow link the bytes explain what a request costs, and nothing is known of the rest.
  if (each.seconds > surely * each.received_bytes / to.down_bytes_per_s)
    to.request_s = std::max(0.0, each.seconds - to.operation_s[0]);
  to.refill_s = to.request_s;
  const auto operation_s =
      to.operation_s[0] + static_cast<double>(result_bytes(small)) / to.down_bytes_per_s;
  if (to.latency_s > static_cast<double>(window) * operation_s)
    return;
  const auto later = slope(measure, remote_mode::pipeline, small, window, many);
  to.refill_s = std::max(0.0, later.seconds - to.operation_s[0]);
}

} // namespace

remote_shape shape_of(remote_mode mode, std::size_t n) {
  const remote_options usual;
  switch (mode) {
  case remote_mode::sync:
    return {1, 1};
  case remote_mode::bulk:
    return {n, n};
  case remote_mode::async:
    return {1, usual.parallel};
  case remote_mode::hybrid:
    return {usual.bulk_operations, usual.window_operations};
  case remote_mode::pipeline:
  case remote_mode::auto_:
    break;
  }
  return {1, usual.window_operations};
}

double modelled_seconds(const remote_parameters& at, remote_mode mode, const remote_work& what) {
  if (mode == remote_mode::auto_) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto each : all_remote_modes)
      if (each != remote_mode::auto_)
        least = std::min(least, modelled_seconds(at, each, what));
    return least;
  }
  auto part = what;
  part.operations = what.operations / what.parts;
  return static_cast<double>(what.parts) * windowed(at, shape_of(mode, part.operations), part);
}

remote_parameters fit_parameters(const remote_measure& measure, std::size_t big_bytes) {
  remote_parameters to;
  to.latency_s = measure(remote_mode::sync, {}).seconds;
  fit_bytes(to, measure, big_bytes);
  for (const auto kind : {operation_kind::noop, operation_kind::faop}) {
    remote_work what;
    what.operation = kind;
    const auto each = slope(measure, remote_mode::bulk, what, few, many);
    to.operation_s[index_of(kind)] =
        std::max(0.0, each.seconds - static_cast<double>(result_bytes(what)) / to.down_bytes_per_s);
  }
  fit_requests(to, measure);
  return to;
}

} // namespace pubsub::tool::bench
