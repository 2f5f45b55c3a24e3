// What a command's own description says: the one source of its help, its manual and what shells
// complete.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

namespace pubsub::tool {

/// Lets the option have one of these values only, and its help show them.
CLI::Option* allow_only(CLI::Option* option, const std::vector<std::string>& values);
/// The values of an option that may have those only; empty for other options.
std::vector<std::string> allowed_values(const CLI::Option& option);
/// What stands for a value that is a number.
inline constexpr const char* number_name = "NUMBER";
/// What stands for its value, such as FILE or NUMBER; empty for a flag.
std::string value_name(const CLI::Option& option);
bool is_flag(const CLI::Option& option);
bool is_repeatable(const CLI::Option& option);
bool names_file(const CLI::Option& option);

/// `pubsub node`, with the names of all commands above.
std::string full_name(const CLI::App& command);
/// The name of its page in the manual: `pubsub-node`.
std::string page_name(const CLI::App& command);
/// Those that the help shows, in its order.
std::vector<const CLI::App*> shown_subcommands(const CLI::App& command);
std::vector<const CLI::Option*> shown_options(const CLI::App& command);
std::vector<const CLI::Option*> shown_positionals(const CLI::App& command);

/// The footer of a help, taken apart.
struct footer_text {
  std::string heading;     ///< `Examples:`, or more than that
  std::string examples;    ///< indented lines below it, as they stand
  std::string conditions;  ///< indented lines below `Conditions:`
  std::string text;        ///< sentences, without those of the next two
  std::string signals;     ///< behind `Signals:`
  std::string exit_status; ///< behind `Exit status:`

  static footer_text of(const CLI::App& command);
};

} // namespace pubsub::tool
