// A connected socket to a Redis server.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pubsub/error.hpp>

#include "base/unique_fd.hpp"
#include "bridge/redis/redis_url.hpp"

namespace pubsub::bridge {

/// Tries each address of the host for two seconds at most. Not blocking afterwards. Errors:
/// peer_unavailable.
expected<unique_fd> connect_to(const redis_url& where);

} // namespace pubsub::bridge
