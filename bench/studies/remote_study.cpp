// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/picture.hpp"
#include "kit/report.hpp"
#include "manual/command_text.hpp"
#include "studies/kept_awake.hpp"
#include "studies/remote_adapt.hpp"
#include "studies/remote_conclusions.hpp"
#include "studies/remote_run.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace pubsub::tool {

namespace bench {

namespace {

struct remote_study_options {
  std::vector<std::string> networks{"loopback", "lan", "wan"};
  std::vector<std::string> only; ///< of grid, adapt; empty: grid
  remote_run_options run;
  bool adapt = false;
  bool quick = false;
  bool power_saving = false; ///< idle processors may fall asleep
  std::string json_file;
  std::string csv_file;
  std::string plot_file;

  bool wants(const std::string& part) const {
    if (only.empty())
      return part != "adapt" || adapt;
    return std::ranges::find(only, part) != only.end();
  }
  /// Whether tables go to stdout.
  bool tables() const { return json_file != "-" && csv_file != "-"; }
};

class remote_study {
public:
  remote_study(const remote_study_options& options, const stop_signal& stop)
      : options_(options), stop_(stop) {}

  /// False if a stop came.
  bool run() {
    if (options_.wants("grid"))
      for (const auto& network : options_.networks)
        if (!run_remote_grid(network, options_.run, stop_, grid_) || !go_on(grid_.failure))
          return false;
    if (options_.wants("adapt") && !stop_.requested()) {
      adapted_ = run_remote_adapt(options_.run.workers, stop_);
      return go_on(adapted_.failure);
    }
    return !stop_.requested();
  }

  void print() const {
    if (!grid_.cells.empty()) {
      print_parameters(grid_.parameters);
      fmt::print("\nseconds [what the model says, divided by them]; ~: by the model only\n");
      print_remote(grid_.cells);
    }
    if (!adapted_.rows.empty())
      print_adapt(adapted_.rows);
    print_conclusions("the document's conclusions, and ours", conclusions());
  }

  std::string report(json_object params) const {
    params.add("conditions", describe(grid_.parameters))
        .add("conclusions", describe(conclusions()));
    auto all = describe(grid_.cells);
    for (auto& each : describe(adapted_.rows))
      all.push_back(std::move(each));
    return report_text("remote", params, all);
  }
  std::string csv() const { return csv_of(grid_.cells); }
  /// Whether a network could not be made, or operations failed.
  bool failed() const {
    for (const auto& cell : grid_.cells)
      for (const auto& row : cell.rows)
        if (!row.note.empty())
          return true;
    return failed_;
  }

private:
  bool go_on(std::string& failure) {
    if (!failure.empty())
      complain(failure);
    failed_ |= !failure.empty();
    failure.clear();
    return !stop_.requested();
  }

  std::vector<remote_conclusion> conclusions() const {
    std::vector<remote_conclusion> all;
    if (!grid_.cells.empty())
      all = conclude(grid_.cells);
    if (!adapted_.rows.empty())
      all.push_back(conclude(adapted_.rows));
    return all;
  }

