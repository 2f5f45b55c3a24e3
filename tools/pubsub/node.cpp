// `pubsub node`: its options come from a file too, so it parses its arguments itself.
// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"

#include "node_options.hpp"
#include "rules/dry_run.hpp"
#include "running_node.hpp"
#include "terminal.hpp"

#include <memory>

#include <fmt/format.h>

namespace pubsub::tool {

void add_node(CLI::App& app) {
  auto* const command = app.add_subcommand("node");
  auto options = std::make_shared<node_options>();
  describe_node(*command, *options);
  command->callback([options] {}); // they live as long as the command
}

exit_code start_node(std::vector<std::string> arguments) {
  auto outcome = exit_code::ok;
  auto settings = parse_node(arguments, outcome);
  if (!settings)
    return outcome;
  if (settings->options.check) {
    if (const auto ok = check(settings->options); !ok) {
      complain(ok.error().message());
      return exit_code::usage;
    }
    fmt::print("all is well\n");
    return exit_code::ok;
  }
  if (!settings->options.dry_run.empty()) {
    auto found = read_rules(settings->options);
    if (!found)
      return fail(found.error());
    return dry_run(settings->options.dry_run, std::move(found->rules), found->key,
                   settings->options.log.format == event_style::json);
  }
  return running_node{std::move(arguments), std::move(*settings)}.run();
}

} // namespace pubsub::tool
