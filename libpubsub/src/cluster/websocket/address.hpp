// Addresses of WebSocket servers: `ws://HOST:PORT/PATH` and `wss://...`.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <pubsub/error.hpp>

namespace pubsub::cluster {

struct websocket_address {
  bool encrypted = false;
  std::string host; ///< without brackets; empty: every address
  std::uint16_t port = 0;
};

/// Reads an address whose path is empty, `/` or that of the API. Errors: invalid_argument; the
/// context says what is expected.
expected<websocket_address> parse_websocket_address(std::string_view text);

/// With the path of the API.
std::string to_string(const websocket_address& x);

} // namespace pubsub::cluster
