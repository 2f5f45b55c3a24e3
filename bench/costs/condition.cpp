// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "filter/filter_records.hpp"
#include "kit/progress.hpp"
#include "kit/report.hpp"
#include "kit/sampling.hpp"
#include "stop_signal.hpp"

#include <algorithm>
#include <functional>
#include <memory>

#include <fmt/format.h>

#include <pubsub/condition.hpp>

namespace pubsub::tool {

namespace bench {

namespace {

struct condition_bench_options {
  std::string input = "bench/data/conn.log";
  std::vector<std::string> where;
  unsigned runs = 5;
  double duration_s = 0.05;
  std::string json_file;
};

std::string equal_to_one_of(std::size_t n) {
  std::string text = "id.orig_p in {";
  for (std::size_t i = 0; i < n; ++i)
    text += fmt::format("{}{}/tcp", i == 0 ? "" : ", ", 1024 + i);
  return text + "}";
}

std::vector<std::string> usual_conditions() {
  std::vector<std::string> result{
      "id.resp_p == 443/tcp",
      "orig_bytes > 1000",
      "id.orig_h in 10.0.0.0/8",
      "uid in \"C3\"*",
      "1 in 1000 by uid",
      "id.resp_p == 443/tcp && orig_bytes > 1000 && id.orig_h in 10.0.0.0/8",
      "exists(service)",
      "@topic.2 == \"conn\"",
      equal_to_one_of(1000),
  };
#ifdef PUBSUB_HAS_REGEX
  result.emplace_back("history in /^Sh.*F/");
#endif
  return result;
}

/// Evaluates each record once, as a queue does; the figure is for one record.
rate_statistics measure(const condition& what, const filter_records& log,
                        const condition_bench_options& options, std::uint64_t& kept) {
  const auto length =
      std::chrono::nanoseconds{static_cast<std::int64_t>(options.duration_s * 1'000'000'000)};
  auto each_record = [&] {
    kept = 0;
    for (const auto& record : log.encoded)
      kept += what.judge(log.topic, record) == condition_verdict::yes ? 1 : 0;
    keep(kept);
  };
  auto samples = sample_ns(each_record, options.runs, length).samples;
  for (auto& each : samples)
    each /= static_cast<double>(log.encoded.size());
  return rate_statistics::of(std::move(samples));
}

std::string shortened(const std::string& text) {
  constexpr std::size_t shown = 72;
  return text.size() <= shown ? text : text.substr(0, shown - 3) + "...";
}

exit_code measure_all(const filter_records& log, const condition_bench_options& options,
                      std::vector<json_object>& results) {
  stop_signal stop;
  progress progress;
  fmt::print("{:>8} {:>8} {:>7}  condition\n", "ns", "M/s", "kept");
  for (const auto& text : options.where.empty() ? usual_conditions() : options.where) {
    if (stop.requested()) {
      complain("interrupted");
      return exit_code::usage;
    }
    const auto what = condition_on(log, text);
    if (!what) {
      complain(what.error().context());
      return exit_code::usage;
    }
    if (progress.due(clock::now()))
      progress.show(fmt::format("measuring {}", shortened(text)));
    std::uint64_t kept = 0;
    const auto ns = measure(*what, log, options, kept);
    const auto part = static_cast<double>(kept) / static_cast<double>(log.encoded.size());
    fmt::print("{:>8.1f} {:>8.2f} {:>6.2f}%  {}\n", ns.median, 1e3 / ns.median, 100 * part,
               shortened(what->text()));
    std::fflush(stdout);
    json_object result;
    result.add("condition", what->text())
        .add("kept", kept)
        .add("ns", bench::describe(ns))
        .add("msgs_per_s", bench::describe(rates_of(ns)));
    results.push_back(std::move(result));
  }
  return exit_code::ok;
}

exit_code run_condition(const condition_bench_options& options) {
  const auto log = read_records(options.input);
  if (!log)
    return fail(log.error());
  std::vector<json_object> results;
  if (const auto outcome = measure_all(*log, options, results); outcome != exit_code::ok)
    return outcome;
  std::size_t bytes = 0;
  for (const auto& each : log->encoded)
    bytes += each.size();
  json_object params;
  params.add("runs", options.runs)
      .add("duration_s", options.duration_s)
      .add("input", options.input)
      .add("records", log->encoded.size())
      .add("payload_bytes", bytes / log->encoded.size());
  return save_report(options.json_file, "condition", params, results);
}

constexpr const char* condition_examples = R"(Examples:
  pubsub bench condition
      usual conditions on the records of bench/data/conn.log
  pubsub bench condition --where 'id.resp_p == 443/tcp' --where 'uid in /^C3/' --input conn.log
      these conditions on the records of a Zeek log
Columns: nanoseconds for one condition on one encoded record, medians of --runs repetitions over
all records; conditions evaluated a second; the part of the records that fulfils it.)";

} // namespace

} // namespace bench

void add_bench_condition(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::condition_bench_options>();
  auto command = app.add_subcommand("condition", "Conditions on fields of encoded records");
  command->add_option("--input", options->input, "A Zeek log with the records")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_option("--where", options->where, "Measure this condition (repeatable)")
      ->type_name("CONDITION");
  command->add_option("--runs", options->runs, "Repetitions of each measurement")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  command->add_option("--duration", options->duration_s, "Seconds of a repetition")
      ->check(CLI::Range(0.0001, 60.0))
      ->capture_default_str();
  command->add_option("--json", options->json_file, "Write all figures to FILE")->type_name("FILE");
  command->footer(bench::condition_examples);
  command->callback([options, &outcome] { outcome = bench::run_condition(*options); });
}

} // namespace pubsub::tool
