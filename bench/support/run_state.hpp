// What publisher, relays and subscriber of one run tell each other beside the messages.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

namespace bench {

/// Lives in memory that all processes of a run share; zeros at the start.
struct run_state {
  static constexpr unsigned most_stages = 66;

  /// Where a stage listens: 0 is the subscriber, then the relays from there to the publisher.
  std::atomic<int> ports[most_stages];
  /// As the subscriber counts; while the stream runs a little behind.
  std::atomic<std::uint64_t> delivered;
  std::atomic<std::uint64_t> published;
  /// Messages that did not follow the one before them.
  std::atomic<std::uint64_t> disordered;
  /// From the first message to the end mark.
  std::atomic<double> seconds;
  /// Where a pipeline is measured: the most tasks in flight, and the most memory each process had.
  std::atomic<std::uint64_t> in_flight_max;
  std::atomic<std::uint64_t> peak_bytes[most_stages];
  std::atomic<bool> probe_seen;
  std::atomic<bool> ended; ///< the subscriber has seen the end mark

  void tell_port(unsigned stage, int port) { ports[stage] = port; }
  /// Blocks until the stage listens.
  int wait_for_port(unsigned stage) const;
  // The waits below throw, with the counts, if nothing arrives for a while: then a message was lost
  // or the peer hangs.
  void wait_for_delivered(std::uint64_t least) const;
  void wait_for_end() const;
};

} // namespace bench
