// Records through two relays where one in a hundred is wanted: with a condition, without, and
// beside rsyslog. SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "filter/filter_ends.hpp"
#include "filter/filter_records.hpp"
#include "kit/child_report.hpp"
#include "kit/progress.hpp"
#include "kit/report.hpp"
#include "kit/scratch_folder.hpp"
#include "support/tcp.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <deque>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace pubsub::tool {

namespace bench {

namespace {

constexpr double limit_of_run_s = 180;
constexpr unsigned many = 1000;

struct filter_options {
  std::uint64_t records = 3'000'000;
  unsigned publishers = std::max(1U, std::min(8U, std::thread::hardware_concurrency()));
  unsigned rounds = 5;
  std::string input = "bench/data/conn.log";
  std::string where = "id.resp_p == 8080/tcp";
  std::string text = " 8080 tcp ";
  std::string rsyslogd;
  std::string json_file;
};

/// One row: libpubsub under so many conditions, or rsyslog.
struct filter_case {
  const char* name;
  unsigned conditions = 0;
  bool node = false; ///< the publisher evaluates itself, however many conditions there are
  bool rsyslog = false;
};

constexpr filter_case cases[] = {
    {"everything", 0, true},
    {"one condition", 1, true},
    {"one condition, publisher a client", 1, false},
    {"1,000 conditions on one field", many, true},
    {"rsyslog, one text", 1, false, true},
};
constexpr std::size_t everything = 0;
constexpr std::size_t one_condition = 1;

struct filter_result {
  filter_case what{};
  std::string status = "measured";
  std::vector<double> rates;  // of records published
  std::vector<double> cpu_ns; // of the publisher, for each of them
  std::vector<double> bytes;  // over all links, for each of them
  std::uint64_t expected = 0;
  std::uint64_t delivered = 0;
};

/// How many of the records that are published in turn fulfil this.
std::uint64_t count_wanted(const std::vector<bool>& of_pool, std::uint64_t records) {
  const auto in = [&](std::uint64_t n) {
    return static_cast<std::uint64_t>(
        std::count(of_pool.begin(), of_pool.begin() + static_cast<std::ptrdiff_t>(n), true));
  };
  return records / of_pool.size() * in(of_pool.size()) + in(records % of_pool.size());
}

std::string find_rsyslogd(const std::string& given) {
  for (const auto& each : {given, std::string{"/usr/sbin/rsyslogd"}})
    if (!each.empty() && ::access(each.c_str(), X_OK) == 0)
      return each;
  return {};
}

/// Takes lines at a port, and passes on those with the text.
std::string rsyslog_configuration(unsigned listen, unsigned target, const std::string& text) {
  return fmt::format(R"(global(workDirectory="/tmp")
module(load="imtcp")
main_queue(queue.type="FixedArray" queue.size="100000" queue.dequeueBatchSize="1024")
template(name="as-it-is" type="string" string="<14>%timestamp% %hostname% %syslogtag%%msg%\n")
input(type="imtcp" address="127.0.0.1" port="{}")
if $msg contains "{}" then
  action(type="omfwd" target="127.0.0.1" port="{}" protocol="tcp" template="as-it-is"
         action.resumeRetryCount="-1" action.resumeInterval="1")
)",
                     listen, text, target);
}

/// Of no listener right now.
unsigned free_port() {
  return static_cast<unsigned>(::bench::tcp_listener{}.port());
}

class filter_bench {
public:
  filter_bench(const filter_options& options, const filter_records& records,
               const stop_signal& stop)
      : options_(options), records_(records), stop_(stop) {
    for (const auto& each : cases)
      results_.emplace_back().what = each;
  }

