// SPDX-License-Identifier: BSD-3-Clause
#include "json_object.hpp"

#include <cmath>

#include <fmt/format.h>

namespace pubsub::tool {

namespace {

std::string quote(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      (result += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      result += c;
  }
  return result + '"';
}

std::string number_text(double x) {
  return std::isfinite(x) ? fmt::format("{}", x) : "null";
}

} // namespace

json_object& json_object::add(std::string_view name, std::string_view text) {
  return add_raw(name, quote(text));
}

json_object& json_object::add(std::string_view name, double number) {
  return add_raw(name, number_text(number));
}

json_object& json_object::add(std::string_view name, const std::vector<double>& numbers) {
  std::string list;
  for (auto x : numbers)
    list += (list.empty() ? "" : ",") + number_text(x);
  return add_raw(name, "[" + list + "]");
}

json_object& json_object::add(std::string_view name, const std::vector<std::string>& texts) {
  std::string list;
  for (const auto& x : texts)
    list += (list.empty() ? "" : ",") + quote(x);
  return add_raw(name, "[" + list + "]");
}

json_object& json_object::add(std::string_view name, const std::vector<json_object>& objects) {
  std::string list;
  for (const auto& x : objects)
    list += (list.empty() ? "" : ",") + x.text();
  return add_raw(name, "[" + list + "]");
}

json_object& json_object::add_raw(std::string_view name, std::string_view value) {
  if (!members_.empty())
    members_ += ',';
  members_ += quote(name);
  members_ += ':';
  members_ += value;
  return *this;
}

} // namespace pubsub::tool
