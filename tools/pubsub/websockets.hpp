// WebSocket servers of a node, by the addresses they have on the command line.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include <pubsub/access.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/error.hpp>
#include <pubsub/queue_options.hpp>
#include <pubsub/tls_options.hpp>

namespace pubsub::tool {

struct websocket_settings {
  std::vector<std::string> addresses;
  std::vector<std::string> origins; ///< of web pages that may connect
};

void add_websocket_options(CLI::App& command, websocket_settings& to);

/// What the servers have in common with the node.
struct websocket_rights {
  std::optional<access_rules> access;
  tls_options tls;
  queue_options queue;
};

/// As `check(cluster::websocket_server_options)`, for each address. Errors: not_supported where
/// this command was built without WebSockets.
expected<void> check(const websocket_settings& settings, const websocket_rights& rights);

/// Closes its clients when it goes.
class websockets {
public:
  websockets();
  ~websockets();

  /// Returns where each listens.
  expected<std::vector<std::string>> start(const endpoint& ep, const websocket_settings& settings,
                                           const websocket_rights& rights);
  /// Access rules and certificates. Errors: those of `websocket_server`.
  expected<void> change(const websocket_rights& rights);
  void stop();

  /// What did not get through since the call before, and why; a sentence for each server where that
  /// happened.
  std::vector<std::string> losses();
  /// All that was counted, a sentence for each server.
  std::vector<std::string> totals() const;

private:
  struct running;
  std::vector<std::unique_ptr<running>> all_;
};

} // namespace pubsub::tool
