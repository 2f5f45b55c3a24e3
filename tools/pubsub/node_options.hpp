// What `pubsub node` is told on the command line and in its configuration file.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "bridges/active_bridges.hpp"
#include "connection.hpp"
#include "event_log.hpp"
#include "exit_code.hpp"
#include "rules/mask.hpp"
#include "rules/rule.hpp"

namespace pubsub::tool {

struct node_options {
  connection_options connection;
  std::vector<std::string> topics;
  std::string access;  ///< a file; empty: everybody may do everything
  std::string metrics; ///< an address; empty: none are served
  std::size_t max_peers = endpoint_options{}.max_peers;
  std::uint32_t max_frame_bytes = endpoint_options{}.max_frame_bytes;
  bool no_broker_transit = false;
  bool no_status = false;
  double retire_timeout_s = 30;
  log_options log;
  std::string config; ///< a file; empty: there is none
  bool check = false;
  std::string mask_key; ///< a file; empty: rules cannot mask
  std::string dry_run;  ///< a recording; empty: the node starts

  endpoint_options for_endpoint() const;
  websocket_rights for_websockets(std::optional<access_rules> rules) const;
};

/// The options, and the texts they were made of, by the name of each option that was given.
struct node_settings {
  node_options options;
  std::map<std::string, std::vector<std::string>> given;

  /// The options whose texts are others in `later`.
  std::vector<std::string> differences(const node_settings& later) const;
};

/// How and how much of what happens is shown.
void add_log_options(CLI::App& command, log_options& to);
/// Gives the command what it says of itself, and its options.
void describe_node(CLI::App& command, node_options& to);

/// Parses arguments, and the configuration file that they name: what is given as an argument holds
/// and not what the file says. Otherwise complains, or helps, and sets `outcome`.
std::optional<node_settings> parse_node(const std::vector<std::string>& arguments,
                                        exit_code& outcome);

/// The rules of the configuration file, if there is one, and the key of those that mask.
struct node_rules {
  std::vector<rule> rules;
  std::optional<mask_key> key;
};
expected<node_rules> read_rules(const node_options& options);

/// The bridges of the configuration file, if there is one.
expected<std::vector<bridge_text>> read_bridges(const node_options& options);

/// Whether a node can be started with these options, as far as that can be known without listening
/// or connecting: addresses, certificates, access rules, rules for
/// messages.
expected<void> check(const node_options& options);

} // namespace pubsub::tool
