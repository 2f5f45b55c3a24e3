// What the addresses of clusters are made of.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace pubsub::cluster {

/// Takes what comes before the next `separator` off the front.
inline std::string_view take_until(char separator, std::string_view& text) noexcept {
  const auto at = text.find(separator);
  const auto result = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
  return result;
}

/// Whether the text is a number from 1 to 65535.
inline bool is_port(std::string_view text) noexcept {
  std::uint16_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, number);
  return failed == std::errc{} && stopped == end && number > 0;
}

} // namespace pubsub::cluster
