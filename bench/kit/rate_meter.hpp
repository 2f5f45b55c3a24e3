// Messages per second, second by second.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace pubsub::tool::bench {

/// Median, extremes and the values themselves; zeros where there are none.
struct rate_statistics {
  double median = 0;
  double min = 0;
  double max = 0;
  std::vector<double> samples;

  static rate_statistics of(std::vector<double> samples);
};

/// Fed with a running total; cuts time into windows of about a second.
class rate_meter {
public:
  using clock = std::chrono::steady_clock;

  /// Starts the first window; what came before does not count.
  void start(clock::time_point now, std::uint64_t total = 0);
  /// The rate of a window that `now` completes; call it as often as convenient.
  std::optional<double> update(std::uint64_t total, clock::time_point now);
  /// Ends the stream; a last window counts if it lasted at least half a second or is the only one.
  void finish(std::uint64_t total, clock::time_point now);

  bool started() const noexcept { return started_; }
  clock::time_point start_time() const noexcept { return start_time_; }
  const std::vector<double>& samples() const noexcept { return samples_; }

private:
  double close_window(std::uint64_t total, clock::time_point now);

  bool started_ = false;
  clock::time_point start_time_;
  clock::time_point window_start_;
  std::uint64_t window_total_ = 0;
  std::vector<double> samples_;
};

} // namespace pubsub::tool::bench
