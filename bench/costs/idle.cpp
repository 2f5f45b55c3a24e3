// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/child_report.hpp"
#include "kit/process_usage.hpp"
#include "kit/report.hpp"
#include "terminal.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include <pubsub/endpoint.hpp>

namespace pubsub::tool {

namespace bench {

namespace {

constexpr double setup_limit_s = 60;
constexpr const char* last_topic = "idle/end";

struct idle_options {
  std::size_t peers = 10;
  std::size_t subscriptions = 1000;
  double duration_s = 10;
  std::string json_file;
};

struct idle_result {
  double seconds = 0;
  double cpu_s = 0;
  std::uint64_t wake_ups = 0;
  std::size_t answers = 0; // of peers, at the end
  double share() const { return cpu_s / seconds; }
};

filter many_topics(std::size_t n) {
  std::vector<std::string> prefixes;
  prefixes.reserve(n);
  for (std::size_t i = 0; i < n; ++i)
    prefixes.push_back(fmt::format("idle/{:07}/", i));
  return filter{prefixes};
}

// Peers are in another process, so that only this side is counted.
class idle_bench {
public:
  idle_bench(const idle_options& options, const stop_signal& stop)
      : options_(options), stop_(stop),
        sub_(ep_.make_subscriber(many_topics(options.subscriptions))),
        ends_(ep_.make_subscriber({last_topic})) {}

  exit_code run() {
    if (auto failed = set_up(); failed != exit_code::ok)
      return failed;
    // A consumer that waits is part of an idle process.
    std::thread consumer{[this] { (void)sub_.get(); }};
    auto outcome = measure();
    sub_.close();
    consumer.join();
    if (outcome != exit_code::ok && outcome != exit_code::loss)
      return outcome;
    fmt::print("{} peers, {} subscriptions: {:.4f} % of a core over {:.1f} s ({:.2f} ms, {} "
               "wake-ups)\n",
               options_.peers, options_.subscriptions, result_.share() * 100, result_.seconds,
               result_.cpu_s * 1e3, result_.wake_ups);
    auto saved = save_report(options_.json_file, "idle", params(), {describe_result()});
    return saved != exit_code::ok ? saved : outcome;
  }

private:
  exit_code set_up() {
    auto port = ep_.listen("tcp://127.0.0.1:0");
    if (!port)
      return fail(port.error());
    child_.emplace("peers", std::vector<std::string>{"idle-part", "--peer",
                                                     fmt::format("127.0.0.1:{}", *port), "--count",
                                                     std::to_string(options_.peers)});
    auto limit = deadline_after(setup_limit_s);
    auto ready = wait_for_report(*child_, "ready", stop_, limit);
    if (ready.what != child_report::kind::line)
      return fail_child(*child_, ready);
    if (!ep_.wait_for_peers(options_.peers, left_until(limit)))
      return fail({errc::request_timeout, "not all peers came"});
    return exit_code::ok;
  }

  exit_code measure() {
    constexpr double settle_s = 0.5;
    if (wait_readable(-1, stop_, deadline_after(settle_s)) == wake::stopped)
      return interrupted();
    if (stderr_is_terminal())
      fmt::print(stderr, "measuring for {} seconds\n", options_.duration_s);
    auto cpu = cpu_time();
    auto woken = wake_ups();
    auto begin = clock::now();
    if (wait_readable(-1, stop_, deadline_after(options_.duration_s)) == wake::stopped)
      return interrupted();
    result_.cpu_s = std::chrono::duration<double>(cpu_time() - cpu).count();
    result_.seconds = std::chrono::duration<double>(clock::now() - begin).count();
    result_.wake_ups = wake_ups() - woken;
    return count_answers();
  }

  // Idle is not dead: each peer still delivers a message.
  exit_code count_answers() {
    child_->ask_to_end();
    auto limit = deadline_after(setup_limit_s);
    while (result_.answers < options_.peers) {
      if (!ends_.get_for(left_until(limit)))
        break;
      ++result_.answers;
    }
    if (result_.answers == options_.peers)
      return exit_code::ok;
    complain(fmt::format("of {} peers only {} could still deliver a message", options_.peers,
                         result_.answers));
    return exit_code::loss;
  }

  static exit_code interrupted() {
    complain("interrupted");
    return exit_code::usage;
  }

  json_object params() const {
    json_object result;
    result.add("peers", options_.peers)
        .add("subscriptions", options_.subscriptions)
        .add("duration_s", options_.duration_s);
    return result;
  }

  json_object describe_result() const {
    json_object result;
    result.add("cpu_share", result_.share())
        .add("cpu_s", result_.cpu_s)
        .add("seconds", result_.seconds)
        .add("wake_ups", result_.wake_ups)
        .add("published", options_.peers)
        .add("delivered", result_.answers)
        .add("dropped", options_.peers - result_.answers);
    return result;
  }

  const idle_options& options_;
  const stop_signal& stop_;
  endpoint ep_;
  subscriber sub_;
  subscriber ends_;
  std::optional<child_process> child_;
  idle_result result_;
};

exit_code run_idle(const idle_options& options) {
  stop_signal stop;
  return idle_bench{options, stop}.run();
}

struct idle_part_options {
  std::string peer;
  std::size_t count = 1;
};

// The peers: silent until the end, then each publishes one message.
exit_code run_peers(const idle_part_options& options) {
  std::deque<endpoint> peers;
  for (std::size_t i = 0; i < options.count; ++i) {
    auto done = peers.emplace_back().peer("tcp://" + options.peer);
    if (!done)
      return fail(done.error());
  }
  report_line("ready");
  wait_for_parent();
  for (auto& x : peers) {
    if (!x.wait_for_subscribers(last_topic, 1, std::chrono::seconds{5}) ||
        x.publish(last_topic, data{true}) != publish_result::taken)
      return fail({errc::request_timeout, "the end of the run cannot be announced"});
  }
  for (auto& x : peers)
    (void)x.flush(std::chrono::seconds{5}); // what is left, the parent misses and says so
  return exit_code::ok;
}

constexpr const char* idle_examples = R"(Examples:
  pubsub bench idle
      processor time of an endpoint with 10 peers and 1000 subscriptions while nothing happens
  pubsub bench idle --peers 100 --subscriptions 10000 --duration 60 --json idle.json
The peers are in a process of their own and not counted. At the end each one sends a message:
status 3 if one does not arrive.)";

} // namespace

} // namespace bench

void add_bench_idle(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::idle_options>();
  auto command = app.add_subcommand("idle", "Processor time while nothing happens");
  command->add_option("--peers", options->peers, "Peers")
      ->check(CLI::Range(0U, 1000U))
      ->capture_default_str();
  command->add_option("--subscriptions", options->subscriptions, "Subscriptions")
      ->check(CLI::Range(0U, 1'000'000U))
      ->capture_default_str();
  command->add_option("--duration", options->duration_s, "Seconds to measure")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  command->add_option("--json", options->json_file, "Write all figures to FILE")->type_name("FILE");
  command->footer(bench::idle_examples);
  command->callback([options, &outcome] { outcome = bench::run_idle(*options); });
}

void add_bench_idle_part(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::idle_part_options>();
  auto command = app.add_subcommand("idle-part", "The peers (started by idle)");
  command->group(""); // not shown
  command->add_option("--peer", options->peer)->required();
  command->add_option("--count", options->count)->required();
  command->callback([options, &outcome] { outcome = bench::run_peers(*options); });
}

} // namespace pubsub::tool
