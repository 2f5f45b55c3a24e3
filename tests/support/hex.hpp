// Bytes written as hex digits, blanks allowed.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pubsub::test {

using buffer = std::vector<std::byte>;

inline buffer from_hex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  buffer out;
  out.reserve(hex.size() / 2);
  for (std::size_t at = 0; at < hex.size();) {
    if (hex[at] == ' ') {
      ++at;
      continue;
    }
    out.push_back(static_cast<std::byte>(digit(hex[at]) << 4 | digit(hex[at + 1])));
    at += 2;
  }
  return out;
}

inline std::string text_from_hex(std::string_view hex) {
  const auto bytes = from_hex(hex);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace pubsub::test
