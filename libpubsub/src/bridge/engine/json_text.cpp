// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/engine/json_text.hpp"

#include <cstdint>

namespace pubsub::bridge {

namespace {

std::uint32_t bits(char c) {
  return static_cast<unsigned char>(c);
}

/// Bytes of the character that the text begins with; 0 if it is not UTF-8 (shortest form, no
/// surrogates, at most U+10FFFF).
std::size_t length_of_character(std::string_view text) {
  const auto first = bits(text[0]);
  if (first < 0x80)
    return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length)
    return 0;
  std::uint32_t point = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((bits(text[i]) & 0xC0) != 0x80)
      return 0;
    point = (point << 6) | (bits(text[i]) & 0x3F);
  }
  const bool too_long = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  return too_long || surrogate || point > 0x10FFFF ? 0 : length;
}

} // namespace

void append_json_string(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    const auto length = length_of_character(text);
    const char c = text[0];
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (length == 1 && bits(c) < 0x20) {
      out += "\\u00";
      out += digits[bits(c) >> 4];
      out += digits[bits(c) & 15];
    } else {
      if (c == '"' || c == '\\')
        out += '\\';
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

} // namespace pubsub::bridge
