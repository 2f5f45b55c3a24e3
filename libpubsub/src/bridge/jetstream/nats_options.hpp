// Options of a connection to a NATS server, checked.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <pubsub/bridge/engines.hpp>
#include <pubsub/error.hpp>

#include "bridge/jetstream/nats_ptr.hpp"

namespace pubsub::bridge {

/// Errors: invalid_argument: an address that is none, a file that cannot be read.
expected<nats_ptr<natsOptions>> make_options(const jetstream& from);
/// The addresses for people: without users and passwords.
std::string shown_addresses(const std::string& url);

} // namespace pubsub::bridge
