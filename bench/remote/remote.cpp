// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/report.hpp"
#include "manual/command_text.hpp"
#include "remote/remote_speed.hpp"
#include "terminal.hpp"

#include <cstdio>
#include <memory>

namespace pubsub::tool {

namespace bench {

namespace {

struct remote_bench_options {
  remote_speed_options speed;
  std::vector<std::string> only{"speed"};
  bool quick = false;
  std::string json_file;
};

std::string report_of(const remote_bench_options& options,
                      const std::vector<remote_speed_row>& rows) {
  json_object params;
  params.add("quick", options.quick)
      .add("rounds", options.speed.rounds)
      .add("workers", options.speed.workers)
      .add("conclusions", describe(conclude(rows)));
  return report_text("remote", params, describe(rows));
}

exit_code run_all(const remote_bench_options& options) {
  const stop_signal stop;
  const auto rows = run_remote_speed(options.speed, stop);
  if (rows.empty()) {
    complain("interrupted");
    return exit_code::usage;
  }
  if (options.json_file != "-") {
    print_speed(rows);
    print_conclusions("what is promised", conclude(rows));
    std::fflush(stdout);
  }
  if (!options.json_file.empty())
    if (const auto written = write_report(options.json_file, report_of(options, rows)); !written)
      return fail(written.error());
  const bool ours_failed = rows.front().rates.empty();
  return ours_failed ? exit_code::connect : exit_code::ok;
}

constexpr const char* remote_examples = R"(Examples:
  pubsub bench remote --rounds 5
  pubsub bench remote --quick --json remote.json
Operations per second on plain loopback, a server and a client each a process: NOOPs of 24 bytes
beside NATS and libzmq (each with a window of 1,000 requests, as ours) and a bare TCP ping-pong;
files of 1 MB beside a bare server that calls sendfile(2). Everybody is measured in turns. What is
not installed has a row that says so. Status 2 if ours could not be measured. How the modes of
remote execution compare on slow links is a study: `pubsub bench remote-study`.)";

void add_options(CLI::App& command, remote_bench_options& options) {
  allow_only(command.add_option("--only", options.only, "What is measured, as in the study"),
             {"speed"})
      ->delimiter(',');
  command.add_flag("--quick", options.quick, "Short measurements");
  command.add_option("--rounds", options.speed.rounds, "Measurements of each")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  command.add_option("--workers", options.speed.workers, "Threads of the server")
      ->check(CLI::Range(std::size_t{1}, std::size_t{64}))
      ->capture_default_str();
  command
      .add_option("--peers", options.speed.peers_dir,
                  "Where the programs of bench/ are [beside this one]")
      ->type_name("FOLDER");
  command
      .add_option("--json", options.json_file,
                  "Write all figures to FILE, or with - to stdout instead of the tables")
      ->type_name("FILE|-");
  command.add_flag("--progress", options.speed.progress,
                   "Show every measurement even if stderr is no terminal");
  command.footer(remote_examples);
}

} // namespace

} // namespace bench

void add_bench_remote(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::remote_bench_options>();
  auto* const command = app.add_subcommand("remote", "Remote operations per second, beside others");
  bench::add_options(*command, *options);
  command->callback([options, &outcome] {
    if (options->quick)
      options->speed.duration_s = 0.15;
    options->speed.progress |= stderr_is_terminal();
    outcome = bench::run_all(*options);
  });
}

} // namespace pubsub::tool
