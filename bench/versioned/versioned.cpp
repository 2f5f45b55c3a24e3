// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/picture.hpp"
#include "kit/report.hpp"
#include "manual/command_text.hpp"
#include "stream/bare_ping_pong.hpp"
#include "terminal.hpp"
#include "versioned/versioned_report.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>

namespace pubsub::tool {

namespace bench {

namespace {

using state = versioned_sample::state;

struct versioned_options {
  std::vector<std::size_t> payloads{10, 100, 1'000, 3'000, 10'000, 100'000};
  std::vector<std::string> schemes;
  versioned_setting common;
  unsigned rounds = 3;
  bool one_by_one = true;
  bool pipelined = true;
  std::string json_file;
  std::string csv_file;
  std::string plot_file;
  bool progress = false;
};

std::vector<versioned_row> all_rows(const versioned_options& options) {
  std::vector<versioned_row> rows;
  std::set<std::size_t> had;
  for (const auto payload : options.payloads) {
    if (!had.insert(payload).second)
      continue;
    for (const auto how : {sending::one_by_one, sending::pipelined})
      for (const auto scheme : all_versionings) {
        if (how == sending::one_by_one ? !options.one_by_one : !options.pipelined)
          continue;
        if (!options.schemes.empty() &&
            std::ranges::find(options.schemes, to_string(scheme)) == options.schemes.end())
          continue;
        auto& row = rows.emplace_back(versioned_row{options.common, {}});
        row.setting.scheme = scheme;
        row.setting.payload_bytes = payload;
        row.setting.how = how;
      }
  }
  return rows;
}

// All rows, round after round: whatever slows the machine down for a while meets all schemes.
class versioned_bench {
public:
  versioned_bench(const versioned_options& options, const stop_signal& stop)
      : options_(options), stop_(stop), bare_(stop), rows_(all_rows(options)) {}

  /// False if a stop came.
  bool run() {
    for (unsigned round = 1; round <= options_.rounds; ++round) {
      double bare = 0;
      std::size_t bare_of = 0;
      for (auto& row : rows_) {
        if (const auto bytes = row.setting.payload_bytes; bytes != bare_of || bare == 0) {
          bare = bare_.p50_us(bytes, std::min(0.3, options_.common.duration_s));
          bare_of = bytes;
        }
        if (!measure(round, row, bare))
          return false;
      }
    }
    return true;
  }

  const std::vector<versioned_row>& rows() const noexcept { return rows_; }

private:
  bool measure(unsigned round, versioned_row& row, double bare) {
    auto sample = run_versioned(row.setting, stop_);
    if (sample.status == state::interrupted || stop_.requested())
      return false;
    const auto title = fmt::format("{} bytes{}: {}", row.setting.payload_bytes,
                                   row.setting.how == sending::pipelined ? ", pipelined" : "",
                                   to_string(row.setting.scheme));
    if (options_.progress)
      fmt::print(stderr, "round {}/{}: {}: {}\n", round, options_.rounds, title,
                 sample.measured()
                     ? fmt::format("{:.0f} msgs/s, p50 {:.1f} us", sample.rate(), sample.p50_us)
                     : sample.note);
    if (!sample.measured())
      complain(fmt::format("{}: {}", title, sample.note));
    for (const auto& sentence : sample.verdict.sentences)
      complain(fmt::format("{}: {}", title, sentence));
    row.rounds.push_back({std::move(sample), bare});
    return true;
  }

