// Percentiles of many durations in little memory, exact to better than one percent.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace pubsub::tool::bench {

/// Counts values in buckets that grow with the value: up to 255 each value has its own, above it
/// 128 buckets share every power of two, so a bucket is at most 1/128 (0.8 %) of its values wide.
/// Takes every 64-bit value in constant time and never grows. One thread at a time.
class latency_histogram {
public:
  latency_histogram();

  void record(std::uint64_t value) noexcept;
  latency_histogram& operator+=(const latency_histogram& other) noexcept;

  std::uint64_t count() const noexcept { return count_; }
  /// Exact; 0 where nothing was recorded.
  std::uint64_t min() const noexcept { return count_ == 0 ? 0 : min_; }
  std::uint64_t max() const noexcept { return max_; }
  /// The value that `part` (0 to 1) of all values do not exceed: never less than the true one and
  /// at most 1/128 more. 0 where nothing was recorded.
  std::uint64_t percentile(double part) const noexcept;

private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
};

} // namespace pubsub::tool::bench
