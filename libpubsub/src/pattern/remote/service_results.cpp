// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/remote/service_results.hpp"

#include <algorithm>
#include <exception>
#include <typeinfo>
#include <utility>

#include <boost/core/demangle.hpp>

namespace pubsub::pattern {

namespace {

using clock = std::chrono::steady_clock;

std::uint64_t nanoseconds_of(clock::duration x) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds{x}.count());
}

} // namespace

void service_results::run(service_work& work) {
  const auto begun = clock::now();
  auto now = begun;
  if (empty()) {
    client_ = work.client;
    to_ = work.to;
    head_ = {instance_, work.stream};
    begun_ = now;
  }
  arrived_ = work.arrived;
  std::size_t stride = 1, since_look = 0;
  bool was_long = false;
  while (work.count > 0 && !due_ && !was_long) {
    run_one(work, *work.arguments);
    places_.append(work.first++);
    ++work.arguments;
    --work.count;
    due_ = results_.size_bytes() >= tuning::bytes_to_collect;
    if (++since_look < stride && work.count > 0 && !due_)
      continue;
    const auto before = std::exchange(now, clock::now());
    was_long = now - before >= pace_.long_operation;
    stride = std::min(2 * stride, tuning::most_between_looks);
    since_look = 0;
    due_ = due_ || now - begun_ >= pace_.to_collect;
  }
  head_.busy_ns += nanoseconds_of(now - begun);
}

/// Of the work the first operation that is left.
void service_results::run_one(const service_work& work, const data_view& argument) {
  if (!work.cancelled.empty() && std::ranges::binary_search(work.cancelled, work.first))
    return ++cancelled_, fail({errc::cancelled});
  if (work.what == nullptr)
    return fail({errc::no_such_operation, "service '" + service_name_ + "' has no such operation"});
  const auto before = results_.size_bytes();
  auto why = call(*work.what, argument);
  const auto result = results_.bytes().subspan(std::min(before, results_.size_bytes()));
  if (!why && result.size() > max_result_bytes_)
    why = too_long("a result", result.size(),
                   "max_result_bytes, " + std::to_string(max_result_bytes_));
  else if (!why && !data_view::make(result))
    why = {errc::operation_failed, "the handler has not written one value"};
  if (!why)
    return;
  results_.truncate(before);
  fail(why);
}

error service_results::call(const service_operation& what, const data_view& argument) {
  try {
    const auto done = what.handler(argument, results_);
    return done ? error{} : done.error();
  } catch (const std::exception& x) {
    return {errc::operation_failed, boost::core::demangle(typeid(x).name()) + ": " + x.what()};
  } catch (...) {
    return {errc::operation_failed, "an exception that is no std::exception"};
  }
}

void service_results::fail(const error& why) {
  write_error(results_, why);
  failed_.append(size());
}

void service_results::write(data_writer& out) {
  head_.places = places_.runs();
  head_.failed = failed_.runs();
  head_.here_ns = nanoseconds_of(clock::now() - arrived_);
  out.reserve(results_.size_bytes() + 256);
  head_.results = {size(), results_.bytes()};
  pattern::write(out, head_);
}

void service_results::write_singly(
    const std::function<bool(const data_writer& reply)>& send) const {
  auto left = results_.bytes();
  data_writer message, refusal;
  service_reply<value_list> one{instance_, head_.stream, head_.here_ns, head_.busy_ns};
  const auto send_one = [&](std::span<const std::byte> result) {
    message.clear();
    one.results = {1, result};
    pattern::write(message, one);
    return send(message);
  };
  for (std::size_t index = 0; index < size(); ++index) {
    const auto result = data_view::from_valid(left).bytes();
    left = left.subspan(result.size());
    for_each_part(places_.runs(), index, 1, [&](const auto& place) { one.places = {place}; });
    one.failed.clear();
    for (const auto& [first, count] : failed_.runs())
      if (index - first < count)
        one.failed = {{0, 1}};
    if (send_one(result))
      continue;
    one.failed = {{0, 1}};
    refusal.clear();
    write_error(refusal, too_long("a result", result.size(), "the service's endpoint sends"));
    send_one(refusal.bytes());
  }
}

void service_results::clear() {
  places_.clear();
  failed_.clear();
  results_.clear();
  to_.reset();
  head_ = {};
  cancelled_ = 0;
  due_ = false;
}

} // namespace pubsub::pattern
