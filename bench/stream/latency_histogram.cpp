// SPDX-License-Identifier: BSD-3-Clause
#include "stream/latency_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace pubsub::tool::bench {

namespace {

constexpr unsigned bits = 7; // of a value that tell the buckets of one power of two apart
constexpr std::uint64_t per_power = std::uint64_t{1} << bits;
constexpr std::uint64_t exact = 2 * per_power; // values below have a bucket each
constexpr std::size_t bucket_count = exact + (64 - bits - 1) * per_power;

std::size_t bucket_of(std::uint64_t value) noexcept {
  if (value < exact)
    return value;
  auto shift = static_cast<unsigned>(std::bit_width(value)) - bits - 1;
  return shift * per_power + (value >> shift);
}

std::uint64_t highest_of(std::size_t bucket) noexcept {
  if (bucket < exact)
    return bucket;
  auto shift = bucket / per_power - 1;
  auto leading = per_power + bucket % per_power;
  return ((leading + 1) << shift) - 1; // the very last one wraps to the greatest value
}

} // namespace

latency_histogram::latency_histogram() : buckets_(bucket_count) {}

void latency_histogram::record(std::uint64_t value) noexcept {
  ++buckets_[bucket_of(value)];
  ++count_;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

latency_histogram& latency_histogram::operator+=(const latency_histogram& other) noexcept {
  for (std::size_t i = 0; i < buckets_.size(); ++i)
    buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  return *this;
}

std::uint64_t latency_histogram::percentile(double part) const noexcept {
  if (count_ == 0)
    return 0;
  auto wanted = std::ceil(std::clamp(part, 0.0, 1.0) * static_cast<double>(count_));
  auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i)
    if ((seen += buckets_[i]) >= rank)
      return std::clamp(highest_of(i), min_, max_);
  return max_;
}

} // namespace pubsub::tool::bench
