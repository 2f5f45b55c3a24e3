// How an endpoint is, as JSON (docs/cli.md, `pubsub status`).
#pragma once

#include <cstddef>
#include <string>

namespace pubsub {

class endpoint_core;

/// At most `longest_bytes`, at least 4,096: peers and subscribers beyond that are left out and
/// counted.
std::string status_text(const endpoint_core& core, std::size_t longest_bytes);

} // namespace pubsub
