#include "wire/native/status_frame.hpp"

#include "base/bytes.hpp"
#include "format/utf8.hpp"
#include "wire/native/frame_writer.hpp"

namespace pubsub::wire {

namespace {

constexpr std::size_t fixed_bytes = 5; // kind and number

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
  frame_writer out{status_kind::request};
  out.add(number);
  return out.finish();
}

std::vector<std::byte> make_status_reply(std::uint32_t number, std::string_view text) {
  frame_writer out{status_kind::reply};
  out.add(number).add_bytes(std::as_bytes(std::span{text}));
  return out.finish();
}

} // namespace pubsub::wire
