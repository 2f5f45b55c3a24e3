// Ids that can be told apart at a glance.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <pubsub/value/endpoint_id.hpp>

namespace pubsub::test {

inline endpoint_id id_of(std::uint8_t n) {
  endpoint_id::bytes_type bytes{};
  bytes[0] = n;
  return endpoint_id{bytes};
}

/// All its bytes are the same, as in frames that are written by hand.
inline endpoint_id filled_id(std::uint8_t byte) {
  endpoint_id::bytes_type bytes;
  bytes.fill(byte);
  return endpoint_id{bytes};
}

/// The node whose peers the test plays.
inline const auto us = id_of(100);

} // namespace pubsub::test