  const versioned_options& options_;
  const stop_signal& stop_;
  bare_ping_pong bare_;
  std::vector<versioned_row> rows_;
};

exit_code judge(const std::vector<versioned_row>& rows) {
  auto outcome = exit_code::ok;
  for (const auto& row : rows) {
    if (row.violations() > 0)
      return exit_code::loss;
    if (row.status() != "measured")
      outcome = exit_code::connect;
  }
  return outcome;
}

json_object params_of(const versioned_options& options) {
  const std::vector<double> payloads{options.payloads.begin(), options.payloads.end()};
  json_object params;
  params.add("payload_bytes", payloads)
      .add("duration_s", options.common.duration_s)
      .add("messages", options.common.messages)
      .add("replicas", options.common.replicas)
      .add("clients", options.common.clients)
      .add("window", options.common.window)
      .add("rounds", options.rounds)
      .add("check", options.common.check);
  return params;
}

void print_checked(const std::vector<versioned_row>& rows) {
  std::uint64_t checked = 0;
  std::uint64_t violations = 0;
  for (const auto& row : rows)
    for (const auto& round : row.rounds) {
      checked += round.sample.verdict.checked;
      violations += round.sample.verdict.violations;
    }
  fmt::print("\nchecked: {} messages at replicas, {} violations\n", checked, violations);
}

exit_code save_csv(const std::string& file, const std::vector<versioned_row>& rows) {
  if (file.empty())
    return exit_code::ok;
  const auto written = write_report(file, csv_of(rows));
  return written ? exit_code::ok : fail(written.error());
}

exit_code run_all(const versioned_options& options) {
  stop_signal stop;
  versioned_bench all{options, stop};
  const bool whole = all.run();
  if (options.json_file != "-" && options.csv_file != "-") {
    print_versioned(all.rows());
    if (options.common.check)
      print_checked(all.rows());
  }
  std::fflush(stdout);
  if (!whole) {
    complain("interrupted: the figures are those of the rounds until then");
    return exit_code::usage;
  }
  const auto report = report_text("versioned", params_of(options), describe(all.rows()));
  auto outcome = save_csv(options.csv_file, all.rows());
  if (const auto saved = save_and_draw(report, options.json_file, options.plot_file);
      saved != exit_code::ok)
    outcome = saved;
  const auto judged = judge(all.rows());
  return judged == exit_code::ok ? outcome : judged;
}

constexpr const char* versioned_examples = R"(Examples:
  pubsub bench versioned --json versioned.json --csv versioned.csv --plot versioned.png
      six schemes, payloads of 10 to 100,000 bytes, one message outstanding and pipelined, three
      rounds of a second each: about six minutes
  pubsub bench versioned --payload 100 --scheme one_hop_ack_client --only pipelined --rounds 5
  pubsub bench versioned --check --clients 4 --messages 250000 --payload 100 --only pipelined
      four clients, a million messages a scheme; the histories of all replicas are compared
A client and --replicas servers, each a process here, linked each with each. "s/million" are
seconds for a million messages, reckoned from "messages", which is what was sent in all rounds:
median, least and most of the rounds. p50 and p99 are the times from sending a message to the
acknowledgement that all replicas hold it. "hops" are the links that message, version and
acknowledgement cross one after the other; "tcp/hop" is p50 divided by hops times a bare blocking
TCP ping-pong of the same round (that crosses a link twice: bare TCP on the same way has 0.5). Of a
message, all processes together: "bytes" written to links (with headers and pings); "calls" to the
system of every kind, counted by tracing (ptrace) in a short run of its own in which all is slower,
so that pipelined messages may share more of them, or less, than at full speed; "switches", how
often threads slept and were woken; "cpu us", processor time. Status 3 if --check finds a violation.)";

void add_size_options(CLI::App& command, versioned_options& options) {
  auto& common = options.common;
  const CLI::Range count{std::size_t{1}, std::size_t{1} << 32};
  command.add_option("--payload", options.payloads, "Bytes of text in a message")
      ->delimiter(',')
      ->check(CLI::Range(std::size_t{10}, std::size_t{16} << 20))
      ->capture_default_str();
  command.add_option("--duration", common.duration_s, "Seconds of a measurement")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  command
      .add_option("--messages", common.messages,
                  "Messages of each client in a measurement, instead of the duration")
      ->check(count);
  command.add_option("--replicas", common.replicas, "Server processes")
      ->check(CLI::Range(1U, 16U))
      ->capture_default_str();
  command.add_option("--clients", common.clients, "Client processes")
      ->check(CLI::Range(1U, 64U))
      ->capture_default_str();
  command.add_option("--window", common.window, "Messages in flight of a client that pipelines")
      ->check(count)
      ->capture_default_str();
  command.add_option("--rounds", options.rounds, "Measurements of each scheme")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
}

void add_options(CLI::App& command, versioned_options& options) {
  std::vector<std::string> names;
  for (const auto scheme : all_versionings)
    names.emplace_back(to_string(scheme));
  auto* const schemes = command.add_option("--scheme", options.schemes, "What is measured [all]");
  allow_only(schemes, names)->delimiter(',');
  add_size_options(command, options);
  auto* const only = command.add_option_function<std::string>(
      "--only",
      [&options](const std::string& which) {
        options.one_by_one = which == "outstanding";
        options.pipelined = which == "pipelined";
      },
      "outstanding: one message at a time, as in the article; pipelined: up to the window");
  allow_only(only, {"outstanding", "pipelined"});
  command.add_flag("--check", options.common.check,
                   "Compare what all replicas have handed out and clients had acknowledged");
  command.add_flag("--spoil", options.common.spoil)->group(""); // not shown
  command
      .add_option("--json", options.json_file,
                  "Write all figures to FILE, or with - to stdout instead of the tables")
      ->type_name("FILE|-");
  command.add_option("--csv", options.csv_file, "The same, a line a result")->type_name("FILE|-");
  command
      .add_option("--plot", options.plot_file,
                  "Draw the figures to FILE; without --json FILE they are kept in FILE.json")
      ->type_name("FILE");
  command.add_flag("--progress", options.progress,
                   "Show every measurement even if stderr is no terminal");
  command.footer(versioned_examples);
}

} // namespace

} // namespace bench

void add_bench_versioned(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::versioned_options>();
  auto* const command = app.add_subcommand(
      "versioned", "Versioned delivery to replicas: six schemes, beside a bare TCP ping-pong");
  bench::add_options(*command, *options);
  command->callback([options, &outcome] {
    options->progress |= stderr_is_terminal();
    outcome = bench::run_all(*options);
  });
}

} // namespace pubsub::tool
