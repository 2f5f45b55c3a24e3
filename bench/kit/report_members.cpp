// SPDX-License-Identifier: BSD-3-Clause
#include "kit/report_members.hpp"

#include <charconv>
#include <system_error>

#include <fmt/format.h>

namespace pubsub::tool::bench {

namespace {

std::string_view text_after(std::string_view json, std::string_view name) {
  auto key = fmt::format("\"{}\":", name);
  auto at = json.find(key);
  return at == json.npos ? std::string_view{} : json.substr(at + key.size());
}

} // namespace

double number_member(std::string_view json, std::string_view name) {
  auto text = text_after(json, name);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string string_member(std::string_view json, std::string_view name) {
  auto text = text_after(json, name);
  if (!text.starts_with('"'))
    return {};
  text.remove_prefix(1);
  return std::string{text.substr(0, text.find('"'))};
}

std::vector<double> number_list_member(std::string_view json, std::string_view name) {
  auto text = text_after(json, name);
  std::vector<double> numbers;
  while (text.starts_with('[') || text.starts_with(',')) {
    text.remove_prefix(1);
    double value = 0;
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{})
      break;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    numbers.push_back(value);
  }
  return numbers;
}

} // namespace pubsub::tool::bench
