// The clients that `pubsub bench clients` counts the costs of, at a relay of ours or a NATS server.
// SPDX-License-Identifier: BSD-3-Clause
#include "clients/swarm.hpp"
#include "terminal.hpp"

#include <exception>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>
#include <unistd.h>

namespace pubsub::tool::bench {

namespace {

struct swarm_options {
  int port = 0;
  std::size_t clients = 0;
  bool nats = false;
};

/// Reports when all have joined, and each time when all have got one more message; ends when the
/// parent asks.
void run(const swarm_options& options) {
  using clock = swarm::clock;
  swarm all{options.port, options.clients, options.nats ? make_nats_client : make_native_client};
  const auto begin = clock::now();
  all.run(STDIN_FILENO, [&] { return all.ready() == options.clients; });
  report_line("joined", fmt::format("clients={} seconds={:.6f}", all.ready(),
                                    std::chrono::duration<double>(clock::now() - begin).count()));
  for (all.expect_message();
       all.run(STDIN_FILENO, [&] { return all.reached() == options.clients; });
       all.expect_message())
    report_line("reached",
                fmt::format("clients={} at_ns={}", all.reached(),
                            std::chrono::nanoseconds{clock::now().time_since_epoch()}.count()));
}

} // namespace

} // namespace pubsub::tool::bench

int main(int argc, char** argv) {
  using namespace pubsub::tool;
  bench::swarm_options options;
  CLI::App app{"Many clients of one server (started by pubsub bench clients)."};
  app.add_option("--port", options.port)->required();
  app.add_option("--clients", options.clients)->required();
  app.add_flag("--nats", options.nats);
  CLI11_PARSE(app, argc, argv);
  try {
    bench::run(options);
    return 0;
  } catch (const std::exception& problem) {
    complain(problem.what());
    return 2;
  }
}
