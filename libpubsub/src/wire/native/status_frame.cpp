#include "wire/native/status_frame.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "format/utf8.hpp"
#include "message/frame.hpp"
#include "wire/native/batch.hpp"

namespace pubsub::wire {

namespace {

constexpr std::size_t fixed_bytes = 5; // kind and number

std::vector<std::byte> make(status_kind kind, std::uint32_t number, std::string_view text) {
  const auto size = fixed_bytes + text.size();
  std::vector<std::byte> result(frame_header_bytes + size);
  auto* pos = store_be(result.data(), static_cast<std::uint32_t>(size) | batch_flag);
  *pos++ = static_cast<std::byte>(kind);
  pos = store_be(pos, number);
  std::ranges::copy(std::as_bytes(std::span{text}), pos);
  return result;
}

} // namespace

bool is_status_frame(std::span<const std::byte> frame_payload) noexcept {
  if (frame_payload.empty())
    return false;
  const auto kind = static_cast<status_kind>(frame_payload[0]);
  return kind == status_kind::request || kind == status_kind::reply;
}

std::optional<status_frame> parse_status_frame(std::span<const std::byte> frame_payload) noexcept {
  if (!is_status_frame(frame_payload) || frame_payload.size() < fixed_bytes)
    return {};
  const auto kind = static_cast<status_kind>(frame_payload[0]);
  const auto number = load_be<std::uint32_t>(frame_payload.data() + 1);
  const auto rest = frame_payload.subspan(fixed_bytes);
  const std::string_view text{reinterpret_cast<const char*>(rest.data()), rest.size()};
  const auto longest = kind == status_kind::request ? 0 : max_status_text_bytes;
  if (text.size() > longest || !is_utf8(text))
    return {};
  return status_frame{kind, number, text};
}

std::vector<std::byte> make_status_request(std::uint32_t number) {
  return make(status_kind::request, number, {});
}

std::vector<std::byte> make_status_reply(std::uint32_t number, std::string_view text) {
  return make(status_kind::reply, number, text);
}

} // namespace pubsub::wire
