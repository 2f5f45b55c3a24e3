// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "compare/compare_report.hpp"
#include "kit/picture.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace pubsub::tool {

namespace bench {

namespace {

struct compare_options {
  compare_settings settings;
  unsigned rounds = 5;
  std::string json_file;
  std::string plot_file;
  bool progress = false;
};

// All cases, round after round: whatever slows the machine down for a while meets everybody.
class comparison {
public:
  comparison(const compare_options& options, const stop_signal& stop)
      : options_(options), stop_(stop) {
    for (auto& x : make_cases(options.settings)) {
      compare_result result{std::move(x), {}};
      for (const auto& who : result.measured.contestants)
        result.rows.push_back({who, {}});
      results_.push_back(std::move(result));
    }
  }

  /// False if a stop came.
  bool run() {
    for (unsigned round = 1; round <= options_.rounds; ++round)
      for (auto& result : results_)
        for (auto& row : result.rows)
          if (!measure(round, result, row))
            return false;
    return true;
  }

  const std::vector<compare_result>& results() const noexcept { return results_; }

private:
  bool measure(unsigned round, const compare_result& in, compare_row& row) {
    auto sample = run_contestant(row.who, options_.settings.duration_s, stop_);
    if (sample.status == compare_sample::state::interrupted)
      return false;
    if (options_.progress)
      fmt::print(stderr, "round {}/{}: {}: {}: {}\n", round, options_.rounds, in.measured.title(),
                 row.who.title(),
                 sample.measured() ? fmt::format("{:.0f} msgs/s", sample.rate) : sample.note);
    if (sample.status == compare_sample::state::failed)
      complain(fmt::format("{}: {}: {}", in.measured.title(), row.who.title(), sample.note));
    row.samples.push_back(std::move(sample));
    return true;
  }

  const compare_options& options_;
  const stop_signal& stop_;
  std::vector<compare_result> results_;
};

json_object params_of(const compare_options& options) {
  std::vector<double> relays{options.settings.relays.begin(), options.settings.relays.end()};
  json_object params;
  params.add("rounds", options.rounds)
      .add("relays", relays)
      .add("duration_s", options.settings.duration_s)
      .add("payload_bytes", options.settings.payload_bytes)
      .add("only", options.settings.only)
      .add("input", options.settings.input);
  return params;
}

// Ours decide: what a peer loses is in its row.
exit_code judge(const std::vector<compare_result>& results) {
  for (const auto& x : results)
    for (const auto& row : x.rows) {
      if (row.who.role != part::ours && row.who.role != part::variant)
        continue;
      if (row.status() != "measured")
        return exit_code::connect;
      if (!row.sequence().perfect())
        return exit_code::loss;
    }
  return exit_code::ok;
}

void explain_missing(const std::vector<compare_result>& results) {
  for (const auto& x : results)
    for (const auto& row : x.rows)
      if (row.status() == "not installed") {
        complain("what is not installed comes from bench/: install its packages (named by CMake "
                 "and in docs/performance.md) and build with -DPUBSUB_BUILD_BENCH=ON, or name its "
                 "folder with --peers-dir");
        return;
      }
}

exit_code write(const compare_options& options, const std::vector<compare_result>& results) {
  auto list = to_measurements(results, options.settings.payload_bytes);
  auto report = report_text("compare", params_of(options), list);
  return save_and_draw(report, options.json_file, options.plot_file);
}

exit_code run_all(const compare_options& options) {
  stop_signal stop;
  comparison all{options, stop};
  bool whole = all.run();
  print_tables(all.results());
  print_csv(all.results());
  std::fflush(stdout);
  explain_missing(all.results());
  if (!whole) {
    complain("interrupted: the figures are those of the rounds until then");
    return exit_code::usage;
  }
  auto outcome = write(options, all.results());
  auto judged = judge(all.results());
  return judged == exit_code::ok ? outcome : judged;
}

constexpr const char* compare_examples = R"(Examples:
  pubsub bench compare --rounds 5 --duration 3 --json compare.json --plot compare.png
  pubsub bench compare --only chain --relays 0,2 --duration 1 --rounds 3
Each round measures everybody once, one after the other. "/ limit" is the rate divided by the bare
limit's, "ours / it" is our rate divided by that row's, both as medians of the rounds' ratios. The
limits and peers are programs of bench/ (build with -DPUBSUB_BUILD_BENCH=ON); one that is missing
has a row that says so. "cpu ns" is the processor time of all processes for a message,
"relay ns" that of one relay. "host" is from one process to another over unix://, beside Aeron's IPC. "values" is a chain without relays whose messages are published as
values, each a new tree, and read as values, as Broker has them. "actors": the same from an actor
to an actor, and by the actor framework itself. Status 3 if we lost a message.)";

void add_options(CLI::App& command, compare_options& options) {
  auto& settings = options.settings;
  command
      .add_option("--only", settings.only, "local, host, chain, values or actors (default: all)")
      ->check(CLI::IsMember({"local", "host", "chain", "values", "actors"}));
  command.add_option("--relays", settings.relays, "Numbers of relays to measure")
      ->delimiter(',')
      ->check(CLI::Range(0U, 64U))
      ->capture_default_str();
  command.add_option("--payload", settings.payload_bytes, "Bytes of a message's payload")
      ->check(CLI::Range(8U, 1U << 20))
      ->capture_default_str();
  command
      .add_option("--input", settings.input,
                  "Send the records of this Zeek log through the chains, too")
      ->check(CLI::ExistingFile)
      ->type_name("FILE");
  command.add_option("--duration", settings.duration_s, "Seconds to publish in each measurement")
      ->check(CLI::Range(0.1, 1e5))
      ->capture_default_str();
  command.add_option("--rounds", options.rounds, "Measurements of each contestant")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  command
      .add_option("--peers-dir", settings.peers_dir,
                  "Folder of the programs of bench/ (default: beside this one)")
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
  command.add_option("--json", options.json_file, "Write all figures to FILE")->type_name("FILE");
  command
      .add_option("--plot", options.plot_file,
                  "Draw the comparison to FILE; without --json its figures go to FILE.json")
      ->type_name("FILE");
  command.add_flag("--progress", options.progress,
                   "Show every measurement even if stderr is no terminal");
  command.footer(compare_examples);
}

} // namespace

} // namespace bench

void add_bench_compare(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::compare_options>();
  auto command = app.add_subcommand(
      "compare", "Throughput beside bare limits and other libraries, in one run");
  bench::add_options(*command, *options);
  command->callback([options, &outcome] {
    options->progress |= stderr_is_terminal();
    outcome = bench::run_all(*options);
  });
}

} // namespace pubsub::tool
