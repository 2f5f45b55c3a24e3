// Addresses of WebSocket servers.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pubsub::cluster {

struct websocket_url {
  bool encrypted = false;
  std::string host; ///< without brackets
  std::string port;
  std::string path;

  /// As the HTTP header has it.
  std::string host_and_port() const {
    return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
  }
};

/// Nothing where it is none; there may be nothing behind the path.
std::optional<websocket_url> parse_websocket_url(std::string_view text);

} // namespace pubsub::cluster
