// How a version-2 node asks another one how it is, and the answer (docs/wire-format.md).
// Pure: bytes in, bytes out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "wire/native/frames.hpp"

namespace pubsub::wire {

/// The text of a reply is no longer than that: every receiver takes such a frame.
inline constexpr std::size_t max_status_text_bytes = 64'000;

/// A parsed frame; `text` lies in it.
struct status_frame {
  frame_kind kind = frame_kind::status_request;
  std::uint32_t number = 0; ///< chosen by the node that asks, returned with the answer
  /// Of a reply: JSON in UTF-8, or empty: the node does not serve its status.
  std::string_view text;
};

/// Nothing if it is of another kind, too short, too long, or its text is not UTF-8.
std::optional<status_frame> parse_status_frame(std::span<const std::byte> frame_payload) noexcept;

/// Whole frames, length included.
std::vector<std::byte> make_status_request(std::uint32_t number);
std::vector<std::byte> make_status_reply(std::uint32_t number, std::string_view text);

} // namespace pubsub::wire
