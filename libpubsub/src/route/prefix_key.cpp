// SPDX-License-Identifier: BSD-3-Clause
#include "route/prefix_key.hpp"

#include <bit>

namespace pubsub {

namespace {

/// Of every byte, so that the compiler may look at many at a time.
bool has_special(std::string_view text) noexcept {
  bool result = false;
  for (const char c : text)
    result |= static_cast<unsigned char>(c) < 2;
  return result;
}

} // namespace

std::string_view key_text(std::string_view topic, std::string& storage) {
  if (!has_special(topic))
    return topic;
  storage.clear();
  for (const char c : topic) {
    const bool special = static_cast<unsigned char>(c) < 2;
    if (special)
      storage += '\1';
    storage += special ? static_cast<char>(c + 1) : c;
  }
  return storage;
}

std::string prefix_key(std::string_view prefix, std::uint64_t who) {
  std::string storage;
  const auto text = key_text(prefix, storage);
  const int bytes = (static_cast<int>(std::bit_width(who)) + 7) / 8;
  std::string result;
  result.reserve(text.size() + 2 + static_cast<std::size_t>(bytes));
  result += text;
  result += key_end;
  result += static_cast<char>(bytes);
  for (auto shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    result += static_cast<char>(who >> shift);
  return result;
}

} // namespace pubsub
