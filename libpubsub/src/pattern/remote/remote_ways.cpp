#include "pattern/remote/remote_ways.hpp"

#include <algorithm>

#include <pubsub/data_writer.hpp>

#include "pattern/remote/remote_plan.hpp"

namespace pubsub::pattern {

namespace {

std::chrono::nanoseconds time_left(const time_limit& until) {
  return std::max<std::chrono::nanoseconds>(*until - std::chrono::steady_clock::now(), {});
}

} // namespace

remote_ways::remote_ways(std::span<endpoint* const> ways, std::string_view name,
                         remote_options options)
    : mode_(options.mode) {
  const bool several = mode_ == remote_mode::async || mode_ == remote_mode::auto_;
  const auto n = several ? ways.size() : 1;
  if (options.parallel > 0)
    options.parallel = std::max<std::size_t>(options.parallel / n, 1);
  if (options.max_unfinished > 0)
    options.max_unfinished = std::max<std::size_t>(options.max_unfinished / n, 1);
  for (auto* const each : ways.first(n))
    cores_.push_back(std::make_shared<remote_core>(each->share(), name, options));
}

std::size_t remote_ways::ways_for(std::string_view operation) const {
  if (cores_.size() == 1 || mode_ == remote_mode::async)
    return cores_.size();
  return gains_by_connections(first().conditions(operation)) ? cores_.size() : 1;
}

std::pair<remote_ways::core_ptr, remote_core::call_ptr>
remote_ways::submit(std::string_view operation, std::span<const std::byte> argument,
                    std::optional<std::chrono::nanoseconds> timeout) {
  const auto n = ways_for(operation);
  const auto& core = n == 1 ? cores_.front() : cores_[next_.fetch_add(1) % n];
  return {core, core->submit(operation, argument, timeout)};
}

remote_ways::call_list remote_ways::submit_all(std::string_view operation,
                                               std::span<const std::byte> arguments, bool in_bulk) {
  const auto n = in_bulk ? 1 : ways_for(operation);
  std::vector<data_writer> shares(n > 1 ? n : 0);
  for (std::size_t turn = 0; n > 1 && !arguments.empty(); ++turn) {
    const auto value = data_view::from_valid(arguments).bytes();
    shares[turn % n].write_encoded(value);
    arguments = arguments.subspan(value.size());
  }
  std::vector<std::vector<remote_core::call_ptr>> calls;
  std::size_t all = 0;
  for (std::size_t i = 0; i < n; ++i) {
    calls.push_back(
        cores_[i]->submit_all(operation, n > 1 ? shares[i].bytes() : arguments, in_bulk));
    all += calls.back().size();
  }
  call_list result;
  result.reserve(all);
  for (std::size_t i = 0; i < all; ++i)
    result.emplace_back(cores_[i % n], std::move(calls[i % n][i / n]));
  return result;
}

void remote_ways::flush() {
  for (const auto& each : cores_)
    each->flush();
}

std::size_t remote_ways::drain(std::chrono::nanoseconds timeout) {
  const auto until = limit_after(timeout);
  std::size_t left = 0;
  for (const auto& each : cores_)
    left += each->drain(time_left(until));
  return left;
}

bool remote_ways::wait_for_instances(std::size_t n, std::chrono::nanoseconds timeout) {
  const auto until = limit_after(timeout);
  return std::ranges::all_of(
      cores_, [&](const auto& each) { return each->wait_for_instances(n, time_left(until)); });
}

std::size_t remote_ways::unfinished() const {
  std::size_t result = 0;
  for (const auto& each : cores_)
    result += each->unfinished();
  return result;
}

remote_counters remote_ways::counters() const {
  remote_counters result;
  for (const auto& each : cores_) {
    const auto its = each->counters();
    result.submitted += its.submitted;
    result.done += its.done;
    result.failed += its.failed;
    result.requests += its.requests;
    result.repeated += its.repeated;
    result.refused += its.refused;
  }
  return result;
}

void remote_ways::close() {
  for (const auto& each : cores_)
    each->close();
}

} // namespace pubsub::pattern
