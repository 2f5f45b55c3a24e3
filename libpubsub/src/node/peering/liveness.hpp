// Whether a peer is still there, judged by how its link looks from time to time. Pure: no clock.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace pubsub {

/// Asked at intervals. Only such time counts as silence in which this side listened: time while a
/// full queue kept the link from being read does not, and of a gap between two looks (this process
/// was stopped, the machine slept) no more than one interval does.
class liveness {
public:
  using time_point = std::chrono::steady_clock::time_point;
  using span = std::chrono::nanoseconds;

  /// What the link shows: totals since it began.
  struct picture {
    std::uint64_t bytes_heard = 0;
    std::uint64_t bytes_written = 0;
    std::uint64_t pauses = 0; ///< times that reading was stopped
    bool paused = false;      ///< reading stands still now
  };
  enum class verdict : std::uint8_t {
    alive,
    speak, ///< nothing was written for a while: the peer should be sent something
    dead,  ///< nothing was heard for `timeout`
  };

  /// A side that wrote nothing for so long says something. Peers rely on it: a side whose reading
  /// is paused cannot answer pings.
  static constexpr span longest_interval = std::chrono::seconds{5};

  /// `timeout` 0: never dead.
  explicit liveness(span timeout) noexcept : timeout_(timeout), interval_(interval_for(timeout)) {}

  span interval() const noexcept { return interval_; }

  verdict look(time_point now, const picture& seen) noexcept {
    const bool listened = !seen.paused && !last_.paused && seen.pauses == last_.pauses;
    const bool heard = seen.bytes_heard != last_.bytes_heard;
    const bool wrote = seen.bytes_written != last_.bytes_written;
    const auto passed = std::chrono::duration_cast<span>(now - last_look_);
    silence_ = heard || !listened ? span{0} : silence_ + std::min(passed, interval_);
    last_ = seen;
    last_look_ = now;
    if (timeout_.count() > 0 && silence_ >= timeout_)
      return verdict::dead;
    return wrote ? verdict::alive : verdict::speak;
  }

private:
  static span interval_for(span timeout) noexcept {
    const auto quarter = std::max<span>(timeout / 4, std::chrono::milliseconds{1});
    return timeout.count() > 0 ? std::min(quarter, longest_interval) : longest_interval;
  }

  const span timeout_;
  const span interval_;
  picture last_;
  time_point last_look_{}; // the first look is long after it, and counts one interval at most
  span silence_{0};
};

} // namespace pubsub
