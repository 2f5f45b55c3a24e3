// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/picture.hpp"
#include "kit/program_run.hpp"
#include "kit/python_program.hpp"
#include "pipelines/batch_ack_report.hpp"
#include "pipelines/batch_ack_uneven.hpp"
#include "terminal.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace pubsub::tool {

namespace bench {

namespace {

using state = compare_sample::state;

struct batch_ack_options {
  std::optional<std::size_t> tasks_asked_for;
  std::vector<std::size_t> batches{1'000'000, 1'000, 100, 50, 10};
  std::size_t window = exchange_options{}.window_tasks;
  unsigned workers = 4;
  unsigned rounds = 3;
  std::string peers_dir;
  std::string python;
  std::string json_file;
  std::string plot_file;
  uneven_options uneven;
  bool progress = false;

  // Where workers take their time, fewer tell as much.
  std::size_t tasks() const {
    return tasks_asked_for.value_or(uneven.factor > 0 ? 10'000 : 1'000'000);
  }
  pipeline_setting common() const {
    pipeline_setting result;
    result.tasks = tasks();
    result.window = window;
    result.wait_ms.assign(workers, 0);
    return result;
  }
};

std::vector<contestant> all_contestants(const batch_ack_options& options) {
  const auto folder = find_peers(options.peers_dir);
  auto python = find_python(options.python);
  std::vector<std::string> script{python.begin() + 1, python.end()};
  script.push_back((folder / "batch_ack_pyzmq.py").string());
  return {{"libpubsub", "", part::ours, "", {}},
          {"libzmq", "", part::peer, (folder / "batch_ack_zmq").string(), {}},
          {"pyzmq", "", part::peer, python.front(), script}};
}

// Batches of all tasks, or more, are one and the same: what goes without acknowledgement.
std::vector<pipeline_setting> all_settings(const batch_ack_options& options) {
  const auto common = options.common();
  std::vector<pipeline_setting> list;
  std::set<std::pair<ack_mode, std::size_t>> had;
  auto add = [&](ack_mode mode, std::size_t batch) {
    if (!had.emplace(mode, batch).second)
      return;
    list.push_back(common);
    list.back().mode = mode;
    list.back().batch = batch;
  };
  for (auto batch : options.batches)
    if (batch >= common.tasks)
      add(ack_mode::unacknowledged, common.tasks);
  for (auto mode : {ack_mode::one_batch, ack_mode::window})
    for (auto batch : options.batches)
      if (batch < common.tasks && (mode == ack_mode::one_batch || batch <= options.window))
        add(mode, batch);
  return list;
}

// All settings, round after round: whatever slows the machine down for a while meets everybody.
class pipelines {
public:
  pipelines(const batch_ack_options& options, const stop_signal& stop)
      : options_(options), stop_(stop) {
    for (const auto& setting : all_settings(options)) {
      auto& result = results_.emplace_back(pipeline_result{setting, {}});
      for (const auto& who : all_contestants(options))
        result.rows.push_back({{who, {}}, 0, {}});
    }
  }

  /// False if a stop came.
  bool run() {
    for (unsigned round = 1; round <= options_.rounds; ++round)
      for (auto& result : results_)
        for (auto& row : result.rows)
          if (!measure(round, result.setting, row))
            return false;
    return true;
  }

  const std::vector<pipeline_result>& results() const noexcept { return results_; }

private:
  bool measure(unsigned round, const pipeline_setting& setting, pipeline_row& row) {
    const auto& who = row.rates.who;
    const auto sample = who.role == part::ours
                            ? run_own_pipeline(setting, balancing::least_outstanding, stop_)
                            : run_peer_pipeline(who, setting, stop_);
    const auto& counted = sample.counted;
    if (counted.status == state::interrupted)
      return false;
    if (options_.progress)
      fmt::print(stderr, "round {}/{}: {}: {}: {}\n", round, options_.rounds, title_of(setting),
                 who.name,
                 counted.measured() ? fmt::format("{:.0f} msgs/s{}", counted.rate, sample.detail)
                                    : counted.note);
    if (counted.status == state::failed)
      complain(fmt::format("{}: {}: {}", title_of(setting), who.name, counted.note));
    row.add(sample);
    return true;
  }

  const batch_ack_options& options_;
  const stop_signal& stop_;
  std::vector<pipeline_result> results_;
};

exit_code judge(const std::vector<pipeline_result>& results) {
  auto outcome = exit_code::ok;
  for (const auto& x : results)
    for (const auto& row : x.rows) {
      if (const auto sequence = row.rates.sequence(); sequence.missing + sequence.reordered > 0)
        return exit_code::loss;
      if (row.rates.status().starts_with("failed"))
        outcome = exit_code::connect;
    }
  return outcome;
}

json_object params_of(const batch_ack_options& options) {
  const std::vector<double> batches{options.batches.begin(), options.batches.end()};
  json_object params;
  params.add("tasks", options.tasks())
      .add("batch", batches)
      .add("window", options.window)
      .add("workers", options.workers)
      .add("rounds", options.rounds);
  return params;
}

exit_code run_all(batch_ack_options& options) {
  stop_signal stop;
  if (options.uneven.factor > 0) {
    options.uneven.rounds = options.rounds;
    options.uneven.json_file = options.json_file;
    options.uneven.progress = options.progress;
    return run_uneven(options.common(), options.uneven, stop);
  }
  pipelines all{options, stop};
  const bool whole = all.run();
  if (options.json_file != "-")
    print_pipelines(all.results());
  std::fflush(stdout);
  if (!whole) {
    complain("interrupted: the figures are those of the rounds until then");
    return exit_code::usage;
  }
  const auto report = report_text("batch-ack", params_of(options), describe(all.results()));
  const auto outcome = save_and_draw(report, options.json_file, options.plot_file);
  const auto judged = judge(all.results());
  return judged == exit_code::ok ? outcome : judged;
}

constexpr const char* batch_ack_examples = R"(Examples:
  pubsub bench batch-ack --json batch-ack.json --plot batch-ack.png
      a million tasks, 4 workers, batches as in the article, three rounds: some minutes
  pubsub bench batch-ack --tasks 20000 --batch 100,10 --workers 2 --rounds 1 --json -
  pubsub bench batch-ack --uneven 4 --task-time 1ms
      10,000 tasks that take 1 ms, one worker takes 4 ms: what balancing makes of that
A ventilator sends numbered tasks to workers, they send results to a sink, and that acknowledges
them; each is a process here. Of a batch, measured are: "one in flight", the ventilator waits for
the acknowledgement of a batch before it sends the next; "window", so many tasks are in flight, and
are acknowledged a batch at a time; "all in flight", a batch of all tasks. msgs/s are tasks from the
first that is sent to the last acknowledgement: median, least and most of the rounds. "ours / it" is
our rate divided by that row's, as the median of the rounds' ratios; "in flight" the most tasks that
were sent and not acknowledged; MiB the most memory of the ventilator, the largest worker, the sink.
libzmq and pyzmq do the same by programs of bench/ (build with -DPUBSUB_BUILD_BENCH=ON); one that is
missing has a row that says so. Status 3 if a task was lost or came twice. --uneven compares the ways
of balancing instead; "of sum" is the rate divided by the sum of what each worker can do, as it was
while it worked: least_outstanding comes near 1, round_robin waits for the slowest.)";

void add_uneven_options(CLI::App& command, uneven_options& options) {
  const std::map<std::string, double> units{{"us", 0.001}, {"ms", 1}, {"s", 1000}};
  auto* const uneven =
      command
          .add_option("--uneven", options.factor,
                      "Compare ways of balancing where the last worker takes so many times longer")
          ->check(CLI::Range(1.0, 1000.0))
          ->type_name("FACTOR");
  command
      .add_option("--task-time", options.task_ms,
                  "How long a worker waits with a task, in us, ms or s (with --uneven) [1ms]")
      ->transform(CLI::AsNumberWithUnit{units})
      ->check(CLI::Range(0.001, 1e6))
      ->type_name("TIME")
      ->needs(uneven);
}

void add_options(CLI::App& command, batch_ack_options& options) {
  const CLI::Range count{std::size_t{1}, std::size_t{1} << 32};
  command
      .add_option("--tasks", options.tasks_asked_for,
                  "Tasks to send in each measurement [1000000; 10000 with --uneven]")
      ->check(count);
  command.add_option("--batch", options.batches, "Tasks that are acknowledged together")
      ->delimiter(',')
      ->check(count)
      ->capture_default_str();
  command.add_option("--window", options.window, "Tasks in flight at most, of any batch")
      ->check(count)
      ->capture_default_str();
  command.add_option("--workers", options.workers, "Worker processes")
      ->check(CLI::Range(1U, 60U))
      ->capture_default_str();
  command.add_option("--rounds", options.rounds, "Measurements of each contestant")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  command
      .add_option("--peers-dir", options.peers_dir,
                  "Folder of the programs of bench/ (default: beside this one, or its build's)")
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
  command
      .add_option("--python", options.python,
                  "Python that has pyzmq (default: the one beside this command or in .venv, else "
                  "python3)")
      ->type_name("PROGRAM");
  command
      .add_option("--json", options.json_file,
                  "Write all figures to FILE, or with - to stdout instead of the tables")
      ->type_name("FILE|-");
  command
      .add_option("--plot", options.plot_file,
                  "Draw the figures to FILE; without --json FILE they are kept in FILE.json")
      ->type_name("FILE");
  command.add_flag("--progress", options.progress,
                   "Show every measurement even if stderr is no terminal");
  add_uneven_options(command, options.uneven);
  command.footer(batch_ack_examples);
}

} // namespace

} // namespace bench

void add_bench_batch_ack(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::batch_ack_options>();
  auto* const command = app.add_subcommand(
      "batch-ack", "Pipelines with batch acknowledgements, beside libzmq and pyzmq");
  bench::add_options(*command, *options);
  command->callback([options, &outcome] {
    options->progress |= stderr_is_terminal();
    outcome = bench::run_all(*options);
  });
}

} // namespace pubsub::tool
