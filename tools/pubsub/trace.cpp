// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"

#include "connection.hpp"
#include "json_object.hpp"
#include "terminal.hpp"
#include "tls_arguments.hpp"
#include "trace_view.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include <pubsub/endpoint.hpp>

namespace pubsub::tool {

namespace {

struct trace_options {
  std::string topic;
  std::string peer;
  bool json = false;
  double timeout_s = 10;
  tls_options tls;
};

json_object json_of(const trace_hop& x) {
  json_object result;
  result.add("node", to_string(x.node)).add("name", x.name);
  if (!x.from.is_nil())
    result.add("from", to_string(x.from));
  return result.add("outcome", to_string(x.outcome))
      .add("round_trip_us", static_cast<std::uint64_t>(x.round_trip.count()))
      .add("queued", x.queued)
      .add("subscribers", x.subscribers)
      .add("waiting", x.waiting)
      .add("remarks", x.remarks);
}

std::string json_of(std::string_view topic, const std::vector<trace_hop>& hops) {
  std::vector<json_object> all;
  std::ranges::transform(hops, std::back_inserter(all),
                         [](const auto& each) { return json_of(each); });
  return json_object{}.add("topic", topic).add("hops", all).text() + "\n";
}

exit_code run_trace(const trace_options& options) {
  endpoint ep{only_asking("pubsub-trace", options.tls)};
  const auto patience = std::chrono::milliseconds{static_cast<long>(options.timeout_s * 1000)};
  if (auto peered = ep.peer(options.peer, {.retry = {}, .timeout = patience}); !peered)
    return fail(peered.error());
  const auto hops = ep.trace(options.topic, patience);
  if (!hops)
    return fail(hops.error());
  fmt::print("{}", options.json ? json_of(options.topic, *hops) : tree_of(*hops));
  if (std::fflush(stdout) != 0)
    return exit_code::usage;
  return outcome_of(*hops);
}

constexpr const char* trace_examples =
    R"(Nothing is published: every node on the way says what it would do with a message on this topic, to whom it would
pass it, and why not. A time is that from the node before to this one and back. Access rules may ask for the right
to inspect.
Exit status: 0 a subscriber would get it, 1 usage, 2 cannot connect, 3 nobody would get it, 4 a node has not
answered.

Examples:
  pubsub trace zeek/conn --peer 127.0.0.1:9999           who gets what is published on zeek/conn, and over whom
  pubsub trace zeek/conn --peer tls://relay:9999 --json  for programs)";

} // namespace

void add_trace(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<trace_options>();
  auto command =
      app.add_subcommand("trace", "Show where a message on a topic would go, hop by hop");
  command->add_option("topic", options->topic, "The topic of the message")
      ->required()
      ->type_name("TOPIC");
  command
      ->add_option("--peer", options->peer,
                   "Where it would be published: a node at HOST:PORT, tls://HOST:PORT or "
                   "unix:///PATH")
      ->required()
      ->type_name("ADDRESS");
  command->add_flag("--json", options->json, "One JSON object");
  command->add_option("--timeout", options->timeout_s, "Seconds to wait for all nodes")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_tls_options(*command, options->tls, [options] { return is_encrypted(options->peer); });
  command->footer(trace_examples);
  command->callback([options, &outcome] { outcome = run_trace(*options); });
}

} // namespace pubsub::tool
