// `pubsub-bench`, which `pubsub bench` becomes.
// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

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
  pubsub bench stream                                      one publisher, one subscriber, one process
  pubsub bench chain --relays 0,1,2 --duration 5           relays between processes of this machine
  pubsub bench latency                                     round trips, beside bare TCP
  pubsub bench compare --only chain                        beside what limits it, and other libraries
Each explains itself with --help. Messages are numbered and checked. Exit status: 0 ok, 1 usage,
2 something could not be measured, 3 messages lost, 4 timeout.)";

void add_benchmarks(CLI::App& app, exit_code& outcome) {
  add_bench_stream(app, outcome);
  add_bench_chain(app, outcome);
  add_bench_latency(app, outcome);
  add_bench_compare(app, outcome);
  add_bench_python(app, outcome);
  add_bench_fanout(app, outcome);
  add_bench_routing(app, outcome);
  add_bench_codec(app, outcome);
  add_bench_condition(app, outcome);
  add_bench_filter(app, outcome);
  add_bench_idle(app, outcome);
  add_bench_memory(app, outcome);
  add_bench_clients(app, outcome);
  add_bench_mesh(app, outcome);
  add_bench_batch_ack(app, outcome);
  add_bench_butterfly(app, outcome);
  add_bench_versioned(app, outcome);
  add_bench_remote(app, outcome);
}

/// Processes that the benchmarks start.
void add_parts(CLI::App& app, exit_code& outcome) {
  add_bench_chain_part(app, outcome);
  add_bench_latency_part(app, outcome);
  add_bench_routing_part(app, outcome);
  add_bench_filter_part(app, outcome);
  add_bench_idle_part(app, outcome);
  add_bench_clients_part(app, outcome);
  add_bench_mesh_part(app, outcome);
  add_bench_batch_ack_part(app, outcome);
  add_bench_versioned_part(app, outcome);
  add_bench_remote_part(app, outcome);
  auto* const roles = app.add_subcommand("part", "Roles of the command pubsub");
  roles->group(""); // not shown
  add_butterfly(*roles, outcome);
}

void add_studies(CLI::App& app, [[maybe_unused]] exit_code& outcome) {
#ifdef PUBSUB_STUDIES
  add_bench_link(app, outcome);
  add_bench_link_part(app, outcome);
  add_bench_remote_study(app, outcome);
#else
  for (const auto* name : {"link", "remote-study"}) {
    auto* const study = app.add_subcommand(name);
    study->group("")->allow_extras();
    study->callback([name, &outcome] {
      complain(fmt::format("{} is a study, left out of this build: cmake --preset release "
                           "-DPUBSUB_BUILD_STUDIES=ON adds it",
                           name));
      outcome = exit_code::usage;
    });
  }
#endif
}

void add_zeek(CLI::App& app, exit_code& outcome) {
#ifdef PUBSUB_HAS_CLUSTER
  add_bench_zeek(app, outcome);
  add_bench_zeek_part(app, outcome);
#else
  auto* const zeek = app.add_subcommand("zeek");
  zeek->group("")->allow_extras();
  zeek->callback([&outcome] {
    complain("zeek measures membership of Zeek clusters, which this build leaves out: it needs "
             "libzmq, cppzmq and simdjson (Debian: cppzmq-dev libsimdjson-dev)");
    outcome = exit_code::usage;
  });
#endif
}

void add_recording(CLI::App& app, exit_code& outcome) {
#ifdef PUBSUB_HAS_RECORD
  add_bench_record(app, outcome);
#else
  auto* const record = app.add_subcommand("record");
  record->group("")->allow_extras();
  record->callback([&outcome] {
    complain("record measures recordings, which this build leaves out: it needs zstd (Debian: "
             "libzstd-dev)");
    outcome = exit_code::usage;
  });
#endif
}

void add_broker_bridge(CLI::App& app, exit_code& outcome) {
#ifdef PUBSUB_HAS_BROKER
  add_bench_bridge(app, outcome);
#else
  auto* const bridge = app.add_subcommand("bridge");
  bridge->group("")->allow_extras();
  bridge->callback([&outcome] {
    complain("bridge measures bridges to Broker, which this build leaves out: it needs Broker 1.4 "
             "or 2.8 (Debian: libbroker-dev libcaf-dev)");
    outcome = exit_code::usage;
  });
#endif
}

int run(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN); // a closed stdout is noticed when writing
  CLI::App app{"Measures speed and cost of libpubsub, and checks for loss.", "pubsub bench"};
  app.footer(overview);
  app.require_subcommand(1);
  auto outcome = exit_code::ok;
  add_benchmarks(app, outcome);
  add_parts(app, outcome);
  add_studies(app, outcome);
  add_zeek(app, outcome);
  add_recording(app, outcome);
  add_broker_bridge(app, outcome);
  add_manual(app, outcome);
  if (argc > 1 && std::string_view{argv[1]} == complete_command)
    return static_cast<int>(complete(app, argc, argv));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    const bool asked_for_help = app.exit(problem) == 0;
    return static_cast<int>(asked_for_help ? exit_code::ok : exit_code::usage);
  } catch (const std::exception& problem) {
    complain(problem.what());
    return static_cast<int>(exit_code::usage);
  }
  return static_cast<int>(outcome);
}

} // namespace

} // namespace pubsub::tool

int main(int argc, char** argv) {
  return pubsub::tool::run(argc, argv);
}
