// Events of Zeek clusters: how many a second, beside what others need for the same.
// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "cluster/zeek_ends.hpp"
#include "kit/child_report.hpp"
#include "kit/process_usage.hpp"
#include "kit/progress.hpp"
#include "kit/python_program.hpp"
#include "kit/report.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace pubsub::tool {

namespace bench {

namespace {

constexpr double limit_of_run_s = 120;

struct zeek_options {
  std::uint64_t events = 100'000;
  unsigned rounds = 5;
  std::string input = "bench/data/conn.log";
  std::vector<std::string> only;
  std::string python;
  std::string json_file;
};

/// One row. In a group, `libpubsub` is what the others are compared with.
struct zeek_case {
  const char* group;
  const char* way;  ///< as in `zeek_end_options`
  const char* who;  ///< `bare` and `libpubsub` are this program, others `libpubsub.bench.zeek`
  const char* name; ///< in the table
  bool sends = false;
  bool ours = false;
};

constexpr zeek_case cases[] = {
    {"zmq-proxy", "proxy", "bare", "bare libzmq"},
    {"zmq-proxy", "proxy", "libpubsub", "libpubsub", false, true},
    {"zmq", "direct", "bare", "bare libzmq"},
    {"zmq", "direct", "libpubsub", "libpubsub", false, true},
    {"zmq-send", "proxy", "bare", "bare libzmq", true},
    {"zmq-send", "proxy", "libpubsub", "libpubsub", true, true},
    {"python", "direct", "batches", "libpubsub, undecoded"},
    {"python", "direct", "data", "libpubsub, decoded"},
    {"python", "direct", "events", "libpubsub, Events", false, true},
    {"python", "direct", "async", "libpubsub, Events, async for"},
    {"python", "direct", "pyzmq", "pyzmq, decoded"},
    {"ws", "websocket", "websockets", "Python websockets + json"},
    {"ws", "websocket", "libpubsub", "libpubsub", false, true},
    {"ws-send", "websocket", "websockets", "Python websockets", true},
    {"ws-send", "websocket", "libpubsub", "libpubsub", true, true},
};

constexpr std::pair<const char*, const char*> titles[] = {
    {"zmq-proxy", "ZeroMQ, received over a proxy"}, {"zmq", "ZeroMQ, received directly"},
    {"zmq-send", "ZeroMQ, sent over a proxy"},      {"python", "ZeroMQ, received in Python"},
    {"ws", "WebSocket, from our server"},           {"ws-send", "WebSocket, to our server"},
};

struct zeek_result {
  zeek_case what{};
  std::string status = "measured";
  std::vector<double> rates;  // of the rounds
  std::vector<double> cpu_us; // for each event, of the process that is measured
  std::uint64_t published = 0;
  std::uint64_t delivered = 0;
};

class zeek_bench {
public:
  zeek_bench(const zeek_options& options, const stop_signal& stop)
      : options_(options), stop_(stop) {
    for (const auto& each : cases)
      if (options.only.empty() || std::ranges::find(options.only, each.group) != options.only.end())
        results_.emplace_back().what = each;
  }

  exit_code run() {
    if (encoded_event(options_.input).empty())
      return exit_code::usage;
    for (unsigned round = 1; round <= options_.rounds; ++round)
      for (auto& each : results_)
        if (each.status == "measured") {
          progress_.show(fmt::format("round {}: {}: {}", round, each.what.group, each.what.name));
          measure(each);
          if (stop_.requested())
            return exit_code::usage;
        }
    print();
    const auto saved = save_report(options_.json_file, "zeek", params(), described());
    return saved == exit_code::ok ? outcome() : saved;
  }

private:
  static bool in_python(const zeek_case& x) {
    return x.who != std::string_view{"bare"} && x.who != std::string_view{"libpubsub"};
  }

  child_process start_end(const zeek_case& what) const {
    return {"the other end",
            {"zeek-part", "--role", what.sends ? "sink" : "source", "--way", what.way, "--events",
             std::to_string(options_.events), "--input", options_.input}};
  }

