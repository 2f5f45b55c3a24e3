// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/jetstream/subject.hpp"

#include <algorithm>

namespace pubsub::bridge {

namespace {

/// A line of NATS' protocol may have 4096 bytes, of which a reply subject needs some.
constexpr std::size_t longest_subject = 2048;
constexpr std::size_t longest_name = 255;

bool is_control(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == 0x7F;
}

bool is_part(std::string_view part, bool wildcards, bool last) {
  if (part.empty())
    return false;
  if (wildcards && (part == "*" || (part == ">" && last)))
    return true;
  return std::ranges::none_of(part, [](char c) { return is_control(c) || c == '*' || c == '>'; });
}

bool are_parts(std::string_view text, bool wildcards) {
  if (text.size() > longest_subject || text.starts_with('$'))
    return false;
  while (true) {
    const auto dot = std::min(text.find('.'), text.size());
    const bool last = dot == text.size();
    if (!is_part(text.substr(0, dot), wildcards, last))
      return false;
    if (last)
      return true;
    text.remove_prefix(dot + 1);
  }
}

} // namespace

bool is_subject(std::string_view text) noexcept {
  return are_parts(text, false);
}

bool is_filter(std::string_view text) noexcept {
  return are_parts(text, true);
}

std::string to_subject(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c == '/' || c == '.') {
      if (!result.empty() && result.back() != '.')
        result += '.';
    } else {
      const bool allowed = !is_control(c) && c != '*' && c != '>' && (c != '$' || !result.empty());
      result += allowed ? c : '_';
    }
  }
  if (result.ends_with('.'))
    result.pop_back();
  return result.size() <= longest_subject ? result : std::string{};
}

bool is_asset_name(std::string_view text) noexcept {
  return !text.empty() && text.size() <= longest_name && std::ranges::none_of(text, [](char c) {
    return is_control(c) || c == '.' || c == '*' || c == '>' || c == '/' || c == '\\';
  });
}

} // namespace pubsub::bridge
