// A message inside a run or a batch: payload size, number of the topic, payload
// (docs/wire-format.md).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.hpp"

namespace pubsub {

/// u32 payload size, u8 number of the topic in the table of the run.
inline constexpr std::size_t record_header_bytes = 5;

inline std::uint32_t record_payload_size(const std::byte* record) noexcept {
  return load_be<std::uint32_t>(record);
}
inline std::uint8_t record_topic(const std::byte* record) noexcept {
  return static_cast<std::uint8_t>(record[4]);
}
/// Bytes of the whole record. It has been checked before.
inline std::size_t record_bytes(const std::byte* record) noexcept {
  return record_header_bytes + record_payload_size(record);
}
/// A walk over records waits for each header to come from memory before it knows where the next one
/// is. Records in a row often have one size, so later headers can be fetched ahead; a wrong guess
/// costs only the fetch.
inline void prefetch_records_behind(const std::byte* record, std::size_t size_bytes) noexcept {
  const auto ahead = reinterpret_cast<std::uintptr_t>(record) + 8 * size_bytes;
  __builtin_prefetch(reinterpret_cast<const void*>(ahead));
}
/// Writes the header and returns where the payload goes.
inline std::byte* write_record_header(std::byte* out, std::uint32_t payload_size,
                                      std::uint8_t topic) noexcept {
  out = store_be(out, payload_size);
  *out = static_cast<std::byte>(topic);
  return out + 1;
}

} // namespace pubsub
