// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/child_process.hpp"
#include "kit/child_report.hpp"
#include "kit/progress.hpp"
#include "kit/report.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>

#include <signal.h>

#include <fmt/format.h>

namespace pubsub::tool {

namespace bench {

namespace {

/// A row of the article's table.
struct setting {
  unsigned stage1 = 1;
  unsigned stage2 = 1;
  double ms1 = 500;
  double ms2 = 500;
  double article = 0; ///< transactions/s measured there; 0: it has none
};

const std::vector<setting> settings_of_article{{1, 1, 500, 500, 1.928},
                                               {2, 2, 500, 500, 3.780},
                                               {3, 3, 500, 500, 5.584},
                                               {2, 1, 500, 500, 1.972},
                                               {1, 1, 250, 750, 1.297}};

struct butterfly_bench {
  std::vector<std::string> settings; ///< as the user gave them; empty: the article's
  std::size_t transactions = 60;
  double time_scale = 1;
  std::string json_file;
};

struct outcome_of_run {
  exit_code status = exit_code::ok;
  double seconds = 0;
  double sending = 0;
  double transfer1 = 0; ///< seconds that component1 takes for input and output of a transaction
  double transfer2 = 0;
};

/// Stage by stage: what an endless run would show.
double ideal_rate(const setting& x, double scale) {
  return std::min(x.stage1 / (x.ms1 * scale), x.stage2 / (x.ms2 * scale)) * 1000;
}

/// The same with what input and output take, by the article's equation: instances / (input +
/// processing + output time).
double predicted_rate(const setting& x, double scale, const outcome_of_run& run) {
  return std::min(x.stage1 / (x.ms1 * scale / 1000 + run.transfer1),
                  x.stage2 / (x.ms2 * scale / 1000 + run.transfer2));
}

/// What the pipeline takes to fill, and to finish its last group, beyond transactions / rate.
double fill_seconds(const setting& x, double scale, std::size_t transactions) {
  const bool first = x.stage1 / x.ms1 <= x.stage2 / x.ms2;
  const auto slowest = (first ? x.ms1 : x.ms2) * scale / 1000;
  const auto groups = std::ceil(static_cast<double>(transactions) / (first ? x.stage1 : x.stage2));
  const auto whole = (x.ms1 + x.ms2) * scale / 1000 + (groups - 1) * slowest;
  return whole - static_cast<double>(transactions) / ideal_rate(x, scale);
}

/// The processes of one setting; all are linked with the intermediate.
class butterfly {
public:
  butterfly(const setting& x, const butterfly_bench& options, const stop_signal& stop)
      : setting_(x), options_(options), stop_(stop) {}

  outcome_of_run run() {
    const auto limit = deadline_after(20);
    auto& middle = start("intermediate", {"--listen", "tcp://127.0.0.1:0"});
    auto port = wait_for_report(middle, "port", stop_, limit);
    if (port.what != child_report::kind::line)
      return {fail_child(middle, port)};
    const auto address = "127.0.0.1:" + port.rest;
    for (unsigned i = 0; i < setting_.stage1; ++i)
      start("component1", {"--peer", address, "--wait", wait_of(setting_.ms1)});
    for (unsigned i = 0; i < setting_.stage2; ++i)
      start("component2", {"--peer", address, "--wait", wait_of(setting_.ms2)});
    start("receive-replies", {"--peer", address});
    for (auto& each : children_)
      if (auto ready = wait_for_report(each, "ready", stop_, limit);
          ready.what != child_report::kind::line)
        return {fail_child(each, ready)};
    auto& sender = start("send-requests", {"--peer", address, "--transactions",
                                           std::to_string(options_.transactions), "--workers",
                                           std::to_string(setting_.stage1)});
    const auto expected =
        static_cast<double>(options_.transactions) / ideal_rate(setting_, options_.time_scale);
    auto done = wait_for_report(sender, "done", stop_, deadline_after(60 + 3 * expected));
    if (done.what != child_report::kind::line)
      return {fail_child(sender, done)};
    auto values = values_of(done.rest);
    return {exit_code::ok, values["seconds"], values["sending"], transfer_of("component1"),
            transfer_of("component2")};
  }

private:
  /// Ends the components of a stage. Seconds for input and output of a transaction, their mean.
  double transfer_of(std::string_view role) {
    double sum = 0;
    double tasks = 0;
    for (auto& each : children_) {
      if (each.name() != role)
        continue;
      ::kill(each.pid(), SIGTERM);
      auto done = values_of(wait_for_report(each, "done", stop_, deadline_after(20)).rest);
      sum += done["tasks"] * (done["input_us"] + done["output_us"]) / 1e6;
      tasks += done["tasks"];
    }
    return tasks > 0 ? sum / tasks : 0;
  }

  std::string wait_of(double ms) const { return fmt::format("{}", ms * options_.time_scale); }

