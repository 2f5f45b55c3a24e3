// Options that say where an endpoint listens and whom it peers with.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include <pubsub/endpoint.hpp>

#include "exit_code.hpp"
#include "stop_signal.hpp"
#include "tls_arguments.hpp"
#include "websockets.hpp"

namespace pubsub::tool {

struct connection_options {
  std::string name; ///< of the endpoint; empty: the name of the host
  std::vector<std::string> listen;
  std::vector<std::string> peers;
  /// Of `pubsub node` only.
  websocket_settings websockets;
  /// How long the first connection to a peer may take.
  double connect_timeout_s = 10;
  /// Seconds before the second attempt, and at most between later ones.
  double retry_s = 1;
  double max_retry_s = 30;
  /// Seconds after which a peer that says nothing is cut off; 0: never.
  double liveness_timeout_s = 30;
  /// Newest version of the peering protocol to offer; 1 is Broker's.
  unsigned wire_version = endpoint_options{}.max_wire_version;
  /// Threads that serve links.
  unsigned io_threads = endpoint_options{}.io_threads;
  /// Outbox of every link.
  queue_options link_queue;
  /// Of addresses at unix://.
  shared_memory_options memory;
  /// Of addresses at tls://.
  tls_options tls;

  /// Whether the certificates are for peers, and not for WebSocket clients alone.
  bool encrypts_peerings() const {
    return std::ranges::any_of(listen, is_encrypted) || std::ranges::any_of(peers, is_encrypted);
  }

  endpoint_options for_endpoint() const;
};

/// Of an endpoint that only asks others: it wants nothing, passes nothing on, and tells nothing.
endpoint_options only_asking(std::string name, const tls_options& tls);

void add_connection_options(CLI::App& command, connection_options& options);
/// Of these those for a program that does not listen, and sends nothing.
void add_peer_options(CLI::App& command, connection_options& options);
/// `policy` and `capacity` are names of options, `place` says what is full.
void add_queue_options(CLI::App& command, queue_options& options, const std::string& policy,
                       const std::string& capacity, const std::string& place);

/// Whether to return only when the peers are there.
enum class peering : unsigned char { wait, in_background };

/// Listens and peers as asked for; says on stderr which ports were opened. Complains about the
/// first failure and returns its exit status.
exit_code connect(endpoint& ep, const connection_options& options, peering how);

/// `tcp://127.0.0.1:9999` for what was asked for and the port that was opened.
std::string listen_address(const std::string& asked, std::uint16_t port);

} // namespace pubsub::tool
