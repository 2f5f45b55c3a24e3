// Entries of streams: their ids, and how one becomes a record.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <hiredis/hiredis.h>

#include "bridge/engine/engine_reader.hpp"

namespace pubsub::bridge {

/// Milliseconds since 1970, and a number among those of the same millisecond.
struct entry_id {
  std::uint64_t time_ms = 0;
  std::uint64_t number = 0;

  auto operator<=>(const entry_id&) const = default;
  std::string text() const { return std::to_string(time_ms) + "-" + std::to_string(number); }
  /// The id before it; 0-0 has none, and stays.
  entry_id before() const;
};

/// `1764291600000-5`, or without the second part, which is 0 then.
std::optional<entry_id> parse_entry_id(std::string_view text);

/// Fields and values by turns, as XREAD has them: the value of `field`, or of the only field, or
/// all fields as a JSON object of strings, is the payload. False where the reply has another shape.
bool read_entry(const redisReply& fields, std::string_view field, fetched_record& out);

} // namespace pubsub::bridge
