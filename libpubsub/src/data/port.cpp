// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/value/port.hpp>

#include "data/scalar_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace pubsub {

namespace {

// Indexed by the wire number of the protocol.
constexpr std::array<std::string_view, 4> protocol_names{"?", "tcp", "udp", "icmp"};

std::optional<transport> parse_protocol(std::string_view name) noexcept {
  for (std::size_t i = 0; i < protocol_names.size(); ++i)
    if (protocol_names[i] == name)
      return static_cast<transport>(i);
  if (name == "unknown")
    return transport::unknown;
  return std::nullopt;
}

} // namespace

expected<port> port::parse(std::string_view text) {
  const auto* last = text.data() + text.size();
  std::uint16_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), last, number);
  if (code == std::errc{} && end == last)
    return port{number, transport::tcp};
  if (code == std::errc{} && *end == '/')
    if (const auto protocol = parse_protocol({end + 1, last}))
      return port{number, *protocol};
  return error{errc::conversion_failed, "not a port: " + std::string{text}};
}

char* write_text(char* out, const port& x) noexcept {
  out = std::to_chars(out, out + 5, x.number()).ptr;
  *out++ = '/';
  const auto index = static_cast<std::size_t>(x.protocol());
  const auto name = index < protocol_names.size() ? protocol_names[index] : protocol_names[0];
  return std::copy(name.begin(), name.end(), out);
}

std::string to_string(const port& x) {
  char buffer[max_scalar_text_bytes];
  return {buffer, write_text(buffer, x)};
}

} // namespace pubsub
