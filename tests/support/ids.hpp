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

} // namespace pubsub::test
