// Connections that are encrypted.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transport/connection.hpp"
#include "transport/tls/tls_context.hpp"

namespace pubsub {

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
