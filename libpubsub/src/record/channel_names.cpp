// SPDX-License-Identifier: BSD-3-Clause
#include "record/channel_names.hpp"

#include <charconv>

#include "format/utf8.hpp"

namespace pubsub::record {

std::string readable(std::string_view text) {
  constexpr std::string_view replacement = "\xef\xbf\xbd"; // U+FFFD
  std::string result;
  while (!text.empty()) {
    const auto size = utf8_character_bytes(text);
    result += size > 0 ? text.substr(0, size) : replacement;
    text.remove_prefix(size > 0 ? size : 1);
  }
  return result;
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    result += digits[byte >> 4];
    result += digits[byte & 15];
  }
  return result;
}

std::optional<std::string> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0)
    return std::nullopt;
  std::string result;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    unsigned char byte = 0;
    const auto* const end = digits.data() + i + 2;
    const auto [at, failure] = std::from_chars(digits.data() + i, end, byte, 16);
    if (failure != std::errc{} || at != end)
      return std::nullopt;
    result += static_cast<char>(byte);
  }
  return result;
}

} // namespace pubsub::record
