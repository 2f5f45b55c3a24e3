// How long may be waited for a reader that is slow.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>

#include "cluster/tuning.hpp"

namespace pubsub::cluster {

/// Patience with one reader. Waiting that was of use costs nothing: it evens out bursts, and holds
/// publishers back. Waiting in vain uses patience up, and it comes back slowly; so a reader that is
/// slow again and again does not hold the others up for more than a small part of the time. The
/// caller tells the time.
class patience {
public:
  using clock = std::chrono::steady_clock;

  patience(std::chrono::nanoseconds most, clock::time_point now)
      : most_(most), left_(most), at_(now) {}

  std::chrono::nanoseconds left(clock::time_point now) {
    left_ = std::min(most_, left_ + (now - at_) / tuning::time_per_patience);
    at_ = now;
    return left_;
  }

  void wasted(std::chrono::nanoseconds waited) {
    left_ = std::max(left_ - waited, std::chrono::nanoseconds::zero());
  }

private:
  std::chrono::nanoseconds most_;
  std::chrono::nanoseconds left_;
  clock::time_point at_;
};

} // namespace pubsub::cluster
