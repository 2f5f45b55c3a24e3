// Conditions on the command line; `--where`: which messages a command is about.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <pubsub/condition.hpp>
#include <pubsub/error.hpp>

#include <CLI/CLI.hpp>

namespace pubsub::tool {

/// Reads those in conditions; null where RE2 was not found when this was built.
text_matcher_maker regular_expressions() noexcept;

/// Reads the condition that was given to an option. Errors: those of `condition::make`, as a
/// sentence that names the option.
expected<condition> read_condition(std::string_view option, std::string_view text,
                                   if_unknown unknown = if_unknown::no);

struct where_options {
  std::string text; ///< empty: all messages
  bool pass_unknown = false;

  /// Nothing where it is about all messages. Errors: as `read_condition`.
  expected<std::optional<condition>> read() const;
};

/// Adds `--where` and `--pass-unknown`.
void add_where_options(CLI::App& command, where_options& options);

/// How conditions are written, for the end of a help text.
extern const char* const condition_help;

} // namespace pubsub::tool
