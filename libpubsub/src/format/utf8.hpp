// What is UTF-8 and what is not (RFC 3629): topics and strings may be any bytes, JSON may not.
// Exported: what writes recordings may be a shared library of its own.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>

#include <pubsub/export.hpp>

namespace pubsub {

/// Bytes of the character at the beginning of `text`; 0 if there is none.
PUBSUB_EXPORT std::size_t utf8_character_bytes(std::string_view text) noexcept;

inline bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto size = utf8_character_bytes(text);
    if (size == 0)
      return false;
    text.remove_prefix(size);
  }
  return true;
}

} // namespace pubsub
