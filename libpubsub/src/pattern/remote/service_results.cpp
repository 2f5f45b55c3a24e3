#include "pattern/remote/service_results.hpp"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <exception>
#include <memory>
#include <typeinfo>
#include <utility>

namespace pubsub::pattern {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

std::string type_of(const std::exception& x) {
  const char* name = typeid(x).name();
  int failed = 0;
  const std::unique_ptr<char, decltype(&std::free)> text{
      abi::__cxa_demangle(name, nullptr, nullptr, &failed), &std::free};
  return failed == 0 && text ? text.get() : name;
}

std::uint64_t nanoseconds_of(clock::duration x) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds{x}.count());
}

bool is_one_value(std::span<const std::byte> bytes) {
  return data_view::make(bytes).has_value();
}

} // namespace

void service_results::begin(const service_work& work, time now) {
  client_ = work.client;
  to_ = work.to;
  head_ = {instance_, work.stream, 0, 0, {}, {}, {}};
  begun_ = now;
}

void service_results::run(service_work& work) {
  const auto begun = clock::now();
  auto now = begun;
  if (empty())
    begin(work, now);
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
  if (!work.cancelled.empty() && work.cancelled[work.cancelled.size() - work.count])
    return ++cancelled_, fail({errc::cancelled});
  if (work.what == nullptr)
    return fail({errc::no_such_operation,
                 "service '" + service_name_ + "' has no operation '" + work.name + "'"});
  const auto before = results_.size_bytes();
  auto why = call(*work.what, argument);
  const auto result = results_.bytes().subspan(std::min(before, results_.size_bytes()));
  if (!why && result.size() > max_result_bytes_)
    why = {errc::limit_exceeded, "a result of " + std::to_string(result.size()) +
                                     " bytes is longer than max_result_bytes, " +
                                     std::to_string(max_result_bytes_)};
  else if (!why && !is_one_value(result))
    why = {errc::operation_failed, "the handler has not written one value"};
  if (!why)
    return;
  results_.truncate(before);
  fail(std::move(why));
}

error service_results::call(const service_operation& what, const data_view& argument) {
  try {
    const auto done = what.handler(argument, results_);
    return done ? error{} : done.error();
  } catch (const std::exception& x) {
    return {errc::operation_failed, type_of(x) + ": " + x.what()};
  } catch (...) {
    return {errc::operation_failed, "an exception that is no std::exception"};
  }
}

void service_results::fail(error why) {
  results_.write_none();
  head_.failed.push_back({size(), std::move(why)});
}

void service_results::write(data_writer& out) {
  head_.places = places_.runs();
  head_.here_ns = nanoseconds_of(clock::now() - arrived_);
  out.reserve(results_.size_bytes() + 256);
  write_reply(out, head_, size(), results_.bytes());
}

void service_results::write_single(data_writer& out, std::size_t index, bool too_long) const {
  auto left = results_.bytes();
  for (std::size_t i = 0; i < index; ++i)
    left = left.subspan(data_view::from_valid(left).bytes().size());
  const auto result = data_view::from_valid(left).bytes();
  reply_head head = head_;
  head.failed.clear();
  auto skip = index;
  for (const auto& run : places_.runs()) {
    if (skip < run.count) {
      head.places = {{run.first + skip, 1}};
      break;
    }
    skip -= run.count;
  }
  for (const auto& each : head_.failed)
    if (each.index == index)
      head.failed = {{0, each.error}};
  if (too_long)
    head.failed = {
        {0,
         {errc::limit_exceeded, "a result of " + std::to_string(result.size()) +
                                    " bytes is longer than the service's endpoint sends"}}};
  data_writer none;
  none.write_none();
  write_reply(out, head, 1, too_long ? none.bytes() : result);
}

void service_results::clear() {
  places_.clear();
  results_.clear();
  to_.reset();
  head_ = {};
  cancelled_ = 0;
  due_ = false;
}

void write_untaken(data_writer& out, const endpoint_id& instance, std::uint64_t stream,
                   const number_run& places) {
  reply_head head;
  head.instance = instance;
  head.stream = stream;
  head.untaken = {places};
  write_reply(out, head, 0, {});
}

} // namespace pubsub::pattern
