// Whether two short texts are the same.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace pubsub {

/// As `x == y`, without the call that this is: topics are compared for each message.
[[gnu::always_inline]] inline bool same_text(std::string_view x, std::string_view y) noexcept {
  const auto size = x.size();
  if (size != y.size())
    return false;
  constexpr std::size_t word = sizeof(std::uint64_t);
  if (size < word)
    return x == y;
  const auto differ_at = [&](std::size_t at) {
    std::uint64_t a;
    std::uint64_t b;
    std::memcpy(&a, x.data() + at, word);
    std::memcpy(&b, y.data() + at, word);
    return a != b;
  };
  for (std::size_t at = 0; at + word < size; at += word)
    if (differ_at(at))
      return false;
  return !differ_at(size - word);
}

} // namespace pubsub
