// What is there in place of the commands that record and replay where they cannot be built.
// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"

#include "terminal.hpp"

#include <fmt/format.h>

namespace pubsub::tool {

namespace {

void add_left_out(CLI::App& app, exit_code& outcome, const char* name) {
  auto* const command = app.add_subcommand(name);
  command->group("")->allow_extras();
  command->callback([name, &outcome] {
    complain(fmt::format("{} needs zstd, which was not there when this was built (Debian: "
                         "libzstd-dev)",
                         name));
    outcome = exit_code::usage;
  });
}

} // namespace

void add_record(CLI::App& app, exit_code& outcome) {
  add_left_out(app, outcome, "record");
}

void add_replay(CLI::App& app, exit_code& outcome) {
  add_left_out(app, outcome, "replay");
}

void add_info(CLI::App& app, exit_code& outcome) {
  add_left_out(app, outcome, "info");
}

} // namespace pubsub::tool
