// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "costs/routing.hpp"
#include "kit/child_report.hpp"
#include "kit/report.hpp"
#include "kit/sampling.hpp"
#include "terminal.hpp"

#include <charconv>
#include <memory>

#include <fmt/format.h>

namespace pubsub::tool {

namespace bench {

namespace {

struct routing_options {
  std::vector<std::size_t> subscriptions{1, 1'000, 100'000, 1'000'000};
  std::vector<std::string> ways{"filter", "topics"};
  double limit_s = 30;
  std::string json_file;
};

// The figures of a row, as far as they came.
struct routing_result {
  std::string way;
  std::size_t subscriptions = 0;
  std::map<std::string, std::vector<double>> figures;
  std::string skipped; // why some are missing

  bool has(const std::string& key) const { return figures.contains(key); }
  rate_statistics statistics(const std::string& key) const {
    auto found = figures.find(key);
    return rate_statistics::of(found == figures.end() ? std::vector<double>{} : found->second);
  }
  std::uint64_t total(const std::string& key) const {
    return static_cast<std::uint64_t>(statistics(key).median);
  }
};

void take(routing_result& result, const child_report& line) {
  double value = 0;
  const auto& text = line.rest;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc{})
    result.figures[line.word].push_back(value);
}

// Runs a row in a process of its own, which is ended where it takes too long.
exit_code run_row(const routing_options& options, const stop_signal& stop, routing_result& result) {
  child_process child{fmt::format("{} subscriptions by {}", result.subscriptions, result.way),
                      {"routing-part", "--subscriptions", std::to_string(result.subscriptions),
                       "--way", result.way}};
  auto end = deadline_after(options.limit_s);
  std::string phase = "starting";
  for (;;) {
    auto line = next_report(child, stop, end);
    if (line.what == child_report::kind::timeout) {
      result.skipped = fmt::format("{} took longer than {} s", phase, options.limit_s);
      return exit_code::ok;
    }
    if (line.what != child_report::kind::line)
      return fail_child(child, line);
    if (line.word == "done")
      return exit_code::ok;
    if (line.word != "phase") {
      take(result, line);
      continue;
    }
    phase = line.rest;
    if (stderr_is_terminal())
      fmt::print(stderr, "{}: {}\n", child.name(), phase);
  }
}

void print_routing_head() {
  fmt::print("{:>13} {:<11} {:>9} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9} {:>9}\n",
             "subscriptions", "by", "added s", "match ns", "other ns", "publisher", "add ns",
             "remove ns", "heap B", "RSS B");
}

void print_row(const routing_result& x) {
  auto cell = [&](const char* key, int decimals, double divisor = 1) {
    return x.has(key) ? fmt::format("{:.{}f}", x.statistics(key).median / divisor, decimals) : "-";
  };
  auto n = static_cast<double>(x.subscriptions);
  fmt::print("{:>13} {:<11} {:>9} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9} {:>9}\n",
             x.subscriptions, x.way, cell("add_s", 4), cell("publish_match_ns", 0),
             cell("publish_other_ns", 0), cell("publisher_ns", 0), cell("add_ns", 0),
             cell("remove_ns", 0), cell("heap_bytes", 0, n),
             x.subscriptions < 100 ? "-" : cell("resident_bytes", 0, n)); // pages tell little
  if (!x.skipped.empty())
    fmt::print("{:>13} {:<11} skipped: {}\n", x.subscriptions, x.way, x.skipped);
  std::fflush(stdout);
}

json_object describe(const routing_result& x) {
  json_object result;
  result.add("subscriptions", x.subscriptions).add("way", x.way);
  if (x.has("add_s"))
    result.add("add_s", x.statistics("add_s").median);
  auto n = static_cast<double>(x.subscriptions);
  for (auto key : {"heap_bytes", "resident_bytes"})
    if (x.has(key))
      result.add(std::string{key} + "_per_subscription", x.statistics(key).median / n);
  for (auto key : {"publish_match_ns", "publish_other_ns", "publisher_ns", "add_ns", "remove_ns"})
    if (x.has(key))
      result.add(key, describe(x.statistics(key)));
  if (x.has("delivered")) {
    result.add("msgs_per_s", describe(rates_of(x.statistics("publish_match_ns"))))
        .add("published", x.total("published"))
        .add("delivered", x.total("delivered"))
        .add("dropped", x.total("published") - x.total("delivered"));
  }
  if (!x.skipped.empty())
    result.add("skipped", x.skipped);
  return result;
}

exit_code run_routing(const routing_options& options) {
  stop_signal stop;
  auto outcome = exit_code::ok;
  std::vector<json_object> results;
  print_routing_head();
  for (auto n : options.subscriptions)
    for (const auto& way : options.ways) {
      routing_result result{way, n, {}, {}};
      if (auto failed = run_row(options, stop, result); failed != exit_code::ok)
        return failed;
      print_row(result);
      if (result.total("published") != result.total("delivered")) {
        complain(fmt::format("of {} messages {} arrived", result.total("published"),
                             result.total("delivered")));
        outcome = exit_code::loss;
      }
      results.push_back(describe(result));
    }
  json_object params;
  params
      .add("subscriptions",
           std::vector<double>{options.subscriptions.begin(), options.subscriptions.end()})
      .add("time_limit_s", options.limit_s);
  auto saved = save_report(options.json_file, "routing", params, results);
  return saved != exit_code::ok ? saved : outcome;
}

constexpr const char* routing_examples = R"(Examples:
  pubsub bench routing --subscriptions 1,1000,100000
  pubsub bench routing --by filter,topics,subscribers --subscriptions 1000 --json routing.json
Columns: time to add all subscriptions to one endpoint; nanoseconds to publish on topics that many
of them match in turn ("match"), on topics nobody wants ("other"), and through a publisher of one
topic; to add and to remove one subscription among them; memory a subscription, on the heap and as
the process grows. Each row runs in a process of its own; what takes longer than --time-limit seconds
is skipped, and named. Every message is counted: status 3 if one does not arrive.)";

} // namespace

} // namespace bench

void add_bench_routing(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::routing_options>();
  auto command = app.add_subcommand("routing", "Cost of many subscriptions on one endpoint");
  command
      ->add_option("--subscriptions", options->subscriptions, "Numbers of subscriptions to measure")
      ->delimiter(',')
      ->check(CLI::Range(1U, 10'000'000U))
      ->capture_default_str();
  command
      ->add_option("--by", options->ways,
                   "filter (one subscriber, all at once), topics (one subscriber, one after the "
                   "other), subscribers (one subscriber each)")
      ->delimiter(',')
      ->check(CLI::IsMember({"filter", "topics", "subscribers"}))
      ->capture_default_str();
  command->add_option("--time-limit", options->limit_s, "Seconds a row may take, at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--json", options->json_file, "Write all figures to FILE")->type_name("FILE");
  command->footer(bench::routing_examples);
  command->callback([options, &outcome] { outcome = bench::run_routing(*options); });
}

} // namespace pubsub::tool
