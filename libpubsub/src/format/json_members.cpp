#include "format/json_members.hpp"

#include "format/utf8.hpp"

namespace pubsub {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd"; // U+FFFD

void append_control(std::string& out, unsigned char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += "\\u00";
  out += digits[c >> 4];
  out += digits[c & 15];
}

} // namespace

std::string json_string(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const auto size = utf8_character_bytes(text);
    const auto c = static_cast<unsigned char>(text[0]);
    if (size == 0)
      result += replacement;
    else if (c < 0x20 || c == 0x7f)
      append_control(result, c);
    else if (c == '"' || c == '\\')
      (result += '\\') += text[0];
    else
      result += text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return result + '"';
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
