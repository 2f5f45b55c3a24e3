// Addresses of endpoints as text.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <pubsub/error.hpp>

namespace pubsub {

enum class encryption : std::uint8_t { none, tls };

/// A parsed `tcp://host:port`, `tls://host:port`, or `host:port`, which means `tcp`; IPv6 in
/// brackets. An empty host (or `*`) means any. Or `unix:///path`, a socket of the file system.
struct uri {
  std::string host;
  std::uint16_t port = 0;
  encryption security = encryption::none;
  std::string path{};  ///< of `unix://`; then there is no host and no port
  std::string shown{}; ///< what people have called it, if that is another address

  friend bool operator==(const uri&, const uri&) = default;
};

/// Errors: invalid_argument, with a sentence that shows the expected form; not_supported for a
/// transport this build does not have.
expected<uri> parse_uri(std::string_view text);

/// What is shown in its place; else `host:port`, brackets around IPv6; in front `tls://` where that
/// is meant. Or `unix:///path`.
std::string to_string(const uri& x);

} // namespace pubsub
