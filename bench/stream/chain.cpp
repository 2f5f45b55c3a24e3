// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/report.hpp"
#include "stream/chain_run.hpp"
#include "terminal.hpp"

#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "zeek_logs/line_reader.hpp"

namespace pubsub::tool {

namespace bench {

namespace {

struct chain_options {
  std::vector<unsigned> relays{0, 1, 2, 4};
  chain_settings settings;
  unsigned runs = 1;
  std::string json_file;
  bool progress = false;
};

// All runs of one length, or the first failure.
chain_outcome run_repeatedly(const chain_options& options, unsigned relays, const stop_signal& stop,
                             const chain_progress& progress) {
  auto settings = options.settings;
  settings.relays = relays;
  chain_outcome sum;
  for (unsigned i = 0; i < options.runs; ++i) {
    auto one = run_chain(settings, stop, progress);
    sum.payload_bytes = one.payload_bytes;
    sum.sequence += one.sequence;
    if (options.runs == 1)
      sum.rates = one.rates;
    else
      sum.rates.push_back(one.mean_rate);
    if (one.status == exit_code::ok)
      continue;
    sum.status = one.status;
    sum.problem = one.problem;
    if (one.status != exit_code::loss)
      break;
  }
  return sum;
}

void print_tables(const std::vector<measurement>& results, const std::vector<unsigned>& relays) {
  fmt::print("{:>6} {:>8} {:>12} {:>12} {:>12} {:>12} {:>8} {:>10} {:>9}\n", "relays", "payload",
             "msgs/s", "min", "max", "delivered", "dropped", "duplicated", "reordered");
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& x = results[i];
    fmt::print("{:>6} {:>8} {:>12.0f} {:>12.0f} {:>12.0f} {:>12} {:>8} {:>10} {:>9}\n", relays[i],
               x.payload_bytes, x.rate.median, x.rate.min, x.rate.max, x.sequence.delivered,
               x.sequence.missing, x.sequence.duplicated, x.sequence.reordered);
  }
  fmt::print("\nrelays,payload,msgs_per_s\n");
  for (std::size_t i = 0; i < results.size(); ++i)
    fmt::print("{},{},{:.0f}\n", relays[i], results[i].payload_bytes, results[i].rate.median);
}

json_object params_of(const chain_options& options) {
  std::vector<double> relays{options.relays.begin(), options.relays.end()};
  json_object params;
  params.add("relays", relays)
      .add("duration_s", options.settings.duration_s)
      .add("wire_version", options.settings.wire_version)
      .add("runs", options.runs);
  if (options.settings.input.empty())
    params.add("payload_bytes", options.settings.payload_bytes);
  else
    params.add("input", options.settings.input);
  return params;
}

exit_code run_all(const chain_options& options) {
  if (!options.settings.input.empty()) // before any process is started
    if (auto readable = line_reader::open(options.settings.input); !readable)
      return fail(readable.error());
  stop_signal stop;
  bool show = options.progress || stderr_is_terminal();
  auto progress = [show](const std::string& line) {
    if (show)
      fmt::print(stderr, "{}\n", line);
  };
  auto outcome = exit_code::ok;
  std::vector<measurement> results;
  for (auto relays : options.relays) {
    auto one = run_repeatedly(options, relays, stop, progress);
    if (one.status != exit_code::ok) {
      complain(one.problem);
      outcome = one.status;
    }
    if (one.status != exit_code::ok && one.status != exit_code::loss)
      break;
    measurement result{json_object{}.add("relays", relays), one.payload_bytes,
                       rate_statistics::of(one.rates), one.sequence};
    results.push_back(std::move(result));
  }
  if (!results.empty())
    print_tables(results, options.relays);
  if (!options.json_file.empty())
    if (auto written =
            write_report(options.json_file, report_text("chain", params_of(options), results));
        !written)
      return fail(written.error());
  return outcome;
}

constexpr const char* chain_examples = R"(Examples:
  pubsub bench chain --relays 0,1,2,4 --payload 100 --duration 5
      relays,payload,msgs_per_s
      0,100,...
  pubsub bench chain --relays 2 --input conn.log --json chain.json
      sends the records of a Zeek log instead of a synthetic text, writes all figures to a file
Starts publisher, relays and subscriber as processes of their own, connected over loopback TCP.
Every message carries a number; status 3 if one is lost, comes twice or out of order. Samples are
rates of single seconds, with --runs above 1 the mean rates of the runs.)";

} // namespace

} // namespace bench

void add_bench_chain(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::chain_options>();
  auto command = app.add_subcommand("chain", "Throughput through a chain of relay processes");
  auto& settings = options->settings;
  command->add_option("--relays", options->relays, "Numbers of relays to measure")
      ->delimiter(',')
      ->check(CLI::Range(0U, 64U))
      ->capture_default_str();
  command->add_option("--payload", settings.payload_bytes, "Bytes of text in a message")
      ->check(CLI::Range(0U, 1U << 24))
      ->capture_default_str();
  command
      ->add_option("--input", settings.input,
                   "Send records instead: a Zeek log, or an event dump (.jsonl)")
      ->type_name("FILE");
  command
      ->add_option("--wire-version", settings.wire_version,
                   "Version of the peering protocol between the processes; 1 is Zeek's Broker")
      ->check(CLI::Range(1U, 2U))
      ->capture_default_str();
  command->add_option("--duration", settings.duration_s, "Seconds to publish")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  using bench::message_form;
  const std::map<std::string, message_form> forms{{"fresh", message_form::encoded},
                                                  {"tree", message_form::tree}};
  command
      ->add_option(
          "--messages", settings.form,
          "fresh (written as bytes and read in place, the default) or tree (each published "
          "as a value, and read as one)")
      ->transform(CLI::CheckedTransformer(forms).description("{fresh,tree}"));
  command->add_option("--runs", options->runs, "Runs of each length")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  command->add_option("--json", options->json_file, "Write all figures to FILE")->type_name("FILE");
  command->add_flag("--progress", options->progress,
                    "Show every second even if stderr is no terminal");
  command->footer(bench::chain_examples);
  command->callback([options, &outcome] {
    options->settings.name_processes = options->progress;
    outcome = bench::run_all(*options);
  });
}

} // namespace pubsub::tool