  child_process& start(const std::string& role, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"part", "butterfly", role});
    return children_.emplace_back(role, arguments);
  }

  const setting& setting_;
  const butterfly_bench& options_;
  const stop_signal& stop_;
  std::deque<child_process> children_;
};

std::optional<setting> parse_setting(const std::string& text) {
  setting result;
  if (std::sscanf(text.c_str(), "%ux%u,%lf/%lf", &result.stage1, &result.stage2, &result.ms1,
                  &result.ms2) != 4 ||
      result.stage1 == 0 || result.stage2 == 0 || !(result.ms1 > 0) || !(result.ms2 > 0))
    return {};
  return result;
}

exit_code run_all(const butterfly_bench& options) {
  auto settings = settings_of_article;
  if (!options.settings.empty())
    settings.clear();
  for (const auto& text : options.settings) {
    const auto one = parse_setting(text);
    if (!one) {
      complain("a setting is STAGE1xSTAGE2,MS1/MS2 as in 2x1,500/500, not " + text);
      return exit_code::usage;
    }
    settings.push_back(*one);
  }
  stop_signal stop;
  const progress shown;
  std::vector<json_object> results;
  fmt::print("{:>8} {:>11} {:>9} {:>11} {:>9} {:>11} {:>10} {:>14}\n", "stages", "ms", "ideal/s",
             "predicted/s", "article/s", "measured/s", "of ideal", "less filling");
  for (const auto& each : settings) {
    const auto ideal = ideal_rate(each, options.time_scale);
    const auto n = static_cast<double>(options.transactions);
    shown.show(fmt::format("{}x{}, {}/{} ms: about {:.0f} s", each.stage1, each.stage2, each.ms1,
                           each.ms2, n / ideal));
    const auto run = butterfly{each, options, stop}.run();
    if (run.status != exit_code::ok)
      return run.status;
    const auto fill = fill_seconds(each, options.time_scale, options.transactions);
    const auto measured = n / run.seconds;
    const auto corrected = n / (run.seconds - fill);
    const auto article = each.article > 0 ? fmt::format("{:.3f}", each.article / options.time_scale)
                                          : std::string{"-"};
    const auto predicted = predicted_rate(each, options.time_scale, run);
    fmt::print("{:>8} {:>11} {:>9.3f} {:>11.4f} {:>9} {:>11.3f} {:>10.3f} {:>14.4f}\n",
               fmt::format("{}x{}", each.stage1, each.stage2),
               fmt::format("{}/{}", each.ms1, each.ms2), ideal, predicted, article, measured,
               measured / ideal, corrected / ideal);
    std::fflush(stdout);
    results.push_back(json_object{}
                          .add("stage1", each.stage1)
                          .add("stage2", each.stage2)
                          .add("ms1", each.ms1)
                          .add("ms2", each.ms2)
                          .add("ideal_per_s", ideal)
                          .add("measured_per_s", measured)
                          .add("ratio_to_ideal", corrected / ideal)
                          .add("predicted_per_s", predicted)
                          .add("article_per_s", each.article)
                          .add("transfer1_us", run.transfer1 * 1e6)
                          .add("transfer2_us", run.transfer2 * 1e6)
                          .add("send_us", run.sending / n * 1e6));
  }
  return save_report(
      options.json_file, "butterfly",
      json_object{}.add("transactions", options.transactions).add("time_scale", options.time_scale),
      results);
}

constexpr const char* butterfly_examples = R"(Examples:
  pubsub bench butterfly
      the five settings of the article, 60 transactions each: about two and a half minutes
  pubsub bench butterfly --setting 4x2,100/50 --transactions 1000 --time-scale 0.5
      four component1 that wait 50 ms, two component2 that wait 25 ms
All processes are started here: send-requests, component1 (several), intermediate, component2
(several), receive-replies. "ideal" is what the stages could do if messages took no time, "predicted"
counts the time their input and output took here. "less filling" is the ratio to the ideal without the time the pipeline
takes to fill and to finish its last transactions, as an endless run would show it.)";

} // namespace

} // namespace bench

void add_bench_butterfly(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::butterfly_bench>();
  auto* const command =
      app.add_subcommand("butterfly", "Pipeline of two stages with workers side by side");
  command->add_option("--setting", options->settings, "Workers and milliseconds (repeatable)")
      ->type_name("STAGE1xSTAGE2,MS1/MS2")
      ->delimiter('\0');
  command->add_option("--transactions", options->transactions, "Requests to send in each setting")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40))
      ->capture_default_str();
  command->add_option("--time-scale", options->time_scale, "Makes all waiting so much longer")
      ->check(CLI::Range(0.001, 1000.0))
      ->capture_default_str();
  command->add_option("--json", options->json_file, "Write all figures to FILE")->type_name("FILE");
  command->footer(bench::butterfly_examples);
  command->callback([options, &outcome] { outcome = bench::run_all(*options); });
}

} // namespace pubsub::tool
