// The pages of the manual, made of the description from which the help is made, too.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "exit_code.hpp"

namespace pubsub::tool {

/// Adds `manual`, which is not shown: it writes the pages of `app` and of all commands below it
/// into a folder, as man1/NAME.1 and man5/NAME.5.
void add_manual(CLI::App& app, exit_code& outcome);

/// The page of one command, in roff.
std::string manual_page(const CLI::App& command);
/// The page about the configuration file of a command that has one.
std::string file_page(const CLI::App& command);

} // namespace pubsub::tool