  exit_code run() {
    for (auto& each : results_)
      if (const auto wanted = expect(each); !wanted)
        return complain(wanted.error().context()), exit_code::usage;
    for (unsigned round = 1; round <= options_.rounds; ++round)
      for (auto& each : results_)
        if (each.status == "measured") {
          progress_.show(fmt::format("round {}: {}", round, each.what.name));
          measure(each);
          if (stop_.requested())
            return exit_code::usage;
        }
    print();
    const auto saved = save_report(options_.json_file, "filter", params(), described());
    return saved == exit_code::ok ? outcome() : saved;
  }

private:
  /// What has to arrive in a round.
  expected<void> expect(filter_result& row) {
    std::vector<bool> wanted(records_.encoded.size(), row.what.conditions == 0);
    for (unsigned n = 0; n < row.what.conditions; ++n) {
      const auto text = row.what.conditions == many ? one_of_many(n) : options_.where;
      const auto what = condition_on(records_, text);
      if (!what)
        return what.error();
      for (std::size_t i = 0; i < wanted.size(); ++i)
        wanted[i] = row.what.rsyslog
                        ? records_.lines[i].find(options_.text) != std::string::npos
                        : wanted[i] || what->judge(records_.topic, records_.encoded[i]) ==
                                           condition_verdict::yes;
    }
    row.expected = count_wanted(wanted, options_.records);
    return {};
  }

  std::vector<std::string> part(const char* role, unsigned port, std::uint64_t records) const {
    return {"filter-part",
            "--role",
            role,
            "--port",
            std::to_string(port),
            "--records",
            std::to_string(records),
            "--input",
            options_.input};
  }
  child_process& start(const std::string& name, std::vector<std::string> arguments) {
    return children_.emplace_back(name, std::move(arguments));
  }
  /// The port of a child that has just been started; nothing, and the row says why, if it failed.
  std::optional<unsigned> ready(child_process& child, filter_result& row) {
    const auto said = wait_for_report(child, "ready", stop_, deadline_after(start_limit_s));
    if (said.what != child_report::kind::line) {
      row.status = explain(child, said);
      return {};
    }
    return static_cast<unsigned>(values_of(said.rest)["port"]);
  }

  void measure(filter_result& row) {
    children_.clear();
    if (row.what.rsyslog)
      measure_rsyslog(row);
    else
      measure_relays(row);
    for (auto each = children_.rbegin(); each != children_.rend(); ++each)
      each->ask_to_end();
    children_.clear();
  }

  void measure_relays(filter_result& row) {
    unsigned port = 0;
    std::vector<child_process*> relays;
    for (const auto* name : {"relay 2", "relay 1"}) {
      relays.push_back(&start(name, part("relay", port, 0)));
      const auto at = ready(*relays.back(), row);
      if (!at)
        return;
      if (port == 0)
        last_relay_ = *at;
      port = *at;
    }
    auto arguments = part("reader", last_relay_, row.expected);
    arguments.insert(arguments.end(), {"--conditions", std::to_string(row.what.conditions)});
    if (row.what.conditions > 0)
      arguments.insert(arguments.end(), {"--where", options_.where});
    auto& reader = start("subscriber", std::move(arguments));
    if (!ready(reader, row))
      return;
    arguments = part("writer", port, options_.records);
    arguments.insert(arguments.end(), {"--publishers", std::to_string(options_.publishers)});
    if (row.what.node)
      arguments.emplace_back("--node");
    auto& writer = start("publisher", std::move(arguments));
    auto sent = take(row, writer, reader);
    if (!sent)
      return;
    auto bytes = (*sent)["bytes"];
    for (auto* relay : relays) {
      relay->ask_to_end();
      const auto said = wait_for_report(*relay, "done", stop_, deadline_after(limit_of_run_s));
      if (said.what == child_report::kind::line)
        bytes += values_of(said.rest)["bytes"];
    }
    row.bytes.push_back(bytes / static_cast<double>(options_.records));
  }

  void measure_rsyslog(filter_result& row) {
    const auto program = find_rsyslogd(options_.rsyslogd);
    if (program.empty())
      return void(row.status = "not installed: rsyslog");
    auto& reader = start("receiver of lines", part("syslog-reader", 0, row.expected));
    const auto target = ready(reader, row);
    if (!target)
      return;
    const scratch_folder folder;
    auto port = *target;
    for (const auto* name : {"second", "first"}) {
      const auto listen = free_port();
      const auto file = folder.file(name);
      std::ofstream{file + ".conf"} << rsyslog_configuration(listen, port, options_.text);
      children_.emplace_back(
          fmt::format("the {} rsyslogd", name), program,
          std::vector<std::string>{"-n", "-f", file + ".conf", "-i", file + ".pid"});
      port = listen;
    }
    auto& writer = start("sender of lines", part("syslog-writer", port, options_.records));
    (void)take(row, writer, reader);
  }

