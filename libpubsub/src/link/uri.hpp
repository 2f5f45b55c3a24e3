// Addresses of endpoints as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <pubsub/error.hpp>

namespace pubsub {

/// A parsed `tcp://host:port`, `tcp://[v6]:port` or `host:port`. An empty host (or `*`) means any.
struct uri {
  std::string host;
  std::uint16_t port = 0;
};

/// Errors: invalid_argument, with a sentence that shows the expected form; not_supported for a
/// transport this build does not have.
expected<uri> parse_uri(std::string_view text);

/// `host:port`, brackets around IPv6.
std::string to_string(const uri& x);

} // namespace pubsub
