// SPDX-License-Identifier: BSD-3-Clause
#include "node_options.hpp"

#include "clusters.hpp"
#include "config_file.hpp"
#include "manual/command_text.hpp"
#include "metrics_option.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <set>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace pubsub::tool {

namespace {

constexpr const char* examples = R"(Examples:
  pubsub node --listen 127.0.0.1:9999
      a relay that others connect to
  pubsub node --listen '*:9999' --peer upstream.example.net:9999
      a second hop; a peer that is away is tried again and again
  pubsub node --config /etc/pubsub/node.toml
      all of it from a file, in which each option is a key, and a list where it may be repeated:
          name = "sensor-1"
          listen = ["127.0.0.1:9999", "unix:///run/pubsub/node.sock"]
          peer = ["upstream.example.net:9999"]
  pubsub node --config node.toml --check
      only says what is wrong with the file, and in which line
  pubsub node --config node.toml --dry-run yesterday.mcap
      says what rules in the file, such as the following, would do with recorded messages; other
      actions are publish = "TOPIC", sample = N and rate_limit = N, both with by = "FIELD", and
      mask = ["FIELD"] (docs/how-to/rules.md):
          [[rule]]
          name = "no-scans"
          topics = ["zeek/records/conn"]
          match = 'id.resp_h in 10.0.0.0/8 && conn_state == "S0"'
          drop = true
  pubsub node --config node.toml
      bridges in the file, such as the following, take the keys of the options of pubsub bridge:
          [[bridge]]
          name = "logs"
          engine = "kafka"
          topic = ["zeek/logs/"]
          to = "zeek.{path}"
  pubsub node --listen 127.0.0.1:9999 --topic zeek/ --json
      announces zeek/ to its peers although nobody here has subscribed yet; events as JSON on stdout
  pubsub node --listen 'tls://*:9999' --certificate node.pem --key node.key --ca-file ca.pem
      encrypted, for peers with a certificate of the same authority; without the files, for anybody
  pubsub node --listen unix:///run/pubsub.sock --access access.toml
      for users of this host, each with the rights that the file gives
  pubsub node --listen '*:9999' --peer 'zeek+zmq://manager.example.net?xpub=27761&xsub=27760'
      a member of a Zeek cluster with the ZeroMQ backend, at the ports of its proxy (5556 and 5555 if
      none are given); with &logs=PORT also a logger for it, with &curve=FOLDER encrypted
  pubsub node --peer tls://manager:9999 --peer tls://worker-1:9997 --no-broker-transit --peer zeek+zmq://new
      joins a cluster of Brokers and one with the ZeroMQ backend; what is to get messages and to be
      heard of the old one has to be a peer, as Zeek's nodes pass nothing on to one another
  pubsub node --listen '*:9999' --peer 'ws://manager.example.net?topics=my/,zeek/cluster/manager'
      a client of a cluster's WebSocket server, at port 27759 if none is given; wss://HOST encrypts,
      ?token=FILE shows a token; without topics= those come that are subscribed to here
  pubsub node --listen '*:9999' --websocket ws://127.0.0.1:27759 --access access.toml
      Zeek's WebSocket API for web pages, scripts and zeekctl, with the rights that the file gives
  pubsub node --listen '*:9999' --metrics 127.0.0.1:9464
      a page that shows the network at http://127.0.0.1:9464/, and /metrics, /healthz, /readyz
Subscriptions travel over any number of nodes by themselves; --topic is only needed between Broker
nodes. Signals: SIGHUP reads the files again (configuration, access rules, certificates) and changes
what can be changed without losing a link; a file with a mistake changes nothing. SIGUSR2 lets the
other nodes choose routes around this one, and then ends it. Ctrl-C and SIGTERM end it after sending
what is queued.)";

