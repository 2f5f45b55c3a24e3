// `pubsub bridge`: messages to engines that keep them, and back.
// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"

#include "bridges/ddl.hpp"
#include "bridges/running_bridge.hpp"
#include "connection.hpp"
#include "metrics_option.hpp"
#include "node_options.hpp"
#include "recording/moments.hpp"
#include "stop_signal.hpp"
#include "terminal.hpp"

#include <memory>
#include <optional>

#include <fmt/format.h>

namespace pubsub::tool {

namespace {

constexpr std::chrono::seconds time_at_end{10};

struct bridge_command {
  bridge_options bridge;
  connection_options connection;
  std::string metrics;
  log_options log;
  bool json = false;
};

/// Shows how it goes, once a second.
class progress {
public:
  void show(const running_bridge& of) {
    if (const auto problem = of.last_problem(); problem != problem_) {
      problem_ = problem;
      if (!problem.empty())
        complain(printable(problem));
    }
    const auto now = of.counters();
    if (stderr_is_terminal())
      fmt::print(stderr, "{} delivered, {}/s, {} in flight{}\n", grouped(now.delivered),
                 grouped(now.delivered - before_), grouped(now.in_flight),
                 of.is_source() ? ", " + grouped(now.lag) + " behind" : "");
    before_ = now.delivered;
  }

private:
  std::uint64_t before_ = 0;
  std::string problem_;
};

/// Until it has come to its end, or is stopped.
void watch(const running_bridge& bridge, const stop_signal& stop) {
  progress shown;
  while (!bridge.closed()) {
    if (wait_readable(-1, stop, clock::now() + std::chrono::seconds{1}) == wake::stopped)
      return;
    shown.show(bridge);
  }
}

exit_code finish(running_bridge& bridge, bool json) {
  const auto left = bridge.closed() ? 0 : bridge.drain(time_at_end);
  bridge.close();
  const auto counts = bridge.counters();
  if (json)
    report_line(json_of(counts).text());
  else
    fmt::print(stderr, "{}\n", summary_of(counts));
  if (const auto failure = bridge.failure())
    return fail(failure);
  if (left > 0 || counts.in_flight > 0) {
    complain(fmt::format("{} were not confirmed in time",
                         grouped(std::max<std::uint64_t>(left, counts.in_flight))));
    return exit_code::loss;
  }
  return exit_code::ok;
}

exit_code run_bridge(const bridge_command& options) {
  if (options.connection.listen.empty() && options.connection.peers.empty()) {
    complain("bridge needs at least one --listen or --peer");
    return exit_code::usage;
  }
  const auto plan = plan_of(options.bridge);
  if (!plan) {
    complain(plan.error().context());
    return exit_code::usage;
  }
  stop_signal stop;
  event_log log{options.log};
  endpoint ep{options.connection.for_endpoint()};
  if (auto failed = connect(ep, options.connection, peering::wait); failed != exit_code::ok)
    return failed;
  auto bridge = running_bridge::open(ep, options.bridge.engine, *plan);
  if (!bridge)
    return fail(bridge.error());
  std::optional<metrics_server> server;
  const auto serving = start_metrics(ep, options.metrics, log, server,
                                     {.more_metrics = [&] { return metrics_of({&*bridge}); }});
  if (serving != exit_code::ok)
    return serving;
  watch(*bridge, stop);
  server.reset();
  return finish(*bridge, options.json);
}

constexpr const char* kafka_examples = R"(Examples:
  pubsub bridge kafka --peer 127.0.0.1:9999 --topic zeek/logs/ --brokers k1:9092 --to 'zeek.{path}' --key-by field:uid
      each record of a log to a topic of its own, as JSON, in the partition of its connection
  pubsub bridge kafka --peer 127.0.0.1:9999 --pipeline zeek-log --to 'zeek.{path}' --set compression.type=zstd
      what a Zeek cluster sends to its loggers' pipeline: acknowledged once the brokers have it
  pubsub bridge kafka --peer 127.0.0.1:9999 --pipeline jobs --format binary --transactional-id jobs-1
      the same in transactions: each task is there once, whatever is killed and started again
  pubsub bridge kafka --peer 127.0.0.1:9999 --from zeek.conn --group detectors --network site-b --publish 'kafka/{topic}'
      into another network; counts as read once it has been taken there
  pubsub bridge kafka --peer 127.0.0.1:9999 --from zeek.conn --start time:2026-11-27T00:00:00Z --rate 1000 --returned
      plays it again, a thousand records a second
)";
constexpr const char* jetstream_examples = R"(Examples:
  pubsub bridge jetstream --peer 127.0.0.1:9999 --topic zeek/logs/ --stream ZEEK --subjects 'zeek.>' --to 'zeek.{path}'
      records of logs to subjects of a stream, which is made where it is missing
  pubsub bridge jetstream --peer 127.0.0.1:9999 --stream ZEEK --from zeek.conn --group detectors --network site-b
      back into a network, as the durable consumer "detectors"
)";
constexpr const char* redis_examples = R"(Examples:
  pubsub bridge redis --peer 127.0.0.1:9999 --topic zeek/logs/ --to 'zeek:{path}' --max-length 1000000
      records of logs to streams that keep about a million entries each
  pubsub bridge redis --peer 127.0.0.1:9999 --from suricata --group pubsub --publish suricata/eve
      what Suricata writes to the stream "suricata", as messages
  pubsub bridge redis --peer 127.0.0.1:9999 --list rpush --from logstash:unparsed --publish logstash
      what a Logstash pushes to a list, as messages; it is removed once it was taken
)";
constexpr const char* about_all =
    R"(Nothing is lost where queues have the policy block: a slow engine holds publishers back, and what
