// SPDX-License-Identifier: BSD-3-Clause
#include "kit/rate_meter.hpp"

#include <algorithm>
#include <utility>

namespace pubsub::tool::bench {

rate_statistics rate_statistics::of(std::vector<double> samples) {
  rate_statistics result;
  result.samples = std::move(samples);
  if (result.samples.empty())
    return result;
  auto sorted = result.samples;
  std::sort(sorted.begin(), sorted.end());
  auto middle = sorted.size() / 2;
  result.median =
      sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  result.min = sorted.front();
  result.max = sorted.back();
  return result;
}

void rate_meter::start(clock::time_point now, std::uint64_t total) {
  started_ = true;
  window_total_ = total;
  start_time_ = window_start_ = now;
}

std::optional<double> rate_meter::update(std::uint64_t total, clock::time_point now) {
  if (now - window_start_ < std::chrono::seconds{1})
    return std::nullopt;
  return close_window(total, now);
}

void rate_meter::finish(std::uint64_t total, clock::time_point now) {
  auto length = now - window_start_;
  bool long_enough = length >= std::chrono::milliseconds{500} || samples_.empty();
  if (started_ && long_enough && total > window_total_ && length.count() > 0)
    close_window(total, now);
}

double rate_meter::close_window(std::uint64_t total, clock::time_point now) {
  auto seconds = std::chrono::duration<double>(now - window_start_).count();
  auto rate = static_cast<double>(total - window_total_) / seconds;
  samples_.push_back(rate);
  window_start_ = now;
  window_total_ = total;
  return rate;
}

} // namespace pubsub::tool::bench
