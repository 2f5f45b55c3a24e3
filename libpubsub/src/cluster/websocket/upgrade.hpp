// The HTTP request with which a WebSocket begins: who comes, from where, and for what. Pure.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/websocket_messages.hpp"

namespace pubsub::cluster {

/// What of the header matters; texts are empty where a field is missing.
struct upgrade_request {
  std::string_view target;
  std::string_view host;
  std::string_view origin;
  std::string_view authorization;
  std::string_view protocols; ///< Sec-WebSocket-Protocol
  std::string_view application;
};

/// What the request comes to, but for rights.
struct upgrade {
  /// What the client is called; empty if it does not say.
  std::string application;
  /// `sha256:` and the digest of the token that it shows; empty if it shows none.
  std::string token;
  /// The subprotocol to confirm, where some are offered: a browser gives up without one.
  std::string protocol;
  /// What is said, before the connection is closed, to a client that wants something else.
  std::optional<websocket_error> refusal;
};

/// A token is shown in one of three ways, of which the first that is there counts: `Authorization:
/// Bearer TOKEN`; a subprotocol `bearer.TOKEN`, for web pages, which cannot set headers; or the
/// query
/// `?token=TOKEN`, where there is no other way.
upgrade read_upgrade(const upgrade_request& request);

/// Whether the page may connect: it says no origin, that of the host that it connects to, or one of
/// those that are allowed.
bool is_allowed_origin(const upgrade_request& request, const std::vector<std::string>& allowed);

} // namespace pubsub::cluster
