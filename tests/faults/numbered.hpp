// The messages of the fault suite: each names its publisher, its number on its topic, and a
// checksum.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <pubsub/data_message.hpp>
#include <pubsub/data_writer.hpp>

namespace faults {

/// What a message says about itself, and whether that is true.
struct numbered {
  std::uint64_t publisher = 0;
  std::uint64_t number = 0; ///< counts from 0, per publisher and topic
};

/// 64 bits over everything a message carries: publisher, number, topic and payload.
std::uint64_t checksum(const numbered& head, std::string_view topic,
                       std::string_view payload) noexcept;

/// Appends the message [count publisher, count number, count checksum, string payload] to `out`.
/// The payload has between `min_bytes` and `max_bytes` (at most 65,536), and follows from `head`.
void write_numbered(pubsub::data_writer& out, const numbered& head, std::string_view topic,
                    std::size_t min_bytes, std::size_t max_bytes);

/// Reads a message written by `write_numbered`; nothing if it has another form or if the checksum
/// does not match.
std::optional<numbered> read_numbered(const pubsub::data_message& msg);

} // namespace faults
