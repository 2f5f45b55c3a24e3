// Options that say where an endpoint listens and whom it peers with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include <pubsub/endpoint.hpp>

#include "exit_code.hpp"
#include "stop_signal.hpp"
#include "tls_arguments.hpp"

namespace pubsub::tool {

struct connection_options {
  std::vector<std::string> listen;
  std::vector<std::string> peers;
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
  /// Of addresses at tls://.
  tls_options tls;

  endpoint_options for_endpoint() const {
    endpoint_options result;
    result.max_wire_version = static_cast<std::uint8_t>(wire_version);
    result.io_threads = io_threads;
    result.liveness_timeout =
        std::chrono::milliseconds{static_cast<long>(liveness_timeout_s * 1000)};
    result.link_queue = link_queue;
    result.tls = tls;
    return result;
  }
};

void add_connection_options(CLI::App& command, connection_options& options);
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
