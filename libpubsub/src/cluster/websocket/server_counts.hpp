// What the threads of a WebSocket server count.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include <pubsub/cluster/websocket_server.hpp>
#include <pubsub/publishable.hpp>

namespace pubsub::cluster {

/// The counters of the same names.
struct server_counts {
  using counter = std::atomic<std::uint64_t>;
  counter clients{0}, accepted{0}, refused{0}, failed{0}, timed_out{0}, bad_frames{0};
  counter events_received{0}, unwanted{0}, refused_events{0}, malformed{0};
  counter events_sent{0}, not_events{0}, dropped{0}, unsent{0};

  static void add(counter& to, std::uint64_t n = 1) noexcept {
    to.fetch_add(n, std::memory_order_relaxed);
  }

  /// Of an event that was handed to the network; not of one that waits for it.
  void count_published(publish_result result) noexcept {
    switch (result) {
    case publish_result::taken:
    case publish_result::dropped: // by a queue that counts it
      return add(events_received);
    case publish_result::unwanted:
      return add(unwanted);
    case publish_result::refused:
      return add(refused_events);
    case publish_result::would_block:
      return;
    }
  }

  websocket_server_counters read() const {
    return {.clients = clients,
            .accepted = accepted,
            .refused = refused,
            .failed = failed,
            .timed_out = timed_out,
            .bad_frames = bad_frames,
            .events_received = events_received,
            .unwanted = unwanted,
            .refused_events = refused_events,
            .malformed = malformed,
            .events_sent = events_sent,
            .not_events = not_events,
            .dropped = dropped,
            .unsent = unsent};
  }
};

} // namespace pubsub::cluster
