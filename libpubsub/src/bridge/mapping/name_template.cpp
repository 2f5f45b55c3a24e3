// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/mapping/name_template.hpp"

namespace pubsub::bridge {

namespace {

error wrong(std::string_view text, std::string what) {
  return {errc::invalid_argument, "'" + std::string{text} + "': " + std::move(what)};
}

std::string list_of(std::span<const std::string_view> variables) {
  std::string result;
  for (const auto& each : variables)
    result += (result.empty() ? "{" : ", {") + std::string{each} + '}';
  return result;
}

} // namespace

expected<name_template> name_template::parse(std::string_view text,
                                             std::span<const std::string_view> variables) {
  if (text.empty())
    return wrong(text, "a name is not empty");
  name_template result;
  for (auto rest = text; !rest.empty();) {
    const auto open = rest.find_first_of("{}");
    piece next{std::string{rest.substr(0, open)}};
    if (open != std::string_view::npos) {
      const auto close = rest.find('}', open);
      if (rest[open] == '}' || close == std::string_view::npos)
        return wrong(text, "a brace without the other one");
      const auto name = rest.substr(open + 1, close - open - 1);
      const auto found = std::ranges::find(variables, name);
      if (found == variables.end())
        return wrong(text, "{" + std::string{name} + "} is none of " + list_of(variables));
      next.variable = static_cast<std::size_t>(found - variables.begin());
      rest.remove_prefix(close + 1);
    } else {
      rest = {};
    }
    result.pieces_.push_back(std::move(next));
  }
  return result;
}

} // namespace pubsub::bridge
