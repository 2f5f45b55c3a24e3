// Ids that a fuzzing engine can make from a word of a dictionary: one byte, sixteen times.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <pubsub/value/endpoint_id.hpp>

namespace pubsub::fuzz {

inline endpoint_id id_of(std::uint8_t n) {
  endpoint_id::bytes_type bytes{};
  bytes.fill(n);
  return endpoint_id{bytes};
}

} // namespace pubsub::fuzz
