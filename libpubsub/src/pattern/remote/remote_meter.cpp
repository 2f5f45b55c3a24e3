#include "pattern/remote/remote_meter.hpp"

#include <algorithm>

#include "pattern/remote/remote_plan.hpp"
#include "pattern/remote/tuning.hpp"

namespace pubsub::pattern {

namespace {

using namespace std::chrono_literals;

double blend(double old, double more, double share) noexcept {
  return old == 0 ? more : old + share * (more - old);
}

std::chrono::nanoseconds duration_of(double s) noexcept {
  return std::chrono::nanoseconds{static_cast<std::int64_t>(1e9 * s)};
}

/// Of a sample of so many operations: many count as several samples.
double share_of(double operations) noexcept {
  return std::min(1.0, tuning::weight_of_a_sample * std::min(operations, 5.0));
}

} // namespace

void remote_meter::add(const reply_sample& x) {
  if (x.operations == 0 || x.asked == 0)
    return;
  add_averages(x);
  add_latency(x);
  add_single_transfers(x);
  add_flow(x);
  conditions_.request_bytes_per_s = up_.value();
  conditions_.reply_bytes_per_s = down_.value();
}

void remote_meter::add_averages(const reply_sample& x) {
  if (x.operation >= operations_.size())
    operations_.resize(x.operation + std::size_t{1});
  auto& its = operations_[x.operation];
  const auto n = static_cast<double>(x.operations);
  const auto share = share_of(n);
  its.operation = duration_of(blend(seconds(its.operation), seconds(x.busy) / n, share));
  its.argument_bytes =
      blend(its.argument_bytes, static_cast<double>(x.request_bytes) / static_cast<double>(x.asked),
            share);
  its.result_bytes = blend(its.result_bytes, static_cast<double>(x.reply_bytes) / n, share);
  put(its, conditions_);
}

void remote_meter::put(const averages& x, remote_conditions& into) noexcept {
  into.operation = x.operation;
  into.argument_bytes = x.argument_bytes;
  into.result_bytes = x.result_bytes;
}

remote_conditions remote_meter::conditions(std::uint32_t operation) const {
  auto result = conditions_;
  put(operation < operations_.size() ? operations_[operation] : averages{}, result);
  return result;
}

void remote_meter::add_calls(std::uint64_t operations, std::chrono::nanoseconds took,
                             bool coming_back) {
  if (operations == 0)
    return;
  const auto n = static_cast<double>(operations);
  auto& its = coming_back ? back_s_ : there_s_;
  its = blend(its, seconds(took) / n, share_of(n));
  conditions_.call = duration_of(there_s_ + back_s_);
}

/// What long messages take to pass is no latency, nor is how long a reply lay unread: such samples
/// can only show that it is less than was thought.
void remote_meter::add_latency(const reply_sample& x) {
  const auto trip = seconds(x.received - x.sent - x.here);
  if (trip <= 0)
    return;
  const bool is_short = x.request_bytes + x.reply_bytes < tuning::long_enough;
  if ((is_short && x.prompt) || !shortest_.known())
    shortest_.add(-trip, x.received);
  shortest_.raise(-trip);
  conditions_.latency = duration_of(-shortest_.get());
}

/// Of a long message alone: what it takes longer than a short one.
void remote_meter::add_single_transfers(const reply_sample& x) {
  if (!x.alone || !x.prompt)
    return;
  const auto trip = seconds(x.received - x.sent - x.here);
  const auto took = trip - seconds(conditions_.latency);
  if (took < trip / 4)
    return; // it can hardly be told
  if (x.request_bytes >= tuning::long_enough && x.request_bytes > 4 * x.reply_bytes)
    up_.add(static_cast<double>(x.request_bytes) / took, x.received);
  if (x.reply_bytes >= tuning::long_enough && x.reply_bytes > 4 * x.request_bytes)
    down_.add(static_cast<double>(x.reply_bytes) / took, x.received);
}

/// Of many messages: what comes in some time, however they came together on the way. Short ones do
/// not show how much a link can carry.
void remote_meter::add_flow(const reply_sample& x) {
  if (x.alone || x.received - flow_.begin > tuning::longest_break) { // there was a break
    flow_ = {x.received};
    return;
  }
  const auto n = static_cast<double>(x.operations);
  flow_.messages += 1;
  flow_.request_bytes += n * static_cast<double>(x.request_bytes) / static_cast<double>(x.asked);
  flow_.reply_bytes += static_cast<double>(x.reply_bytes);
  if (x.received - flow_.begin < tuning::time_of_flow)
    return;
  const auto took = seconds(x.received - flow_.begin);
  if (flow_.request_bytes >= flow_.messages * tuning::long_enough)
    up_.add(flow_.request_bytes / took, x.received);
  if (flow_.reply_bytes >= flow_.messages * tuning::long_enough)
    down_.add(flow_.reply_bytes / took, x.received);
  flow_ = {x.received};
}

} // namespace pubsub::pattern
