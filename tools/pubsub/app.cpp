// SPDX-License-Identifier: BSD-3-Clause
#include "app.hpp"

#include "commands.hpp"
#include "manual/completion.hpp"
#include "manual/manual.hpp"
#include "terminal.hpp"

#include <csignal>
#include <cstdio>
#include <exception>
#include <string_view>

#include <fmt/format.h>

namespace pubsub::tool {

namespace {

constexpr const char* overview = R"(Examples:
  pubsub node --listen 127.0.0.1:9999                      a relay
  pubsub sub --peer 127.0.0.1:9999 --topic zeek/           prints what arrives, one JSON object a line
  pubsub pub --peer 127.0.0.1:9999 --zeek-log conn.log     sends the records of a log
  pubsub status 127.0.0.1:9999                             what a running node has counted
  pubsub top 127.0.0.1:9999                                the whole network, as it is now
  pubsub tap zeek/ --peer 127.0.0.1:9999                   some of the messages that pass
  pubsub record --peer 127.0.0.1:9999 -o traffic.mcap      keeps what passes, for pubsub replay
  pubsub log-writer --peer 127.0.0.1:9999 --rotate 1h      writes Zeek's logs to files, as Zeek does
  pubsub bridge kafka --peer 127.0.0.1:9999 --topic zeek/  hands messages to Kafka, JetStream or Redis
  pubsub bench chain --relays 0,1,2 --duration 5           measures a chain of relays on this machine
Exit status: 0 ok, 1 usage, 2 cannot listen or connect, 3 messages lost, 4 timeout.)";

void add_version(CLI::App& app) {
  app.add_subcommand("version", "Print the version")->callback([] {
    fmt::print("pubsub {}\n", PUBSUB_VERSION);
  });
}

void add_commands(CLI::App& app, exit_code& outcome) {
  app.footer(overview);
  app.require_subcommand(1);
  add_node(app);
  add_pub(app, outcome);
  add_sub(app, outcome);
  add_ping(app, outcome);
  add_status(app, outcome);
  add_trace(app, outcome);
  add_top(app, outcome);
  add_tap(app, outcome);
  add_record(app, outcome);
  add_replay(app, outcome);
  add_info(app, outcome);
  add_log_writer(app, outcome);
  add_bridge(app, outcome);
  add_butterfly(app, outcome);
  add_zeek_proxy(app, outcome);
  add_bench(app);
  add_completion(app);
  add_version(app);
  add_manual(app, outcome);
}

/// What follows `bench` is known to the benchmarks' own program.
int run_complete(const CLI::App& app, int argc, char** argv) {
  if (argc > 3 && std::string_view{argv[2]} == "bench") {
    argv[2] = argv[1];
    return static_cast<int>(start_bench(argv + 2));
  }
  return static_cast<int>(complete(app, argc, argv));
}

int run_node(int argc, char** argv) {
  try {
    return static_cast<int>(start_node({argv + 2, argv + argc}));
  } catch (const std::exception& problem) {
    complain(problem.what());
    return static_cast<int>(exit_code::usage);
  }
}

} // namespace

int run(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN); // a closed stdout is noticed when writing
  if (argc > 1 && std::string_view{argv[1]} == "bench")
    return static_cast<int>(start_bench(argv + 2));
  if (argc > 1 && std::string_view{argv[1]} == "node")
    return run_node(argc, argv);
  CLI::App app{"Publish, subscribe and relay messages of network monitors.", "pubsub"};
  auto outcome = exit_code::ok;
  add_commands(app, outcome);
  if (argc > 1 && std::string_view{argv[1]} == complete_command)
    return run_complete(app, argc, argv);
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
