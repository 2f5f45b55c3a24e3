// The limit of a round trip: a blocking TCP socket, and a process that sends back what it reads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "stop_signal.hpp"

namespace pubsub::tool::bench {

class bare_ping_pong {
public:
  explicit bare_ping_pong(const stop_signal& stop) : stop_(stop) {}

  /// Microseconds of a round trip, the median of those in `seconds`; 0 where it fails.
  double p50_us(std::size_t payload_bytes, double seconds);

private:
  const stop_signal& stop_;
};

} // namespace pubsub::tool::bench
