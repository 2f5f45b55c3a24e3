// Waiting until what was published has arrived.
#pragma once

#include <chrono>
#include <cstddef>

namespace pubsub {

class endpoint_core;

/// See `endpoint::drain`.
std::size_t drain(endpoint_core& core, std::chrono::nanoseconds timeout);

} // namespace pubsub