void add_files(CLI::App& command, node_options& to) {
  command
      .add_option(config_option, to.config,
                  "Read options from this file (TOML); those on the command line count more. Read "
                  "again on SIGHUP")
      ->type_name("FILE");
  command.add_flag("--check", to.check,
                   "Only say what is wrong with the options and files; status 1 if anything is");
  command
      .add_option("--dry-run", to.dry_run,
                  "Only say what the rules of the configuration file would do with the messages of "
                  "this recording")
      ->type_name("MCAP");
  command
      .add_option(
          "--mask-key-file", to.mask_key,
          "The key of rules ([[rule]] in the configuration file) that mask: all of this file, "
          "16 bytes at least. Nodes with the "
          "same key mask alike. Read again on SIGHUP")
      ->type_name("FILE");
  command
      .add_option("--access", to.access,
                  "What peers may do that connect to this node: rules in TOML (docs/security.md). "
                  "Read again on SIGHUP; if something is wrong then, the old rules stay")
      ->type_name("FILE");
}

void add_limits(CLI::App& command, node_options& to) {
  command.add_option("--max-peers", to.max_peers, "Refuse more peers than so many at a time")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--max-frame-bytes", to.max_frame_bytes,
                  "Cut off a peer that announces a longer frame")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--retire-timeout", to.retire_timeout_s,
                  "Seconds that other nodes have, after SIGUSR2, to route around this one")
      ->check(CLI::Range(0.0, 86'400.0))
      ->capture_default_str();
}

void add_options(CLI::App& command, node_options& to) {
  add_files(command, to);
  add_connection_options(command, to.connection);
  command.add_option("--topic", to.topics, "Always announce this topic prefix (repeatable)")
      ->type_name("PREFIX");
  add_websocket_options(command, to.connection.websockets);
  add_metrics_option(command, to.metrics);
  add_limits(command, to);
  add_log_options(command, to.log);
  command.add_flag(
      "--no-broker-transit", to.no_broker_transit,
      "Pass nothing from one Broker peer (version 1) on to another: for peers that are "
      "nodes of one Zeek cluster, and have each other's messages already");
  command.add_flag("--no-status", to.no_status, "Do not answer `pubsub status`");
}

/// Those of the file whose option is not among the arguments, and the arguments.
expected<std::vector<std::string>> with_file(const std::vector<std::string>& arguments) {
  const auto path = value_of(config_option, arguments);
  if (path.empty())
    return arguments;
  node_options none;
  auto entries = read_config(path, [&none](CLI::App& command) { add_options(command, none); });
  if (!entries)
    return entries.error();
  const auto given = options_given(arguments);
  std::vector<std::string> result;
  for (const auto& each : *entries)
    if (!given.contains(each.option))
      result.insert(result.end(), each.arguments.begin(), each.arguments.end());
  result.insert(result.end(), arguments.begin(), arguments.end());
  return result;
}

} // namespace

void add_log_options(CLI::App& command, log_options& to) {
  auto* const format = command.add_option_function<std::string>(
      "--log-format",
      [&to](const std::string& name) {
        to.format = name == "json" ? event_style::json : event_style::text;
      },
      "text: lines on stderr, with priorities where that is the journal; json: an object a "
      "line on stdout");
  allow_only(format, {"text", "json"})->default_str("text");
  command.add_flag_callback(
      "--json", [&to] { to.format = event_style::json; }, "The same as --log-format json");
  auto* const level = command.add_option_function<std::string>(
      "--log-level",
      [&to](const std::string& name) {
        to.level = name == "error"     ? log_level::error
                   : name == "warning" ? log_level::warning
                                       : log_level::info;
      },
      "The least that is shown: info (each peer that comes and goes), warning or error");
  allow_only(level, {"info", "warning", "error"})->default_str("info");
}

void describe_node(CLI::App& command, node_options& to) {
  command.description("Run a relay that forwards between its peers");
  add_options(command, to);
  command.footer(examples);
}

