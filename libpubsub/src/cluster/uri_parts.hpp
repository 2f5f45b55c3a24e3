// What the addresses of clusters are made of.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
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

/// Printable, without blanks: what can stand in a line of HTTP.
inline bool is_word(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

/// Nothing where the text is no number from 0 to 65535.
inline std::optional<std::uint16_t> read_port(std::string_view text) noexcept {
  std::uint16_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc{} || stopped != end)
    return {};
  return number;
}

/// Whether the text is a port to connect to: a number from 1 to 65535.
inline bool is_port(std::string_view text) noexcept {
  return read_port(text).value_or(0) != 0;
}

} // namespace pubsub::cluster
