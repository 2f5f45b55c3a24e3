// Keys of a Zeek cluster that encrypts.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub::cluster {

/// Keys of a cluster that encrypts (CURVE), 40 characters each (Z85). Its servers, the proxy and
/// the loggers, have the same pair, and so have all of its clients. No node needs all four.
struct curve_keys {
  std::string server_public; ///< for clients
  std::string client_public; ///< for both: servers admit a client that has this one
  std::string client_secret; ///< for clients
  std::string server_secret; ///< for servers
};

/// For what keys are needed: a proxy is a server, a member a client, and one that accepts logs is
/// both.
enum class curve_role : std::uint8_t { client, server, both };

/// Whether the keys that this role needs are there. Errors: invalid_argument; the context names the
/// key.
PUBSUB_EXPORT expected<void> check(const curve_keys& keys, curve_role role);

/// Reads what the role needs of `server_publickey`, `server_secretkey`, `client_publickey` and
/// `client_secretkey` in a folder; ZeekControl keeps them in `zeromq/curve` of its spool folder.
/// Errors: cannot_open_file, invalid_argument (a file holds no key).
PUBSUB_EXPORT expected<curve_keys> read_curve_keys(const std::string& folder,
                                                   curve_role role = curve_role::client);

/// Reads what the role needs of `ZEEK_CLUSTER_BACKEND_ZEROMQ_CURVE_SERVER_PUBLICKEY`,
/// `..._SERVER_SECRETKEY`, `..._CLIENT_PUBLICKEY` and `..._CLIENT_SECRETKEY` in the environment.
/// Errors: invalid_argument; the context names the variable that is missing or holds no key.
PUBSUB_EXPORT expected<curve_keys>
curve_keys_from_environment(curve_role role = curve_role::client);

/// Makes two new pairs and writes them into files that only this user can read, in a folder that is
/// made where there is none. Never replaces a key. Errors: not_supported (libzmq cannot encrypt),
/// cannot_open_file (a file is there already, or cannot be written).
PUBSUB_EXPORT expected<void> make_curve_keys(const std::string& folder);

/// Public keys of clients, one a line. A comment begins with `#` and a space, and empty lines are
/// passed over. Errors: cannot_open_file,
/// invalid_argument (the context names the line).
PUBSUB_EXPORT expected<std::vector<std::string>> read_client_keys(const std::string& file);

} // namespace pubsub::cluster
