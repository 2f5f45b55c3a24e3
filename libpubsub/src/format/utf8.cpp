// SPDX-License-Identifier: BSD-3-Clause
#include "format/utf8.hpp"

#include <cstdint>

namespace pubsub {

namespace {

struct lead {
  std::size_t bytes;
  std::uint32_t bits;  // of the character
  std::uint32_t least; // a smaller one would have been written shorter
};

lead read_lead(unsigned char c) noexcept {
  if (c < 0x80)
    return {1, c, 0};
  if ((c & 0xe0) == 0xc0)
    return {2, c & 0x1fU, 0x80};
  if ((c & 0xf0) == 0xe0)
    return {3, c & 0x0fU, 0x800};
  if ((c & 0xf8) == 0xf0)
    return {4, c & 0x07U, 0x10000};
  return {0, 0, 0};
}

} // namespace

std::size_t utf8_character_bytes(std::string_view text) noexcept {
  if (text.empty())
    return 0;
  auto [bytes, character, least] = read_lead(static_cast<unsigned char>(text[0]));
  if (bytes > text.size())
    return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c & 0xc0) != 0x80)
      return 0;
    character = character << 6 | (c & 0x3fU);
  }
  const bool surrogate = character >= 0xd800 && character <= 0xdfff;
  return character < least || character > 0x10ffff || surrogate ? 0 : bytes;
}

} // namespace pubsub
