// SPDX-License-Identifier: BSD-3-Clause
#include "bridge_handles.hpp"

namespace pubsub::python {

namespace {

/// What stands for no time-out where a call waits by itself.
constexpr std::chrono::hours longest{24 * 365};

/// Makes one call that may take all of the time. In slices it would begin anew with each of them:
/// it asks other nodes, or looks at what there is to wait for, when it begins.
template <class Result, class Call>
Result call_once_until(const std::shared_ptr<resident<bridge::sink>>& at,
                       std::optional<double> timeout, Call call) {
  at->check_fork();
  const std::chrono::nanoseconds left = deadline(timeout).slice(longest);
  auto result = std::make_shared<Result>();
  run_interruptibly([at, result, call, left] { *result = call(at->it(), left); });
  return *result;
}

} // namespace

bool bridge_sink_handle::wait_ready(std::optional<double> timeout) {
  return call_once_until<bool>(at(), timeout,
                               [](bridge::sink& x, auto left) { return x.wait_ready(left); });
}

std::size_t bridge_sink_handle::drain(std::optional<double> timeout) {
  return call_once_until<std::size_t>(at(), timeout,
                                      [](bridge::sink& x, auto left) { return x.drain(left); });
}

bool bridge_source_handle::wait_end(std::optional<double> timeout) {
  at()->check_fork();
  return wait_for(deadline(timeout), [&](auto left) { return at()->it().wait_end(left); });
}

} // namespace pubsub::python