  const remote_study_options& options_;
  const stop_signal& stop_;
  remote_grid_result grid_;
  remote_adapt_result adapted_;
  bool failed_ = false;
};

json_object params_of(const remote_study_options& options, const kept_awake& awake) {
  json_object params;
  params.add("quick", options.quick)
      .add("rounds", options.run.rounds)
      .add("patience_s", options.run.patience_s)
      .add("workers", options.run.workers)
      .add("kept_awake", awake.in_effect());
  return params;
}

exit_code save_csv(const std::string& file, const std::string& text) {
  if (file.empty())
    return exit_code::ok;
  const auto written = write_report(file, text);
  return written ? exit_code::ok : fail(written.error());
}

exit_code run_all(const remote_study_options& options) {
  stop_signal stop;
  const kept_awake awake{!options.power_saving};
  remote_study all{options, stop};
  const bool whole = all.run();
  if (options.tables()) {
    fmt::print("{}\n", awake.text());
    all.print();
  }
  std::fflush(stdout);
  if (!whole) {
    complain("interrupted: the figures are those until then");
    return exit_code::usage;
  }
  auto outcome = save_csv(options.csv_file, all.csv());
  if (const auto saved = save_and_draw(all.report(params_of(options, awake)), options.json_file,
                                       options.plot_file);
      saved != exit_code::ok)
    outcome = saved;
  return all.failed() ? exit_code::connect : outcome;
}

constexpr const char* remote_examples = R"(Examples:
  pubsub bench remote-study --quick
      a reduced grid on all networks: less than a minute
  pubsub bench remote-study --json remote.json --csv remote.csv --plot remote.png
      all of it, in about half an hour
  pubsub bench remote-study --network wan --rounds 1
  pubsub bench remote-study --only adapt
      the link changes from lan to wan under a load, and back
A server and a client, each a process here, and between them a link emulator: lan has a round-trip
time of 0.1 ms and 5 Gb/s, wan 40 ms, 40 Mb/s to the server and 7 Mb/s to the client; loopback is
without. NOOP delivers zeros, FAOP a part of a file. Of every cell the modes are measured in turns;
short measurements are repeated, and what is shown is the median. A client of each mode is kept on a
network, and auto is told nothing: it knows what it has learned. In the tables 0.0123 [0.97] are
seconds, and what the models say divided by them; ~12.3 is what the models say where that is more
than --patience; the table of parts has patience for four times as long. The models are those of the
article (Python: libpubsub.models), told what was measured on the same link before: the round-trip
time, the bandwidths, and what a request and an operation take. "auto/best": in each round the
time of auto divided by that of the best mode that is fixed, the median. Every cell is measured
as often as every other. Then come the article's conclusions, and what is promised of auto and models, each with
its figures. Where it may (as a rule, as root) the command keeps idle processors awake meanwhile: how
long it takes to wake one differs from time to time. Status 2 if something was not measured.)";

void add_kinds(CLI::App& command, remote_study_options& options) {
  allow_only(command.add_option("--network", options.networks, "Links to measure on [all]"),
             {"loopback", "lan", "wan"})
      ->delimiter(',');
  allow_only(command.add_option("--only", options.only, "What is measured [grid]"),
             {"grid", "adapt"})
      ->delimiter(',');
  command.add_flag("--adapt", options.adapt, "Measure, too, how auto follows a link that changes");
  command.add_flag("--quick", options.quick,
                   "A reduced grid: fewer cells, shorter rounds, and patience for a second");
  command.add_flag("--full", options.run.full,
                   "Measure what takes longer than --patience, too: takes hours");
}

void add_options(CLI::App& command, remote_study_options& options) {
  add_kinds(command, options);
  command.add_option("--rounds", options.run.rounds, "Measurements of each mode in a cell")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  command
      .add_option("--patience", options.run.patience_s,
                  "Seconds: what takes longer by the model is not measured")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  command.add_option("--workers", options.run.workers, "Threads of the server")
      ->check(CLI::Range(std::size_t{1}, std::size_t{64}))
      ->capture_default_str();
  command
      .add_option("--json", options.json_file,
                  "Write all figures to FILE, or with - to stdout instead of the tables")
      ->type_name("FILE|-");
  command.add_option("--csv", options.csv_file, "Those of the grid, a line a mode in a cell")
      ->type_name("FILE|-");
  command
      .add_option("--plot", options.plot_file,
                  "Draw the grid to FILE; without --json FILE the figures are kept in FILE.json")
      ->type_name("FILE");
  command.add_flag("--power-saving", options.power_saving,
                   "Let idle processors fall asleep, as they do while nobody measures");
  command.add_flag("--progress", options.run.progress,
                   "Show every cell even if stderr is no terminal");
  command.footer(remote_examples);
}

/// What was not asked for otherwise. Many short rounds: a pause of the machine is in one of them.
void make_quick(const CLI::App& command, remote_study_options& options) {
  options.run.extent = remote_extent::quick;
  options.run.least_s = 0.003;
  options.run.time_s = 0.2;
  if (command.count("--rounds") == 0)
    options.run.rounds = 7;
  if (command.count("--patience") == 0)
    options.run.patience_s = 1;
}

} // namespace

} // namespace bench

void add_bench_remote_study(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::remote_study_options>();
  auto* const command = app.add_subcommand(
      "remote-study",
      "Remote execution: sync, bulk, async, pipeline, hybrid and auto, beside models");
  bench::add_options(*command, *options);
  command->callback([options, command, &outcome] {
    if (options->quick)
      bench::make_quick(*command, *options);
    options->run.progress |= stderr_is_terminal();
    outcome = bench::run_all(*options);
  });
}

} // namespace pubsub::tool
