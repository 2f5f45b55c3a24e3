// SPDX-License-Identifier: BSD-3-Clause
#include "format/json_members.hpp"

#include "format/utf8.hpp"

#include <algorithm>

namespace pubsub {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd"; // U+FFFD

/// ASCII that stays as it is; most strings have nothing else.
constexpr bool is_plain(char c) noexcept {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

void append_control(std::string& out, unsigned char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += "\\u00";
  out += digits[c >> 4];
  out += digits[c & 15];
}

} // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto plain =
        static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty())
      break;
    const auto size = utf8_character_bytes(text);
    const auto c = static_cast<unsigned char>(text[0]);
    if (size == 0)
      out += replacement;
    else if (c < 0x20 || c == 0x7f)
      append_control(out, c);
    else if (c == '"' || c == '\\')
      (out += '\\') += text[0];
    else
      out += text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  out += '"';
}

std::string json_string(std::string_view text) {
  std::string result;
  append_json_string(result, text);
  return result;
}

std::string json_list(const std::vector<std::string>& values) {
  std::string result;
  for (const auto& each : values)
    result += (result.empty() ? "" : ",") + each;
  return "[" + result + "]";
}

json_members& json_members::add_value(std::string_view name, std::string_view value) {
  if (!members_.empty())
    members_ += ',';
  members_ += json_string(name);
  members_ += ':';
  members_ += value;
  return *this;
}

} // namespace pubsub
