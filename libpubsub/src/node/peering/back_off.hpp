// How long to wait before the next attempt: longer each time, and never all at once. Pure: no
// clock.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

namespace pubsub {

/// Delays that double from `first` to `longest`, each changed by up to `jitter` of itself, so that
/// nodes that lost the same peer do not come back in the same moment. Not thread-safe.
class back_off {
public:
  using delay = std::chrono::nanoseconds;
  /// Up or down, as a part of the delay.
  static constexpr double jitter = 0.25;
  static constexpr delay shortest = std::chrono::milliseconds{1};

  /// A `longest` below `first` counts as `first`. Equal seeds give equal delays.
  back_off(delay first, delay longest, std::uint64_t seed)
      : first_(std::max(first, shortest)), longest_(std::max(longest, first_)), base_(first_),
        random_(seed) {}

  /// Never longer than `longest`, except by the jitter of an equal `first`.
  delay next() {
    const auto factor = std::uniform_real_distribution<double>{1 - jitter, 1 + jitter}(random_);
    const auto now = static_cast<double>(base_.count()) * factor;
    base_ = std::min(2 * base_, highest_base());
    return std::max(delay{static_cast<delay::rep>(now)}, shortest);
  }
  /// An attempt has succeeded.
  void reset() noexcept { base_ = first_; }

private:
  /// What jitter cannot lift above `longest`.
  delay highest_base() const noexcept {
    const auto most = static_cast<double>(longest_.count()) / (1 + jitter);
    return std::max(first_, delay{static_cast<delay::rep>(most)});
  }

  delay first_;
  delay longest_;
  delay base_;
  std::mt19937_64 random_;
};

} // namespace pubsub
