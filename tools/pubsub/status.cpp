// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"

#include "connection.hpp"
#include "status_view.hpp"
#include "stop_signal.hpp"
#include "terminal.hpp"
#include "tls_arguments.hpp"

#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include <pubsub/endpoint.hpp>

namespace pubsub::tool {

namespace {

struct status_options {
  std::string address;
  bool json = false;
  std::optional<double> watch_s;
  double timeout_s = 10;
  tls_options tls;
};

/// A node that is there but does not tell, or has gone since, is one that could not be reached.
exit_code fail_to_ask(const error& problem) {
  const auto outcome = fail(problem);
  return outcome == exit_code::usage ? exit_code::connect : outcome;
}

/// Shows the status once. Says what went wrong otherwise.
exit_code look(const endpoint& ep, const endpoint_id& node, const status_options& options,
               status_view& view) {
  const auto json = ep.status_of(node, left_until(deadline_after(options.timeout_s)));
  if (!json)
    return fail_to_ask(json.error());
  const auto text = options.json ? expected<std::string>{*json + "\n"}
                                 : view.show(*json, std::chrono::steady_clock::now());
  if (!text)
    return fail(text.error());
  fmt::print("{}{}", *text, options.watch_s && !options.json ? "\n" : "");
  return std::fflush(stdout) == 0 ? exit_code::ok : exit_code::usage;
}

exit_code run_status(const status_options& options) {
  stop_signal stop;
  endpoint ep{only_asking("pubsub-status", options.tls)};
  const auto patience = std::chrono::milliseconds{static_cast<long>(options.timeout_s * 1000)};
  if (auto peered = ep.peer(options.address, {.retry = {}, .timeout = patience}); !peered)
    return fail(peered.error());
  const auto peers = ep.peers();
  if (peers.empty())
    return fail({errc::peer_unavailable, options.address + " left again"});
  const auto node = peers[0].id;
  status_view view{to_string(ep.id())};
  auto outcome = look(ep, node, options, view);
  while (outcome == exit_code::ok && options.watch_s &&
         wait_readable(-1, stop, deadline_after(options.watch_s)) == wake::timeout)
    outcome = look(ep, node, options, view);
  ep.close();
  return outcome;
}

constexpr const char* status_examples = R"(Examples:
  pubsub status 127.0.0.1:9999                what a running node has counted, its peers and subscribers
  pubsub status 127.0.0.1:9999 --watch 1      again every second, with rates
  pubsub status 127.0.0.1:9999 --json         one JSON object, for programs)";

} // namespace

void add_status(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<status_options>();
  auto command = app.add_subcommand("status", "Show the counters of a running node");
  command
      ->add_option("node", options->address,
                   "Where the node listens: HOST:PORT, tls://HOST:PORT or unix:///PATH")
      ->required()
      ->type_name("ADDRESS");
  command->add_flag("--json", options->json, "JSON objects, one a line");
  command->add_option("--watch", options->watch_s, "Look again every so many seconds, until Ctrl-C")
      ->check(CLI::PositiveNumber)
      ->type_name("SECONDS");
  command->add_option("--timeout", options->timeout_s, "Seconds to wait for the node")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_tls_options(*command, options->tls, [options] { return is_encrypted(options->address); });
  command->footer(status_examples);
  command->callback([options, &outcome] { outcome = run_status(*options); });
}

} // namespace pubsub::tool
