// Options of a command in a TOML file: each key is the name of an option.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include <pubsub/error.hpp>

namespace pubsub::tool {

/// The option whose value is the file.
inline constexpr const char* config_option = "--config";
/// The keys of tables that are no options: rules for messages (rules/rule.hpp), and bridges to
/// engines (bridges/bridges_file.cpp).
inline constexpr std::string_view rules_key = "rule";
inline constexpr std::string_view bridges_key = "bridge";
/// Whether the option may be a key.
bool belongs_in_file(const CLI::Option& option);

/// One key of the file.
struct config_entry {
  std::string option;                 ///< its name on the command line, with the dashes
  std::vector<std::string> arguments; ///< what would stand there on the command line
};

/// The keys of the file, each checked by itself as an argument of the command that `make_command`
/// makes. `_` in a key counts as `-`; a list stands for an option that is repeated. Errors:
/// cannot_open_file; invalid_argument, whose context says file, line and key; not_supported in a
/// build without toml++.
expected<std::vector<config_entry>> read_config(const std::string& path,
                                                const std::function<void(CLI::App&)>& make_command);

/// A table of the file, such as one of [[bridge]].
struct config_table {
  std::string name;                  ///< the value of its key `name`
  std::string kind;                  ///< of the key that says what it is
  std::vector<config_entry> entries; ///< all other keys
  std::string place;                 ///< `file:line`
};

/// The tables of this key, each with a `name` that no other one has and `kind_key`. What other keys
/// may be there `make_command` says, by the kind; null: there is no such kind. Errors: as
/// `read_config`.
expected<std::vector<config_table>> read_config_tables(
    const std::string& path, std::string_view key, std::string_view kind_key,
    const std::function<std::function<void(CLI::App&)>(const std::string& kind)>& make_command);

/// Parses arguments as if they were all that was given. Throws CLI::ParseError.
void parse(CLI::App& command, const std::vector<std::string>& arguments);

/// The names of the options that are among these arguments, with the dashes.
std::set<std::string> options_given(const std::vector<std::string>& arguments);
/// What follows the option, or is its value behind `=`; empty if the option is not there.
std::string value_of(std::string_view option, const std::vector<std::string>& arguments);

} // namespace pubsub::tool