  /// The figures of a round; the row says why there are none.
  std::optional<std::map<std::string, double>> take(filter_result& row, child_process& writer,
                                                    child_process& reader) {
    const auto limit = deadline_after(limit_of_run_s);
    const auto sent = wait_for_report(writer, "done", stop_, limit);
    if (sent.what != child_report::kind::line) {
      row.status = explain(writer, sent);
      return {};
    }
    const auto came = wait_for_report(reader, "done", stop_, limit);
    if (came.what != child_report::kind::line) {
      row.status = explain(reader, came);
      return {};
    }
    auto of_writer = values_of(sent.rest);
    auto of_reader = values_of(came.rest);
    const auto records = static_cast<double>(options_.records);
    const auto end_ns = std::max(of_reader["ns"], of_writer["end"]);
    row.rates.push_back(records / std::max((end_ns - of_writer["ns"]) / 1e9, 1e-9));
    row.cpu_ns.push_back(of_writer["cpu"] * 1e9 / records);
    row.delivered += static_cast<std::uint64_t>(of_reader["received"]);
    return of_writer;
  }

  /// The median of the rounds' ratios of one row to another, if both were measured.
  std::optional<double> ratio(const filter_result& x, const filter_result& to,
                              std::vector<double> filter_result::*figure) const {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min((x.*figure).size(), (to.*figure).size()); ++i)
      ratios.push_back((x.*figure)[i] / (to.*figure)[i]);
    if (ratios.empty())
      return {};
    return rate_statistics::of(std::move(ratios)).median;
  }

  static std::string text_of(const std::optional<double>& x, const char* form) {
    return x ? fmt::format(fmt::runtime(form), *x) : "-";
  }

  void print() const {
    fmt::print("{:34} {:>10} {:>10} {:>10} {:>8} {:>11} {:>11} {:>8} {:>5}\n",
               "records through two relays", "records/s", "min", "max", "wanted", "CPU ns each",
               "bytes each", "to every", "lost");
    for (const auto& x : results_) {
      if (x.rates.empty()) {
        fmt::print("  {:32} {}\n", x.what.name, x.status);
        continue;
      }
      const auto rate = rate_statistics::of(x.rates);
      const auto rounds = x.rates.size();
      fmt::print("  {:32} {:10.0f} {:10.0f} {:10.0f} {:7.2f}% {:11.0f} {:>11} {:>8} {:5}\n",
                 x.what.name, rate.median, rate.min, rate.max,
                 100.0 * static_cast<double>(x.expected) / static_cast<double>(options_.records),
                 rate_statistics::of(x.cpu_ns).median,
                 x.bytes.empty() ? "-" : fmt::format("{:.1f}", rate_statistics::of(x.bytes).median),
                 text_of(ratio(x, results_[everything], &filter_result::rates), "{:.2f}"),
                 rounds * x.expected - x.delivered);
    }
    fmt::print(
        "one condition to rsyslog: {}; bytes with one condition to those of everything: {}\n",
        text_of(ratio(results_[one_condition], results_.back(), &filter_result::rates), "{:.1f}"),
        text_of(ratio(results_[one_condition], results_[everything], &filter_result::bytes),
                "{:.4f}"));
  }

  json_object params() const {
    json_object result;
    result.add("records", options_.records)
        .add("rounds", options_.rounds)
        .add("publishers", options_.publishers)
        .add("input", options_.input)
        .add("where", options_.where)
        .add("text", options_.text);
    return result;
  }

