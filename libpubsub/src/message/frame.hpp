// Where topic and payload lie in a data frame: what a frame in memory shares with one on the wire.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.hpp"

namespace pubsub {

/// u32 length before every frame's payload.
inline constexpr std::size_t frame_header_bytes = 4;
/// Sender, receiver, type, ttl and topic length.
inline constexpr std::size_t envelope_header_bytes = 37;

/// Bytes of the whole frame at `frame`, length included. The frame has been checked before.
inline std::size_t frame_bytes(const std::byte* frame) noexcept {
  return frame_header_bytes + load_be<std::uint32_t>(frame);
}

/// The hop limit of the data frame at `frame`. Records count in a byte.
inline std::uint8_t frame_hops_left(const std::byte* frame) noexcept {
  const auto ttl = load_be<std::uint16_t>(frame + frame_header_bytes + 33);
  return static_cast<std::uint8_t>(ttl < 255 ? ttl : 255);
}

/// The sizes of topic and payload of a data frame, which lie one directly behind the other.
struct frame_content {
  explicit frame_content(const std::byte* frame) noexcept
      : topic_size(load_be<std::uint16_t>(frame + frame_header_bytes + envelope_header_bytes - 2)),
        payload_size(load_be<std::uint32_t>(frame) -
                     static_cast<std::uint32_t>(envelope_header_bytes + topic_size)) {}

  std::uint16_t topic_size;
  std::uint32_t payload_size;
};

} // namespace pubsub
