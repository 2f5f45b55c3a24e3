// Numbers of the WebSocket server that were chosen, and why.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>

namespace pubsub::cluster::websocket_tuning {

/// Messages for a client, and those of a client, that are handled before others have their turn.
inline constexpr std::size_t messages_a_turn = 64;
/// What a client's node holds of messages on their way into the network: the client is not read
/// from while it is full, and what is in it has left the kernel's buffers for nothing.
inline constexpr std::size_t incoming_messages = 1'024;
inline constexpr std::size_t incoming_bytes = 1024 * 1024;
/// There is no event for room in that.
inline constexpr auto retry_interval = std::chrono::milliseconds{1};
/// How long a client waits for the answer that its subscriptions are known everywhere: a node that
/// does not answer must not keep it.
inline constexpr auto readiness_timeout = std::chrono::seconds{2};
/// How long the peering with the endpoint may take.
inline constexpr auto peering_timeout = std::chrono::seconds{5};
/// How long a client may take to answer a close.
inline constexpr auto goodbye_timeout = std::chrono::seconds{1};
/// Connections beyond the clients: those that are to be refused with a reason.
inline constexpr std::size_t spare_connections = 64;
/// What the kernel holds for a client. A ping waits behind it: with more, clients that are slow
/// would answer too late.
inline constexpr int send_buffer_bytes = 256 * 1024;
/// The longest request for an upgrade.
inline constexpr std::size_t max_request_bytes = 16 * 1024;
/// Between attempts to accept, where that fails as without a descriptor left.
inline constexpr auto time_between_tries = std::chrono::milliseconds{100};

} // namespace pubsub::cluster::websocket_tuning
