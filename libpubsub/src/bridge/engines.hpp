// Makes what sinks and sources need of an engine, whichever it is.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <pubsub/bridge/engines.hpp>
#include <pubsub/bridge/source.hpp>
#include <pubsub/error.hpp>

#include "bridge/engine/engine_reader.hpp"
#include "bridge/engine/engine_writer.hpp"

namespace pubsub::bridge {

/// What is wrong with an option.
inline error wrong_option(std::string what) {
  return {errc::invalid_argument, std::move(what)};
}

/// None of these waits for the engine. Errors: invalid_argument, not_supported.
expected<std::unique_ptr<engine_writer>> make_writer(const engine& to);
expected<std::unique_ptr<engine_reader>> make_reader(const engine& from,
                                                     const source_options& options);
/// Whether a writer could be made.
expected<void> check_writer(const engine& to);
/// Whether tasks are to be written in the order of their numbers.
bool writes_in_order(const engine& to);

} // namespace pubsub::bridge
