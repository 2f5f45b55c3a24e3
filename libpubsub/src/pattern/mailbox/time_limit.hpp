// Until when to wait.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace pubsub::pattern {

/// Without a timeout as long as it takes.
using time_limit = std::optional<std::chrono::steady_clock::time_point>;

inline time_limit limit_after(std::optional<std::chrono::nanoseconds> timeout) {
  constexpr std::chrono::nanoseconds longest = std::chrono::hours{24 * 365};
  if (!timeout)
    return {};
  return std::chrono::steady_clock::now() + std::min(*timeout, longest);
}

} // namespace pubsub::pattern