endpoint_options node_options::for_endpoint() const {
  auto result = connection.for_endpoint();
  result.forwarding = forwarding::on;
  result.forward_topics = filter{topics};
  result.broker_transit = no_broker_transit ? broker_transit::off : broker_transit::on;
  result.serve_status = no_status ? status_service::off : status_service::on;
  result.max_peers = max_peers;
  result.max_frame_bytes = max_frame_bytes;
  return result;
}

websocket_rights node_options::for_websockets(std::optional<access_rules> rules) const {
  return {.access = std::move(rules), .tls = connection.tls, .queue = connection.link_queue};
}

std::vector<std::string> node_settings::differences(const node_settings& later) const {
  std::set<std::string> names;
  for (const auto* each : {&given, &later.given})
    for (const auto& [name, texts] : *each)
      names.insert(name);
  const auto texts_of = [](const node_settings& x, const std::string& name) {
    const auto found = x.given.find(name);
    return found == x.given.end() ? std::vector<std::string>{} : found->second;
  };
  std::vector<std::string> result;
  std::ranges::copy_if(names, std::back_inserter(result), [&](const auto& name) {
    return texts_of(*this, name) != texts_of(later, name);
  });
  return result;
}

std::optional<node_settings> parse_node(const std::vector<std::string>& arguments,
                                        exit_code& outcome) {
  outcome = exit_code::usage;
  node_settings result;
  CLI::App command{"", "pubsub node"};
  describe_node(command, result.options);
  const auto given = options_given(arguments);
  const bool helps = given.contains("--help") || std::ranges::count(arguments, "-h") > 0;
  const auto all = helps ? arguments : with_file(arguments);
  if (!all) {
    complain(all.error().context());
    return {};
  }
  try {
    parse(command, *all);
  } catch (const CLI::ParseError& problem) {
    if (command.exit(problem) == 0)
      outcome = exit_code::ok;
    return {};
  }
  const auto& where = result.options.connection;
  if (result.options.dry_run.empty() && where.listen.empty() && where.peers.empty() &&
      where.websockets.addresses.empty()) {
    complain("node needs at least one --listen or --peer, or a --websocket");
    return {};
  }
  for (const auto* const each : command.get_options())
    if (each->count() > 0)
      result.given[each->get_name()] = each->results();
  outcome = exit_code::ok;
  return result;
}

expected<node_rules> read_rules(const node_options& options) {
  node_rules result;
  if (!options.config.empty()) {
    auto rules = read_rules(options.config);
    if (!rules)
      return rules.error();
    result.rules = std::move(*rules);
  }
  if (!options.mask_key.empty()) {
    const auto key = read_mask_key(options.mask_key);
    if (!key)
      return key.error();
    result.key = *key;
  }
  for (const auto& each : result.rules)
    if (each.action == rule_action::mask && !result.key)
      return error{errc::invalid_argument,
                   "rule '" + each.text.name + "' masks, and there is no mask_key_file with a key"};
  return result;
}

expected<std::vector<bridge_text>> read_bridges(const node_options& options) {
  if (options.config.empty())
    return std::vector<bridge_text>{};
  return read_bridges(options.config);
}

expected<void> check(const node_options& options) {
  for (const auto& each : options.connection.listen)
    if (auto ok = check_uri(each); !ok)
      return ok;
  for (const auto& each : options.connection.peers)
    if (auto ok = check_peer_address(each); !ok)
      return ok;
  if (auto ok = check(options.for_endpoint()); !ok)
    return ok;
  const auto tls = options.for_endpoint().tls;
  if (auto ok = tls.authenticated() ? check(tls) : expected<void>{}; !ok)
    return ok;
  if (auto ok = check(options.connection.websockets, options.for_websockets({})); !ok)
    return ok;
  if (const auto rules = read_rules(options); !rules)
    return rules.error();
  if (const auto bridges = read_bridges(options); !bridges)
    return bridges.error();
  if (options.access.empty())
    return {};
  const auto rules = read_access_rules(options.access);
  return rules ? expected<void>{} : rules.error();
}

} // namespace pubsub::tool
