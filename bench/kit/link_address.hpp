// Where the processes of a benchmark meet: over TCP, with TLS, or over a socket of the host.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <CLI/App.hpp>

#include <pubsub/endpoint.hpp>

namespace pubsub::tool::bench {

/// `--transport tcp|unix|tls`.
void add_transport_option(CLI::App& command, std::string& transport);

/// Where a process may listen: at a free port of this host (`tls`: encrypted, without
/// certificates), or at the socket `file`, which only `unix` needs.
std::string listening_address(const std::string& transport, const std::string& file);

/// Listens there; returns where peers connect to. Errors: those of `endpoint::listen`.
expected<std::string> listen_for_peers(endpoint& ep, const std::string& address);

} // namespace pubsub::tool::bench
