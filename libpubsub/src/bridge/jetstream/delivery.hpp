// What the subject says on which a record of a NATS stream is acknowledged.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pubsub::bridge {

struct delivery {
  std::uint64_t times = 0;             ///< that it was given out, with this one
  std::uint64_t stream_sequence = 0;   ///< of the record
  std::uint64_t consumer_sequence = 0; ///< of this delivery
  std::uint64_t pending = 0;           ///< records behind it that were not given out
};

/// `$JS.ACK.<stream>.<consumer>.<times>.<sequence>.<delivery>.<time>.<pending>`, or with domain and
/// account before the stream, and more parts at the end. Nothing for other subjects.
std::optional<delivery> parse_delivery(std::string_view subject);

} // namespace pubsub::bridge
