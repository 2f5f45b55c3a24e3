// What every kind of member of a Zeek cluster counts; belongs to the component pubsub::cluster.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace pubsub::cluster {

/// What a member has counted since it was made.
struct member_counters {
  std::uint64_t connections = 0; ///< times that the cluster was reached

  /// Events and records of either way that another member in the same network has passed on.
  std::uint64_t left_to_partner = 0;

  // Of each other event that came, one of these counts, or one that its kind of member adds:
  std::uint64_t events_received = 0; ///< published
  std::uint64_t unwanted = 0;        ///< no subscriber of the network wanted its topic any more
  std::uint64_t dropped = 0;         ///< `incoming` was full
  std::uint64_t refused = 0;         ///< its topic is reserved or too long, or it is too large
  std::uint64_t malformed = 0; ///< it is no event, or not readable; logs that are not readable, too

  // Of each other message of the network that is for the cluster:
  std::uint64_t events_sent = 0; ///< handed to libzmq, or to the kernel
  std::uint64_t not_events = 0;  ///< it is no Zeek event
  std::uint64_t unsent = 0;      ///< the cluster was lost before it was handed over
};

} // namespace pubsub::cluster
