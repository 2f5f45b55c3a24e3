// The option --metrics: metrics, health and a status page of the endpoint of a command.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include <CLI/App.hpp>

#include <pubsub/endpoint.hpp>
#include <pubsub/metrics/metrics_server.hpp>

#include "event_log.hpp"
#include "exit_code.hpp"

namespace pubsub::tool {

/// `address` stays empty where none is given.
void add_metrics_option(CLI::App& command, std::string& address);

/// Serves at the address, if there is one, as long as `server` lives, and shows where. Complains
/// about a failure and returns its exit status.
exit_code start_metrics(const endpoint& ep, const std::string& address, event_log& log,
                        std::optional<metrics_server>& server, metrics_options options = {});

} // namespace pubsub::tool
