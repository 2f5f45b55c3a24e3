// SPDX-License-Identifier: BSD-3-Clause
#include "top/keys.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace pubsub::tool {

namespace {

constexpr char escape_byte = '\x1b';

struct named_sequence {
  std::string_view rest; ///< behind the introducer, ESC [ or ESC O
  key what;
};

constexpr auto sequences = std::to_array<named_sequence>({
    {"A", key::up},
    {"B", key::down},
    {"C", key::right},
    {"D", key::left},
    {"H", key::home},
    {"F", key::end},
    {"1~", key::home},
    {"4~", key::end},
    {"5~", key::page_up},
    {"6~", key::page_down},
    {"7~", key::home},
    {"8~", key::end},
});

std::optional<key_press> single_key(char c) {
  switch (c) {
  case '\r':
  case '\n':
    return key_press{key::enter};
  case '\t':
    return key_press{key::tab};
  case '\x7f':
  case '\b':
    return key_press{key::backspace};
  default:
    break;
  }
  const bool visible = static_cast<unsigned char>(c) >= 0x20;
  return visible ? std::optional{key_press{key::character, c}} : std::nullopt;
}

bool is_final(char c) {
  return c >= 0x40 && c <= 0x7e;
}

/// The bytes of the sequence at the front; 0: its end is missing. ESC and a letter is the key with
/// Alt, which means nothing here.
std::size_t sequence_bytes(std::string_view bytes) {
  if (bytes.size() < 2)
    return 0;
  if (bytes[1] != '[' && bytes[1] != 'O')
    return bytes[1] == escape_byte ? 1 : 2;
  const auto end = std::ranges::find_if(bytes.substr(2), is_final);
  const auto before = static_cast<std::size_t>(end - bytes.substr(2).begin());
  return before + 2 == bytes.size() ? 0 : before + 3;
}

} // namespace

std::vector<key_press> take_keys(std::string& bytes, bool complete) {
  std::vector<key_press> result;
  std::string_view left = bytes;
  while (!left.empty()) {
    std::size_t used = 1;
    if (left.front() != escape_byte) {
      if (const auto pressed = single_key(left.front()))
        result.push_back(*pressed);
    } else if (used = sequence_bytes(left); used > 2) {
      const auto* const found =
          std::ranges::find(sequences, left.substr(2, used - 2), &named_sequence::rest);
      if (found != sequences.end())
        result.push_back({found->what});
    } else if (used < 2) {
      if (used == 0 && !complete)
        break;
      result.push_back({key::escape});
      used = used == 0 ? left.size() : 1;
    }
    left.remove_prefix(used);
  }
  bytes.erase(0, bytes.size() - left.size());
  return result;
}

} // namespace pubsub::tool
