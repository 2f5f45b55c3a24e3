// The schemas of what this library records.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "record/byte_buffer.hpp"

namespace pubsub::record {

inline constexpr std::uint16_t no_schema = 0;
inline constexpr std::uint16_t binary_schema = 1;
inline constexpr std::uint16_t json_schema = 2;

/// The schema of payloads in this encoding.
std::uint16_t schema_of(std::string_view encoding) noexcept;
/// Appends the record of a schema; nothing for `no_schema`.
void append_schema(byte_buffer& out, std::uint16_t id);

} // namespace pubsub::record
