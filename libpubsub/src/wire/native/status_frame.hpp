// How a version-2 node asks another one how it is, and the answer (docs/wire-format.md).
// Pure: bytes in, bytes out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace pubsub::wire {

/// Beside the kinds of batches (wire/batch.hpp), in frames with `batch_flag`.
enum class status_kind : std::uint8_t { request = 16, reply = 17 };

/// The text of a reply is no longer than that: every receiver takes such a frame.
inline constexpr std::size_t max_status_text_bytes = 64'000;

/// A parsed frame; `text` lies in it.
struct status_frame {
  status_kind kind = status_kind::request;
  std::uint32_t number = 0; ///< chosen by the node that asks, returned with the answer
  std::string_view
      text; ///< of a reply: JSON in UTF-8, or empty: the node does not serve its status
};

/// Whether the payload of a flagged frame is meant to be one of these.
bool is_status_frame(std::span<const std::byte> frame_payload) noexcept;
/// Nothing if it is too short, too long, or its text is not UTF-8.
std::optional<status_frame> parse_status_frame(std::span<const std::byte> frame_payload) noexcept;

/// Whole frames, length included.
std::vector<std::byte> make_status_request(std::uint32_t number);
std::vector<std::byte> make_status_reply(std::uint32_t number, std::string_view text);

} // namespace pubsub::wire
