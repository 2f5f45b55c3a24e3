// Connections that are encrypted, and what of keys, certificates and trust they share.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <pubsub/tls_options.hpp>

#include "transport/connection.hpp"

struct ssl_ctx_st; // OpenSSL's, known to the .cpp files only

namespace pubsub {

/// Constant once made, so safe to use from any thread; null before.
using tls_context = std::shared_ptr<ssl_ctx_st>;

/// Made once for an endpoint, shared by its connections. Errors: as `check(tls_options)`. Throws
/// std::bad_alloc.
expected<tls_context> make_tls_context(const tls_options& options);

/// When the certificate of this side expires; nothing if it shows none.
std::optional<std::chrono::sys_seconds> certificate_expiry(const tls_context& context);

/// Who begins; the side that has connected is the client.
enum class tls_role : std::uint8_t { client, server };

/// The handshake takes place in the first read or write, and its failure is theirs: a bound of
/// the time until something is read bounds the handshake. Takes no certificates of more than 100
/// KiB from a peer, and holds at most 100 KiB of its own besides. `close` tells the peer, if that
/// is possible at once. `refusal` is what a server sends to a peer that does not speak TLS, if that
/// is possible at once. Throws std::bad_alloc.
std::shared_ptr<connection> make_tls_connection(std::shared_ptr<asio::io_context> loop,
                                                stream_protocol::socket socket,
                                                const tls_context& context, tls_role role,
                                                std::vector<std::byte> refusal = {});

} // namespace pubsub
