// What a shell completes: the words come from the description from which the help is made, too.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/App.hpp>

#include "exit_code.hpp"

namespace pubsub::tool {

/// The command, not shown, that the scripts of `completion` start with the words written so far.
inline constexpr const char* complete_command = "complete";

/// Adds `completion`, which prints the script for a shell.
void add_completion(CLI::App& app);

/// Prints what the last of the words (`pubsub complete WORD...`) may become: a line `words`, then a
/// word a line, with what it means behind a tab; or the line `files` where a file is named.
exit_code complete(const CLI::App& app, int argc, char** argv);

} // namespace pubsub::tool
