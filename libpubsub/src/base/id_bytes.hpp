// The sixteen bytes of an endpoint id, as frames carry them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>

#include <pubsub/value/endpoint_id.hpp>

namespace pubsub {

inline constexpr std::size_t endpoint_id_bytes = 16;

inline endpoint_id read_id(const std::byte* from) noexcept {
  endpoint_id::bytes_type id;
  std::memcpy(id.data(), from, id.size());
  return endpoint_id{id};
}

} // namespace pubsub