  child_process start_node(const zeek_case& what, std::map<std::string, double> ready) const {
    const auto number = [&](const char* name) {
      return std::to_string(static_cast<unsigned>(ready[name]));
    };
    const auto uri = ready.contains("port") ? "ws://127.0.0.1:" + number("port")
                                            : fmt::format("zeek+zmq://127.0.0.1?xpub={}&xsub={}",
                                                          number("xsub"), number("xpub"));
    const auto events = std::to_string(options_.events);
    if (in_python(what)) {
      auto arguments = find_python(options_.python);
      const auto program = arguments.front();
      arguments.erase(arguments.begin());
      arguments.insert(arguments.end(), {"-m", "libpubsub.bench.zeek", what.who, uri, "--port",
                                         number("xpub"), "--events", events});
      if (what.sends)
        arguments.emplace_back("--send");
      return {what.name, program, arguments};
    }
    return {what.name,
            {"zeek-part", "--role", what.sends ? "writer" : "reader", "--who", what.who, "--uri",
             uri, "--xsub", number("xsub"), "--xpub", number("xpub"), "--events", events, "--input",
             options_.input}};
  }

  /// The receiver says how many events came, and how fast; processor time is that of the node.
  void measure(zeek_result& to) {
    const auto limit = deadline_after(limit_of_run_s);
    auto end = start_end(to.what);
    const auto ready = wait_for_report(end, "ready", stop_, limit);
    if (ready.what != child_report::kind::line)
      return void(to.status = explain(end, ready));
    auto node = start_node(to.what, values_of(ready.rest));
    const auto of_node = next_report(node, stop_, limit);
    if (of_node.what != child_report::kind::line)
      return void(to.status = explain(node, of_node));
    if (of_node.word != "done")
      return void(to.status = "not installed: " + of_node.rest);
    const auto of_end = wait_for_report(end, "done", stop_, limit);
    if (of_end.what != child_report::kind::line)
      return void(to.status = explain(end, of_end));
    auto received = values_of((to.what.sends ? of_end : of_node).rest);
    to.published += options_.events;
    to.delivered += static_cast<std::uint64_t>(received["events"]);
    to.rates.push_back(received["events"] / std::max(received["seconds"], 1e-9));
    // A sender of ours has handed its events over when it reports, and still works on them.
    const auto cpu_s = to.what.sends && !in_python(to.what) ? cpu_seconds_of(node.pid())
                                                            : values_of(of_node.rest)["cpu"];
    to.cpu_us.push_back(cpu_s * 1e6 / static_cast<double>(options_.events));
    node.ask_to_end(); // before the end that it is connected to
    node.wait(deadline_after(limit_of_run_s));
    end.ask_to_end();
    end.wait(deadline_after(limit_of_run_s));
  }

  /// The median of the rounds' ratios of our rate to that one; nothing if either was not measured
  /// or lost events.
  std::optional<double> ours_to(const zeek_result& it) const {
    const auto ours = std::ranges::find_if(results_, [&](const zeek_result& x) {
      return x.what.ours && x.what.group == std::string_view{it.what.group};
    });
    if (ours == results_.end() || it.rates.empty() || ours->rates.size() != it.rates.size() ||
        ours->published != ours->delivered || it.published != it.delivered)
      return {};
    std::vector<double> ratios;
    for (std::size_t i = 0; i < it.rates.size(); ++i)
      ratios.push_back(ours->rates[i] / it.rates[i]);
    return rate_statistics::of(std::move(ratios)).median;
  }

  void print() const {
    std::string_view group;
    for (const auto& x : results_) {
      if (group != x.what.group)
        for (const auto& [name, title] : titles)
          if (name == std::string_view{x.what.group})
            fmt::print("{:32} {:>10} {:>10} {:>10} {:>11} {:>9} {:>6}\n", title, "events/s", "min",
                       "max", "CPU us each", "ours / it", "lost");
      group = x.what.group;
      if (x.status != "measured") {
        fmt::print("  {:30} {}\n", x.what.name, x.status);
        continue;
      }
      const auto rate = rate_statistics::of(x.rates);
      const auto ratio = ours_to(x);
      fmt::print("  {:30} {:10.0f} {:10.0f} {:10.0f} {:11.2f} {:>9} {:6}\n", x.what.name,
                 rate.median, rate.min, rate.max, rate_statistics::of(x.cpu_us).median,
                 ratio ? fmt::format("{:.2f}", *ratio) : "-", x.published - x.delivered);
    }
    fmt::print("load of the machine when done: {}\n", load_text());
  }

