#include "app.hpp"

#include "commands.hpp"

#include <csignal>
#include <cstdio>
#include <exception>

#include <fmt/format.h>

namespace pubsub::tool {

namespace {

constexpr const char* overview = R"(Examples:
  pubsub node --listen 127.0.0.1:9999                      a relay
  pubsub sub --peer 127.0.0.1:9999 --topic zeek/           prints what arrives, one JSON object a line
  pubsub pub --peer 127.0.0.1:9999 --zeek-log conn.log     sends the records of a log
  pubsub status 127.0.0.1:9999                             what a running node has counted
  pubsub bench chain --relays 0,1,2 --duration 5           measures a chain of relays on this machine
Exit status: 0 ok, 1 usage, 2 cannot listen or connect, 3 messages lost, 4 timeout.)";

void add_version(CLI::App& app) {
  app.add_subcommand("version", "Print the version")->callback([] {
    fmt::print("pubsub {}\n", PUBSUB_VERSION);
  });
}

} // namespace

int run(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN); // a closed stdout is noticed when writing
  CLI::App app{"Publish, subscribe and relay messages of network monitors.", "pubsub"};
  app.footer(overview);
  app.require_subcommand(1);
  auto outcome = exit_code::ok;
  add_node(app, outcome);
  add_pub(app, outcome);
  add_sub(app, outcome);
  add_ping(app, outcome);
  add_status(app, outcome);
  add_butterfly(app, outcome);
  auto bench = app.add_subcommand("bench", "Measure speed and cost, and check for loss");
  bench->require_subcommand(1);
  add_bench_stream(*bench, outcome);
  add_bench_chain(*bench, outcome);
  add_bench_compare(*bench, outcome);
  add_bench_chain_part(*bench, outcome);
  add_bench_latency(*bench, outcome);
  add_bench_latency_part(*bench, outcome);
  add_bench_fanout(*bench, outcome);
  add_bench_routing(*bench, outcome);
  add_bench_routing_part(*bench, outcome);
  add_bench_codec(*bench, outcome);
  add_bench_idle(*bench, outcome);
  add_bench_idle_part(*bench, outcome);
  add_bench_memory(*bench, outcome);
  add_bench_python(*bench, outcome);
  add_bench_butterfly(*bench, outcome);
  add_bench_batch_ack(*bench, outcome);
  add_bench_batch_ack_part(*bench, outcome);
  add_bench_remote(*bench, outcome);
  add_bench_remote_part(*bench, outcome);
  add_bench_versioned(*bench, outcome);
  add_bench_versioned_part(*bench, outcome);
  add_bench_link(*bench, outcome);
  add_version(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    bool asked_for_help = app.exit(problem) == 0;
    return static_cast<int>(asked_for_help ? exit_code::ok : exit_code::usage);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "pubsub: {}\n", problem.what());
    return static_cast<int>(exit_code::usage);
  }
  return static_cast<int>(outcome);
}

} // namespace pubsub::tool
