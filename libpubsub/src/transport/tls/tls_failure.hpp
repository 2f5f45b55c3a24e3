// Why TLS with a peer failed, in words its operator can act upon.
#pragma once

#include <cstdint>

#include <pubsub/error.hpp>

#include "transport/tls/tls_socket.hpp"

struct ssl_st;

namespace pubsub {

enum class tls_stage : std::uint8_t { handshake, established };

/// What has just failed on `ssl`, whose socket is `socket`; forgets what OpenSSL has noted of it.
/// Errors: peer_unavailable where the connection ended outside a handshake, otherwise tls_failed.
error explain_tls_failure(ssl_st* ssl, const tls_socket& socket, tls_stage stage);

} // namespace pubsub
