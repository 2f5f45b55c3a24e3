// A transport port: number and protocol.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub {

/// Values are those of the wire format.
enum class transport : std::uint8_t { unknown = 0, tcp = 1, udp = 2, icmp = 3 };

/// A port number with its protocol. Ordered by number, then by protocol.
class PUBSUB_EXPORT port {
public:
  constexpr port() = default;
  constexpr port(std::uint16_t number, transport protocol) : number_(number), protocol_(protocol) {}
  /// Parses `80/tcp`, `53/udp`, `8/icmp`, `0/?`; a bare number means tcp. Errors:
  /// conversion_failed.
  static expected<port> parse(std::string_view text);

  std::uint16_t number() const noexcept { return number_; }
  transport protocol() const noexcept { return protocol_; }

  friend auto operator<=>(const port&, const port&) = default;
  friend bool operator==(const port&, const port&) = default;

private:
  std::uint16_t number_ = 0;
  transport protocol_ = transport::unknown;
};

PUBSUB_EXPORT std::string to_string(const port& x);

} // namespace pubsub
