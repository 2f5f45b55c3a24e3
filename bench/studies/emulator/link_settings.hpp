// What a link is like: how long bytes travel, and how many pass in a second.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

namespace emulator {

/// `up` is from who connects to who listens, `down` the way back. Rates are those of the bytes of a
/// stream: headers of packets are not reckoned.
struct link_settings {
  /// Of a message there and its answer, both small, between two programs on bare sockets.
  std::chrono::nanoseconds round_trip{0};
  double up_bits_per_s = 0;   ///< 0: as many as the machine can
  double down_bits_per_s = 0; ///< 0: as many as the machine can

  bool operator==(const link_settings&) const = default;
};

/// `lan`: 0.1 ms, 5 Gb/s both ways. `wan`: 40 ms, 40 Mb/s up, 7 Mb/s down. The networks of
/// "Analysis of Remote Execution Models for Grid Middleware". Nothing for other names.
std::optional<link_settings> link_profile(std::string_view name);

/// How many bytes may be on one direction of a link, waiting or travelling, before the sender is
/// held back: what travels in two round trips, or waits for 10 ms, but at least 256 KiB (a router's
/// queue, not an endless one) and at most 256 MiB; 16 MiB where there is no limit to the rate.
std::size_t link_room_bytes(double bits_per_s, std::chrono::nanoseconds round_trip);

} // namespace emulator
