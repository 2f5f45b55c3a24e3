// Connections within a host that move from their socket to memory both sides share.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <pubsub/shared_memory_options.hpp>

#include "transport/connection.hpp"

namespace pubsub {

/// Which side proposes to share memory: the one that has connected.
enum class memory_role : std::uint8_t { proposes, agrees };

/// Of a connected `unix://` socket. The bytes begin on the socket. Once there were some of them,
/// one side sends two descriptors beside the next ones: memory (`shared_region`), and one end of a
/// pair of sockets, the bell. A side that takes them says in that memory at which byte of its
/// stream it goes on there, and rings; then so does the other. A side that does not, or knows
/// nothing of all this, loses nothing: the socket carries on. A side sleeps until the other rings,
/// or is gone, which the kernel tells by the bell as well. It is a socket because a descriptor of
/// another kind (an eventfd) could be made to block by the side that shares it.
std::shared_ptr<connection> make_memory_connection(std::shared_ptr<asio::io_context> loop,
                                                   stream_protocol::socket socket, memory_role role,
                                                   const shared_memory_options& options);

} // namespace pubsub
