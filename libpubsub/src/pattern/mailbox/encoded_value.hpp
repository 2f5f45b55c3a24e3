// A value as it travels: bin::v1.
#pragma once

#include <cstddef>
#include <span>

#include <pubsub/data_writer.hpp>
#include <pubsub/publishable.hpp>

namespace pubsub::pattern {

/// The bytes of what is to be sent: its own, or those that are written to `room`.
inline std::span<const std::byte> bytes_of(const encodable& x, data_writer& room) {
  if (const auto* encoded = x.encoded())
    return *encoded;
  room.write(x.value());
  return room.bytes();
}

} // namespace pubsub::pattern
