#include "commands.hpp"

#include "connection.hpp"
#include "peer_events.hpp"
#include "stop_signal.hpp"
#include "terminal.hpp"

#include <memory>
#include <optional>

#include <pubsub/endpoint.hpp>

namespace pubsub::tool {

namespace {

struct node_options {
  connection_options connection;
  std::vector<std::string> topics;
  std::string access; // a file; empty: everybody may do everything
  bool json = false;
  bool no_status = false;
};

exit_code listen_all(endpoint& ep, const node_options& options, event_style style) {
  for (const auto& address : options.connection.listen) {
    auto port = ep.listen(address);
    if (!port)
      return fail(port.error());
    show_listening(style, listen_address(address, *port));
  }
  return exit_code::ok;
}

/// What is wrong with the file is said; then the rules that hold stay.
exit_code read_access(endpoint& ep, const node_options& options, event_style style) {
  auto rules = read_access_rules(options.access);
  if (!rules)
    return fail(rules.error());
  const auto n = rules->size();
  if (const auto set = ep.set_access(std::move(*rules)); !set)
    return fail(set.error());
  show_access(style, options.access, n);
  return exit_code::ok;
}

exit_code run_node(const node_options& options) {
  if (options.connection.listen.empty() && options.connection.peers.empty()) {
    complain("node needs at least one --listen or --peer");
    return exit_code::usage;
  }
  auto style = options.json ? event_style::json : event_style::text;
  stop_signal stop;
  std::optional<reload_signal> reload; // without a file a terminal that hangs up ends the node
  if (!options.access.empty())
    reload.emplace();
  auto settings = options.connection.for_endpoint();
  settings.forwarding = forwarding::on;
  settings.forward_topics = filter{options.topics};
  settings.serve_status = options.no_status ? status_service::off : status_service::on;
  endpoint ep{settings};
  auto events = ep.make_status_subscriber();
  if (!options.access.empty())
    if (auto failed = read_access(ep, options, style); failed != exit_code::ok)
      return failed;
  if (auto failed = listen_all(ep, options, style); failed != exit_code::ok)
    return failed;
  auto peers_only = options.connection;
  peers_only.listen.clear();
  if (auto failed = connect(ep, peers_only, peering::in_background); failed != exit_code::ok)
    return failed;
  for (auto why = wake::ready; why != wake::stopped;
       why = wait_for_one_of(events.fd(), reload ? reload->fd() : -1, stop)) {
    if (reload && reload->take())
      read_access(ep, options, style);
    while (const auto event = events.try_get())
      show_status(style, *event);
  }
  ep.close();
  while (const auto event = events.try_get())
    show_status(style, *event);
  show_totals(style, ep.counters());
  return exit_code::ok;
}

constexpr const char* node_examples = R"(Examples:
  pubsub node --listen 127.0.0.1:9999
      a relay that others connect to
  pubsub node --listen '*:9999' --peer upstream.example.net:9999
      a second hop; a peer that is away is tried again and again
  pubsub node --listen 127.0.0.1:9999 --topic zeek/ --json
      announces zeek/ to its peers although nobody here has subscribed yet; events as JSON on stdout
  pubsub node --listen 'tls://*:9999' --certificate node.pem --key node.key --ca-file ca.pem
      encrypted, for peers with a certificate of the same authority; without the files, for anybody
  pubsub node --listen unix:///run/pubsub.sock --access access.toml
      for users of this host, each with the rights that the file gives; after a change: kill -HUP
Subscriptions travel over any number of nodes by themselves; --topic is only needed between Broker
nodes. Ends on Ctrl-C or SIGTERM after sending what is queued.)";

} // namespace

void add_node(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<node_options>();
  auto command = app.add_subcommand("node", "Run a relay that forwards between its peers");
  add_connection_options(*command, options->connection);
  command->add_option("--topic", options->topics, "Always announce this topic prefix (repeatable)")
      ->type_name("PREFIX");
  command
      ->add_option("--access", options->access,
                   "What peers may do that connect to this node: rules in TOML (docs/security.md). "
                   "Read again on SIGHUP; if something is wrong then, the old rules stay")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Show events as JSON lines on stdout");
  command->add_flag("--no-status", options->no_status, "Do not answer `pubsub status`");
  command->footer(node_examples);
  command->callback([options, &outcome] { outcome = run_node(*options); });
}

} // namespace pubsub::tool