was not confirmed when this ends comes again. What comes again is marked (header pubsub-redelivered).
Every second it says on a terminal what was delivered; at the end consumed = delivered + rejected + in
flight, with the reasons. Signals: Ctrl-C and SIGTERM end it once the engine has what was taken.
Exit status: 0 ok, 1 usage, 2 cannot listen or connect, 3 not all was confirmed.)";

void add_engine(CLI::App& parent, std::string_view engine, std::string_view title,
                const char* examples, exit_code& outcome) {
  auto options = std::make_shared<bridge_command>();
  options->bridge.engine = engine;
  auto* const command = parent.add_subcommand(
      std::string{engine}, fmt::format("Pass messages to {}, or from it", title));
  add_bridge_options(*command, options->bridge);
  command->add_flag("--json", options->json, "Print the totals as a JSON object");
  add_metrics_option(*command, options->metrics);
  add_connection_options(*command, options->connection);
  command->footer(std::string{examples} + about_all + "\n" + condition_help);
  command->callback([options, &outcome] { outcome = run_bridge(*options); });
}

constexpr const char* bridge_footer = R"(Examples:
  pubsub bridge kafka --help
      what can be told to each engine
  pubsub node --config node.toml
      many bridges in one process, from tables of its configuration:
          [[bridge]]
          name = "logs"
          engine = "kafka"
          topic = ["zeek/logs/"]
          to = "zeek.{path}")";

} // namespace

void add_bridge(CLI::App& app, exit_code& outcome) {
  auto* const command =
      app.add_subcommand("bridge", "Pass messages to Kafka, NATS JetStream or Redis, and back");
  command->require_subcommand(1);
  add_engine(*command, "kafka", "Kafka", kafka_examples, outcome);
  add_engine(*command, "jetstream", "streams of a NATS server", jetstream_examples, outcome);
  add_engine(*command, "redis", "streams or lists of Redis", redis_examples, outcome);
  add_ddl(*command, outcome);
  command->footer(bridge_footer);
}

} // namespace pubsub::tool
