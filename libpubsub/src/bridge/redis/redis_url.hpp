// Where a Redis server is, and as whom to log in.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <pubsub/error.hpp>

namespace pubsub::bridge {

struct redis_url {
  std::string path; ///< of a Unix socket; empty: host and port
  std::string host;
  std::uint16_t port = 6379;
  std::string user;     ///< empty: the default one
  std::string password; ///< empty: without login
  std::uint32_t database = 0;

  /// For people: without the password.
  std::string shown() const;
};

/// `redis://[[user]:password@]host[:port][/database]` or `unix:///path`. User and password may have
/// %XX. Errors: invalid_argument.
expected<redis_url> parse_redis_url(std::string_view text);

} // namespace pubsub::bridge
