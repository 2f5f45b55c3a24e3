// Streams of a NATS server: makes what sinks and sources need of them.
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
expected<std::unique_ptr<engine_writer>> make_writer(const jetstream& to);
/// The same. Errors: invalid_argument, not_supported.
expected<std::unique_ptr<engine_reader>> make_reader(const jetstream& from,
                                                     const source_options& options);

} // namespace pubsub::bridge
