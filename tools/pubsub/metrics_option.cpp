// SPDX-License-Identifier: BSD-3-Clause
#include "metrics_option.hpp"

#include "connection.hpp"
#include "terminal.hpp"

#include <utility>

namespace pubsub::tool {

void add_metrics_option(CLI::App& command, std::string& address) {
  command
      .add_option("--metrics", address,
                  "Serve metrics for Prometheus, health checks and a status page over HTTP at "
                  "HOST:PORT; whoever can connect sees all of it, so take 127.0.0.1 "
                  "(docs/monitoring.md)")
      ->type_name("HOST:PORT");
}

exit_code start_metrics(const endpoint& ep, const std::string& address, event_log& log,
                        std::optional<metrics_server>& server, metrics_options options) {
  if (address.empty())
    return exit_code::ok;
  auto started = metrics_server::start(ep, address, std::move(options));
  if (!started)
    return fail(started.error());
  const auto asked = address.starts_with("http://") ? address.substr(7) : address;
  const auto opened = listen_address(asked, started->port());
  log.metrics("http" + opened.substr(opened.find("://")) + "/");
  server.emplace(std::move(*started));
  return exit_code::ok;
}

} // namespace pubsub::tool
