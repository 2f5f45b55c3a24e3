// Options that say with which certificates connections are encrypted.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include <CLI/App.hpp>

#include <pubsub/tls_options.hpp>

namespace pubsub::tool {

/// Whether this address asks for encryption.
bool is_encrypted(const std::string& address);

/// Reads the file of a passphrase at once. It is a wrong usage to give any of them where no address
/// is encrypted, which `encrypts` tells once all is parsed: nobody is to believe in a protection
/// that is not there.
void add_tls_options(CLI::App& command, tls_options& options, std::function<bool()> encrypts);

} // namespace pubsub::tool
