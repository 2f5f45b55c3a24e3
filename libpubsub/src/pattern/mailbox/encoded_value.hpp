// A value as it travels: bin::v1.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <pubsub/data.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/publishable.hpp>

namespace pubsub::pattern {

inline std::vector<std::byte> encoded_value(const data& value) {
  data_writer out;
  out.write(value);
  return out.take();
}

/// The bytes of a payload: its own, or those that are written to `room`.
inline std::span<const std::byte> bytes_of(const payload& x, data_writer& room) {
  if (const auto* encoded = x.encoded())
    return *encoded;
  room.write(x.value());
  return room.bytes();
}

} // namespace pubsub::pattern
