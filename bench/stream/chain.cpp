// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/link_address.hpp"
#include "kit/report.hpp"
#include "stream/chain_run.hpp"
#include "terminal.hpp"

#include <cmath>
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

// What one length of chain has shown.
struct chain_result {
  unsigned relays = 0;
  measurement measured;
  rate_statistics relay_user_ns; // of each relay in each run; these and those below for a message
  rate_statistics relay_system_ns;
  rate_statistics relay_cpu_ns;
  rate_statistics cpu_ns; // of all processes in each run
};

// All runs of one length, or the first failure.
struct chain_runs {
  chain_outcome sum;
  std::vector<double> cpu_ns;
};

chain_runs run_repeatedly(const chain_options& options, unsigned relays, const stop_signal& stop,
                          const chain_progress& progress) {
  auto settings = options.settings;
  settings.relays = relays;
  chain_runs all;
  auto& sum = all.sum;
  for (unsigned i = 0; i < options.runs; ++i) {
    auto one = run_chain(settings, stop, progress);
    sum.payload_bytes = one.payload_bytes;
    sum.sequence += one.sequence;
    if (options.runs == 1)
      sum.rates = one.rates;
    else
      sum.rates.push_back(one.mean_rate);
    sum.relays.insert(sum.relays.end(), one.relays.begin(), one.relays.end());
    all.cpu_ns.push_back(one.cpu_ns);
    if (one.status == exit_code::ok)
      continue;
    sum.status = one.status;
    sum.problem = one.problem;
    if (one.status != exit_code::loss)
      break;
  }
  return all;
}

chain_result summarize(unsigned relays, const chain_runs& runs) {
  const auto& sum = runs.sum;
  std::vector<double> user;
  std::vector<double> system;
  std::vector<double> both;
  for (const auto& relay : sum.relays) {
    user.push_back(relay.user_ns);
    system.push_back(relay.system_ns);
    both.push_back(relay.user_ns + relay.system_ns);
  }
  return {relays,
          {json_object{}.add("relays", relays), sum.payload_bytes, rate_statistics::of(sum.rates),
           sum.sequence},
          rate_statistics::of(std::move(user)),
          rate_statistics::of(std::move(system)),
          rate_statistics::of(std::move(both)),
          rate_statistics::of(runs.cpu_ns)};
}

// Where there is no relay, null takes the place of its figures.
json_object describe(const chain_result& x) {
  auto result = describe(x.measured);
  auto add = [&](const char* name, const rate_statistics& of_relays) {
    x.relays == 0 ? result.add(name, NAN) : result.add(name, describe(of_relays));
  };
  add("relay_user_ns", x.relay_user_ns);
  add("relay_system_ns", x.relay_system_ns);
  add("relay_cpu_ns", x.relay_cpu_ns);
  return result.add("cpu_ns", describe(x.cpu_ns));
}

void print_tables(const std::vector<chain_result>& results) {
  fmt::print("{:>6} {:>8} {:>12} {:>12} {:>12} {:>12} {:>8} {:>10} {:>9}\n", "relays", "payload",
             "msgs/s", "min", "max", "delivered", "dropped", "duplicated", "reordered");
  for (const auto& result : results) {
    const auto& x = result.measured;
    fmt::print("{:>6} {:>8} {:>12.0f} {:>12.0f} {:>12.0f} {:>12} {:>8} {:>10} {:>9}\n",
               result.relays, x.payload_bytes, x.rate.median, x.rate.min, x.rate.max,
               x.sequence.delivered, x.sequence.missing, x.sequence.duplicated,
               x.sequence.reordered);
  }
  fmt::print("\nprocessor per message, ns\n{:>6} {:>10} {:>10} {:>10} {:>14}\n", "relays",
             "of a relay", "user", "system", "all processes");
  for (const auto& x : results)
    if (x.relays == 0)
      fmt::print("{:>6} {:>10} {:>10} {:>10} {:>14.1f}\n", 0, "-", "-", "-", x.cpu_ns.median);
    else
      fmt::print("{:>6} {:>10.1f} {:>10.1f} {:>10.1f} {:>14.1f}\n", x.relays, x.relay_cpu_ns.median,
                 x.relay_user_ns.median, x.relay_system_ns.median, x.cpu_ns.median);
  fmt::print("\nrelays,payload,msgs_per_s\n");
  for (const auto& x : results)
    fmt::print("{},{},{:.0f}\n", x.relays, x.measured.payload_bytes, x.measured.rate.median);
}

json_object params_of(const chain_options& options) {
  std::vector<double> relays{options.relays.begin(), options.relays.end()};
  json_object params;
  params.add("relays", relays)
      .add("duration_s", options.settings.duration_s)
      .add("wire_version", options.settings.wire_version)
      .add("transport", options.settings.transport)
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
  std::vector<chain_result> results;
  for (auto relays : options.relays) {
    const auto runs = run_repeatedly(options, relays, stop, progress);
    const auto& one = runs.sum;
    if (one.status != exit_code::ok) {
      complain(one.problem);
      outcome = one.status;
    }
    if (one.status != exit_code::ok && one.status != exit_code::loss)
      break;
    results.push_back(summarize(relays, runs));
  }
  if (!results.empty())
    print_tables(results);
  std::vector<json_object> described;
  for (const auto& x : results)
    described.push_back(describe(x));
  auto saved = save_report(options.json_file, "chain", params_of(options), described);
  return saved == exit_code::ok ? outcome : saved;
}

constexpr const char* chain_examples = R"(Examples:
  pubsub bench chain --relays 0,1,2,4 --payload 100 --duration 5
      relays,payload,msgs_per_s
      0,100,...
  pubsub bench chain --relays 2 --input conn.log --json chain.json
      sends the records of a Zeek log instead of a synthetic text, writes all figures to a file
  pubsub bench chain --transport unix
      over sockets of the host instead of loopback TCP; tls is TCP, encrypted
Starts publisher, relays and subscriber as processes of their own. "of a relay" is the processor
time, user and system, that a relay takes for a message; "all processes" is that of everybody.
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
  bench::add_transport_option(*command, settings.transport);
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