  /// Processes that wanted to run in the last minute: others may have slowed all down.
  static double load() {
    double result = 0;
    return ::getloadavg(&result, 1) == 1 ? result : 0;
  }
  static std::string load_text() {
    return fmt::format("{:.1f} on {} processors", load(), ::sysconf(_SC_NPROCESSORS_ONLN));
  }

  json_object params() const {
    json_object result;
    result.add("events", options_.events)
        .add("rounds", options_.rounds)
        .add("input", options_.input)
        .add("load", load());
    return result;
  }

  std::vector<json_object> described() const {
    std::vector<json_object> result;
    for (const auto& x : results_) {
      json_object each;
      each.add("group", x.what.group)
          .add("who", x.what.name)
          .add("status", x.status)
          .add("ours_to_it", ours_to(x).value_or(std::numeric_limits<double>::quiet_NaN()))
          .add("msgs_per_s", describe(rate_statistics::of(x.rates)))
          .add("cpu_us", describe(rate_statistics::of(x.cpu_us)))
          .add("published", x.published)
          .add("delivered", x.delivered)
          .add("dropped", x.published - x.delivered);
      result.push_back(std::move(each));
    }
    return result;
  }

  exit_code outcome() const {
    auto result = exit_code::ok;
    for (const auto& x : results_)
      if (x.what.who == std::string_view{"libpubsub"}) {
        if (x.status != "measured")
          return exit_code::connect;
        if (x.published != x.delivered)
          result = exit_code::loss;
      }
    return result;
  }

  const zeek_options& options_;
  const stop_signal& stop_;
  progress progress_;
  std::vector<zeek_result> results_;
};

exit_code run_zeek(const zeek_options& options) {
  stop_signal stop;
  return zeek_bench{options, stop}.run();
}

constexpr const char* zeek_examples = R"(Examples:
  pubsub bench zeek
      events with a conn record: over ZeroMQ and WebSocket, in C++ and Python, beside other programs
  pubsub bench zeek --only zmq-proxy --events 500000 --rounds 7 --json zeek.json
Groups: zmq-proxy, zmq (the sender is what the receiver connects to, without a proxy between), zmq-send,
python, ws (from our server to a client) and ws-send. In each round every row is measured once. The
rate is that of who receives, from the first event to the last; "CPU us each" is the processor time of
the process in question for each event, all threads together; "ours / it" is libpubsub's rate divided
by that of the row, the median of the rounds, if neither lost events. "bare libzmq" takes the same
frames and does nothing with them: the limit. Nothing is dropped for lack of room: queues that would
drop have room for all events. Rows in Python need the package, pyzmq and websockets: a row that
lacks one says so.
Status 2 if a row of ours could not be measured, 3 if it lost events.)";

} // namespace

} // namespace bench

void add_bench_zeek(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::zeek_options>();
  auto command = app.add_subcommand("zeek", "Events of Zeek clusters beside libzmq and Python");
  command->add_option("--events", options->events, "Events in each measurement")
      ->check(CLI::Range(1U, 10'000'000U))
      ->capture_default_str();
  command->add_option("--rounds", options->rounds, "Measurements of each row")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  command->add_option("--only", options->only, "These groups only")
      ->check(CLI::IsMember({"zmq-proxy", "zmq", "zmq-send", "python", "ws", "ws-send"}));
  command->add_option("--input", options->input, "A Zeek log, for a record of it")
      ->type_name("FILE")
      ->capture_default_str();
  command
      ->add_option("--python", options->python,
                   "Python to run (default: the one beside this command or in .venv, else python3)")
      ->type_name("PROGRAM");
  command->add_option("--json", options->json_file, "Write all figures to FILE")->type_name("FILE");
  command->footer(bench::zeek_examples);
  command->callback([options, &outcome] { outcome = bench::run_zeek(*options); });
}

void add_bench_zeek_part(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::zeek_end_options>();
  auto command = app.add_subcommand("zeek-part", "One end (started by zeek)");
  command->group(""); // not shown
  command->add_option("--role", options->role)->required();
  command->add_option("--way", options->way);
  command->add_option("--who", options->who);
  command->add_option("--uri", options->uri);
  command->add_option("--xsub", options->xsub);
  command->add_option("--xpub", options->xpub);
  command->add_option("--events", options->events)->required();
  command->add_option("--input", options->input)->required();
  command->callback([options, &outcome] { outcome = bench::run_zeek_end(*options); });
}

} // namespace pubsub::tool
