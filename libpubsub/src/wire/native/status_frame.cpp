#include "wire/native/status_frame.hpp"

#include "format/utf8.hpp"

namespace pubsub::wire {

std::optional<status_frame> parse_status_frame(std::span<const std::byte> frame_payload) noexcept {
  constexpr std::size_t fixed_bytes = 5; // kind and number
  const auto kind = kind_of(frame_payload);
  const bool request = kind == frame_kind::status_request;
  if ((!request && kind != frame_kind::status_reply) || frame_payload.size() < fixed_bytes)
    return {};
  const auto number = load_be<std::uint32_t>(frame_payload.data() + 1);
  const auto rest = frame_payload.subspan(fixed_bytes);
  const std::string_view text{reinterpret_cast<const char*>(rest.data()), rest.size()};
  if (text.size() > (request ? 0 : max_status_text_bytes) || !is_utf8(text))
    return {};
  return status_frame{*kind, number, text};
}

std::vector<std::byte> make_status_request(std::uint32_t number) {
  return make_frame(frame_kind::status_request, number);
}

std::vector<std::byte> make_status_reply(std::uint32_t number, std::string_view text) {
  frame_writer out{frame_kind::status_reply};
  out.add(number).add_bytes(std::as_bytes(std::span{text}));
  return out.finish();
}

} // namespace pubsub::wire
