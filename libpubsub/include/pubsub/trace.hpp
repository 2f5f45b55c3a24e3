// Where a message on a topic goes, hop by hop, as `endpoint::trace` reports it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/export.hpp>
#include <pubsub/value/endpoint_id.hpp>

namespace pubsub {

/// What became of a trace at one node.
enum class trace_outcome : std::uint8_t {
  reached,      ///< the node has answered
  broker_peer,  ///< it speaks version 1 and cannot be asked; messages go to it
  refused,      ///< it does not tell, or who asks has not the right to
  out_of_reach, ///< no way leads to it any more
  no_answer,    ///< it did not answer in time, or the link to it was lost
};

/// The name of the enumerator, e.g. `no_answer`.
PUBSUB_EXPORT std::string_view to_string(trace_outcome x) noexcept;

/// One node that a message on the topic comes to. What the node itself says is believed as little
/// as anything that peers say: the hop before it vouches for `node`, `from`, `outcome`,
/// `round_trip` and `queued` only.
struct trace_hop {
  endpoint_id node;
  std::string name{}; ///< what the node calls itself; empty: not known
  endpoint_id from{}; ///< the hop before; nil where the trace begins
  trace_outcome outcome = trace_outcome::reached;
  /// From the hop before to this one and back, without what lies behind this one.
  std::chrono::microseconds round_trip{0};
  std::uint64_t queued = 0; ///< messages that wait, at the hop before, to be written to this one
  std::uint64_t subscribers = 0; ///< of the node itself that want the topic
  std::uint64_t waiting = 0;     ///< messages in the fullest of their queues
  /// Why messages, or some of them, go no further; for people.
  std::vector<std::string> remarks{};
};

} // namespace pubsub
