// Endpoints joined over TLS.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/nodes.hpp"

namespace pubsub::test {

inline std::string tls_uri(std::uint16_t port) {
  return "tls://127.0.0.1:" + std::to_string(port);
}

inline std::uint16_t listen_tls(endpoint& ep) {
  const auto port = ep.listen("tls://127.0.0.1:0");
  REQUIRE(port.has_value());
  return *port;
}

inline endpoint_options with(const tls_options& tls, std::uint8_t version = 2) {
  endpoint_options result;
  result.tls = tls;
  result.max_wire_version = version;
  return result;
}

/// Peers `from` with `to` over TLS, both sides seeing it.
inline void join_tls(endpoint& from, endpoint& to) {
  const auto done = from.peer(tls_uri(listen_tls(to)), once);
  INFO((done ? "" : done.error().message()));
  REQUIRE(done.has_value());
  REQUIRE(to.wait_for_peer(from.id(), patience));
}

} // namespace pubsub::test
