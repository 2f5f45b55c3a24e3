// An emulated link as a process of its own, for `remote-study`. It reports `port N` on stdout, and
// becomes another network when a line on stdin names one.
// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/child_report.hpp"
#include "terminal.hpp"

#include "studies/emulator/link_emulator.hpp"

#include <iostream>
#include <memory>
#include <stdexcept>

namespace pubsub::tool {

namespace bench {

namespace {

struct link_part_options {
  std::string to;
  std::string network;
};

exit_code be_link(const link_part_options& options) {
  const stop_signal stop; // Ctrl-C is for the parent
  auto settings = emulator::link_profile(options.network);
  if (!settings)
    return fail({errc::invalid_argument, "no network '" + options.network + "'"});
  try {
    emulator::link_emulator link{"127.0.0.1:0", options.to, *settings,
                                 emulator::measure_own_costs()};
    report_line("port", std::to_string(link.port()));
    for (std::string line; std::getline(std::cin, line);)
      if ((settings = emulator::link_profile(line)))
        link.change(*settings);
  } catch (const std::runtime_error& why) {
    return fail({errc::cannot_listen, why.what()});
  }
  return exit_code::ok;
}

} // namespace

} // namespace bench

void add_bench_link_part(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::link_part_options>();
  auto* const command = app.add_subcommand("link-part", "A link (started by remote-study)");
  command->group(""); // not shown
  command->add_option("--to", options->to);
  command->add_option("--network", options->network);
  command->callback([options, &outcome] { outcome = bench::be_link(*options); });
}

} // namespace pubsub::tool
