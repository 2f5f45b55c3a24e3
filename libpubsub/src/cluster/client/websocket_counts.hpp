// What a client of the WebSocket API counts: written by its thread, read by any.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pubsub/cluster/websocket_member.hpp>

#include "cluster/member_counts.hpp"

namespace pubsub::cluster {

struct websocket_counts : member_counts {
  std::atomic<std::uint64_t> extended{0};
  std::atomic<std::uint64_t> replaced{0};
  std::atomic<std::uint64_t> errors{0};
  std::atomic<std::uint64_t> repeated{0};

  websocket_counters read() const {
    return {.connections = connections,
            .extended = extended,
            .replaced = replaced,
            .errors = errors,
            .left_to_partner = left_to_partner,
            .events_received = events_received,
            .repeated = repeated,
            .unwanted = unwanted,
            .dropped = dropped,
            .refused = refused,
            .malformed = malformed,
            .events_sent = events_sent,
            .not_events = not_events,
            .unsent = unsent};
  }
};

} // namespace pubsub::cluster
