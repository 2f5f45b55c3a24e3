// The subcommands; each adds its options to `app` and stores its outcome when it has run.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "exit_code.hpp"

namespace pubsub::tool {

void add_pub(CLI::App& app, exit_code& outcome);
void add_sub(CLI::App& app, exit_code& outcome);
void add_ping(CLI::App& app, exit_code& outcome);
void add_status(CLI::App& app, exit_code& outcome);
void add_trace(CLI::App& app, exit_code& outcome);
void add_top(CLI::App& app, exit_code& outcome);
void add_tap(CLI::App& app, exit_code& outcome);
void add_butterfly(CLI::App& app, exit_code& outcome);
void add_log_writer(CLI::App& app, exit_code& outcome);
void add_zeek_proxy(CLI::App& app, exit_code& outcome);
void add_bridge(CLI::App& app, exit_code& outcome);
void add_record(CLI::App& app, exit_code& outcome);
void add_replay(CLI::App& app, exit_code& outcome);
void add_info(CLI::App& app, exit_code& outcome);
/// Only described: `run` starts the node, which parses its arguments itself.
void add_node(CLI::App& app);
exit_code start_node(std::vector<std::string> arguments);
/// Only named: `run` starts pubsub-bench before arguments are parsed.
void add_bench(CLI::App& app);
/// Becomes pubsub-bench with these arguments; returns if that is not there, after saying so.
exit_code start_bench(char** arguments);

} // namespace pubsub::tool
