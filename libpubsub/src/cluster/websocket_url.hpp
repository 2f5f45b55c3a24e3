// Addresses of WebSocket servers: `ws://HOST:PORT/PATH` and `wss://...`.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <pubsub/error.hpp>

namespace pubsub::cluster {

struct websocket_url {
  bool encrypted = false;
  std::string host; ///< without brackets; empty: every address of a server
  std::uint16_t port = 0;
  std::string path;

  /// As the HTTP header has it.
  std::string host_and_port() const;
};

/// Where a client connects: without them the port is 27759, and the path that of the API. Errors:
/// invalid_argument; the context says what is wrong, without the address.
expected<websocket_url> read_client_url(std::string_view text);

/// Where a server listens: `*` or no host is every address, port 0 picks one, and the path can only
/// be that of the API. Errors: as above.
expected<websocket_url> read_server_url(std::string_view text);

std::string to_string(const websocket_url& x);

} // namespace pubsub::cluster
