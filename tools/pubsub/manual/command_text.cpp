// SPDX-License-Identifier: BSD-3-Clause
#include "manual/command_text.hpp"

#include <algorithm>
#include <sstream>

namespace pubsub::tool {

namespace {

template <class Things>
auto keep_shown(Things all, bool positional) {
  std::erase_if(all, [&](const auto* each) {
    return each->get_group().empty() || each->get_positional() != positional;
  });
  return all;
}

/// Cuts what follows the word off the text; empty if the word is not there.
std::string cut_behind(std::string& text, std::string_view word) {
  const auto begin = text.find(word);
  if (begin == std::string::npos)
    return {};
  auto result = text.substr(begin + word.size());
  text.erase(begin > 0 ? begin - 1 : begin); // with the space before it
  return result;
}

} // namespace

CLI::Option* allow_only(CLI::Option* option, const std::vector<std::string>& values) {
  return option->check(CLI::IsMember(values).description(""))
      ->type_name("{" + CLI::detail::join(values) + "}");
}

std::vector<std::string> allowed_values(const CLI::Option& option) {
  const auto type = option.get_type_name();
  const auto begin = type.find('{');
  const auto end = type.find('}');
  if (is_flag(option) || begin == std::string::npos || end == std::string::npos)
    return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

std::string value_name(const CLI::Option& option) {
  if (is_flag(option))
    return "";
  // What is checked stands behind: FLOAT:POSITIVE, UINT:UINT in [1 - 2], MODE:{both,pub}.
  const auto type = option.get_type_name();
  const auto range = type.find(" in [");
  const auto end = std::min({type.find(":POSITIVE"), type.find(":NONNEGATIVE"), type.find(":{"),
                             range == std::string::npos ? range : type.rfind(':', range)});
  const auto name = type.substr(0, end);
  return name == "FLOAT" || name == "UINT" || name == "INT" ? number_name : name;
}

bool is_flag(const CLI::Option& option) {
  return option.get_items_expected_max() == 0;
}

bool is_repeatable(const CLI::Option& option) {
  return option.get_items_expected_max() > 1;
}

bool names_file(const CLI::Option& option) {
  const auto name = value_name(option);
  return name == "FILE" || name == "PATH" || name == "FOLDER";
}

std::string full_name(const CLI::App& command) {
  const auto* const parent = command.get_parent();
  return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

std::string page_name(const CLI::App& command) {
  auto result = full_name(command);
  std::ranges::replace(result, ' ', '-');
  return result;
}

std::vector<const CLI::App*> shown_subcommands(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}

std::vector<const CLI::Option*> shown_options(const CLI::App& command) {
  return keep_shown(command.get_options(), false);
}

std::vector<const CLI::Option*> shown_positionals(const CLI::App& command) {
  return keep_shown(command.get_options(), true);
}

footer_text footer_text::of(const CLI::App& command) {
  footer_text result;
  auto* indented = &result.examples;
  std::istringstream lines{command.get_footer()};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Examples") && line.ends_with(':'))
      result.heading = line;
    else if (line == "Conditions:")
      indented = &result.conditions;
    else if (line.starts_with(' '))
      *indented += line + "\n";
    else
      result.text += (result.text.empty() ? "" : " ") + line;
  }
  result.exit_status = cut_behind(result.text, "Exit status: ");
  result.signals = cut_behind(result.text, "Signals: ");
  return result;
}

} // namespace pubsub::tool
