// What the emulator itself adds to a round trip, so that it can be taken off what was asked for.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <vector>

namespace emulator {

/// What a round trip of two programs on bare sockets takes beyond what the link was told: their
/// calls and wake-ups, and those of the emulator. It depends on how long everybody waits, since a
/// processor that has nothing to do falls asleep in steps.
struct own_costs {
  /// On links up to here the emulator waits for bytes without sleeping: being woken takes tens of
  /// microseconds.
  static constexpr std::chrono::nanoseconds longest_awake = std::chrono::milliseconds{3};

  struct sample {
    std::chrono::nanoseconds round_trip;
    std::chrono::nanoseconds cost;
  };
  /// In the order of their round trips; none: nothing is taken off.
  std::vector<sample> samples;

  /// Between samples in proportion, outside as the nearest one. Both sides of `longest_awake` are
  /// kept apart.
  std::chrono::nanoseconds at(std::chrono::nanoseconds round_trip) const;
};

/// Measures them on this machine as it is now: takes about three seconds. Where others compute
/// meanwhile, the figures are theirs, too. Throws std::system_error.
own_costs measure_own_costs();

} // namespace emulator
