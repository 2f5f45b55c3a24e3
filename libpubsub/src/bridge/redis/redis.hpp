// Streams and lists of a Redis server: makes what sinks and sources need of them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <pubsub/bridge/engines.hpp>
#include <pubsub/bridge/source.hpp>
#include <pubsub/error.hpp>

#include "bridge/engine/engine_reader.hpp"
#include "bridge/engine/engine_writer.hpp"

namespace pubsub::bridge {

/// Does not wait for the server. Errors: invalid_argument.
expected<std::unique_ptr<engine_writer>> make_writer(const redis& to);
/// The same. Errors: invalid_argument, not_supported.
expected<std::unique_ptr<engine_reader>> make_reader(const redis& from,
                                                     const source_options& options);

} // namespace pubsub::bridge