  std::vector<json_object> described() const {
    std::vector<json_object> result;
    constexpr auto none = std::numeric_limits<double>::quiet_NaN();
    for (const auto& x : results_) {
      json_object each;
      each.add("who", x.what.name)
          .add("status", x.status)
          .add("conditions", x.what.conditions)
          .add("records_per_s", describe(rate_statistics::of(x.rates)))
          .add("cpu_ns", describe(rate_statistics::of(x.cpu_ns)))
          .add("bytes", describe(rate_statistics::of(x.bytes)))
          .add("to_everything",
               ratio(x, results_[everything], &filter_result::rates).value_or(none))
          .add("expected", x.expected * x.rates.size())
          .add("delivered", x.delivered);
      result.push_back(std::move(each));
    }
    return result;
  }

  exit_code outcome() const {
    auto result = exit_code::ok;
    for (const auto& x : results_) {
      if (x.what.rsyslog)
        continue;
      if (x.status != "measured")
        return complain(x.status), exit_code::connect;
      if (x.delivered != x.expected * x.rates.size())
        result = exit_code::loss;
    }
    return result;
  }

  const filter_options& options_;
  const filter_records& records_;
  const stop_signal& stop_;
  progress progress_;
  std::vector<filter_result> results_;
  std::deque<child_process> children_; // of the measurement at hand
  unsigned last_relay_ = 0;
};

exit_code run_filter(const filter_options& options) {
  const auto records = read_records(options.input);
  if (!records) {
    complain(tool::explain(records.error()) + "; name a Zeek log with --input");
    return exit_code::usage;
  }
  stop_signal stop;
  return filter_bench{options, *records, stop}.run();
}

constexpr const char* filter_examples = R"(Examples:
  pubsub bench filter
      conn records through two relays: all of them, one in a hundred by a condition, and rsyslog
  pubsub bench filter --records 1000000 --rounds 7 --json filter.json
Publisher, two relays and subscriber are processes of their own. The rate is that of the records
published, from the first until all have gone out and the last that is wanted has come. "CPU ns each" is the processor time of
the publisher for each of them, "bytes each" what all links carried, "to every" the rate divided by that
of the first row, the median of the rounds. A publisher that is a node of the network evaluates all
conditions itself; a client is told up to 64. rsyslog passes lines with the same records on over two
daemons if they contain a text; a row says so if it is not installed.
Status 2 if a row of ours could not be measured, 3 if it lost records.)";

} // namespace

} // namespace bench

void add_bench_filter(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::filter_options>();
  auto command =
      app.add_subcommand("filter", "Records that fulfil a condition, beside all of them");
  command->add_option("--records", options->records, "Records in each measurement")
      ->check(CLI::Range(1U, 100'000'000U))
      ->capture_default_str();
  command->add_option("--rounds", options->rounds, "Measurements of each row")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  command->add_option("--publishers", options->publishers, "Threads that publish, of one endpoint")
      ->check(CLI::Range(1U, 256U))
      ->capture_default_str();
  command->add_option("--input", options->input, "A Zeek log with the records, in turn")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_option("--where", options->where, "The condition")
      ->type_name("EXPR")
      ->capture_default_str();
  command
      ->add_option("--text", options->text,
                   "What rsyslog looks for in a record's values, with blanks between")
      ->type_name("TEXT")
      ->capture_default_str();
  command->add_option("--rsyslogd", options->rsyslogd, "The program (default: the system's)")
      ->type_name("PROGRAM");
  command->add_option("--json", options->json_file, "Write all figures to FILE")->type_name("FILE");
  command->footer(bench::filter_examples);
  command->callback([options, &outcome] { outcome = bench::run_filter(*options); });
}

void add_bench_filter_part(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::filter_end_options>();
  auto command = app.add_subcommand("filter-part", "One process (started by filter)");
  command->group(""); // not shown
  command->add_option("--role", options->role)->required();
  command->add_option("--port", options->port);
  command->add_option("--records", options->records);
  command->add_option("--input", options->input);
  command->add_option("--where", options->where);
  command->add_option("--conditions", options->conditions);
  command->add_option("--publishers", options->publishers);
  command->add_flag("--node", options->node);
  command->callback([options, &outcome] { outcome = bench::run_filter_end(*options); });
}

} // namespace pubsub::tool
