// How fast a peer may send.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace pubsub {

/// So much a second, and some of it at once. What has come is counted even beyond that: then
/// nothing more should come until the debt is paid. Not thread-safe.
class rate_limit {
public:
  using time = std::chrono::steady_clock::time_point;

  /// 0: any amount. What a tenth of a second gives may come at once.
  void set(std::uint64_t per_second) noexcept { set(per_second, per_second / 10); }
  void set(std::uint64_t per_second, std::uint64_t at_once) noexcept {
    per_second_ = static_cast<double>(per_second);
    at_once_ = static_cast<double>(at_once);
  }
  /// Something has come. Returns how long the next has to wait.
  std::chrono::nanoseconds take(std::uint64_t amount, time now) noexcept {
    if (per_second_ == 0)
      return {};
    const std::chrono::duration<double> passed = now - last_;
    last_ = now;
    left_ = std::min(left_ + passed.count() * per_second_, at_once_);
    left_ -= static_cast<double>(amount);
    const std::chrono::duration<double> debt{-left_ / per_second_};
    return left_ >= 0 ? std::chrono::nanoseconds{}
                      : std::chrono::ceil<std::chrono::nanoseconds>(debt);
  }

private:
  double per_second_ = 0;
  double at_once_ = 0;
  double left_ = 0;
  time last_{};
};

} // namespace pubsub
