// IP addresses in 16 bytes, IPv4 mapped into IPv6.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub {

/// An IPv4 or IPv6 address. IPv4 is stored as IPv4-mapped IPv6. Ordered by its bytes.
class PUBSUB_EXPORT address {
public:
  static constexpr std::size_t size_bytes = 16;
  using bytes_type = std::array<std::uint8_t, size_bytes>;

  /// The unspecified address `::`.
  constexpr address() = default;
  /// From 16 bytes in network order.
  explicit constexpr address(const bytes_type& bytes) : bytes_(bytes) {}
  /// An IPv4 address from its value in host byte order, e.g. 0x7f000001 for 127.0.0.1.
  static address v4(std::uint32_t value) noexcept;
  /// Parses `192.0.2.1` or `2001:db8::1` (embedded dotted quad allowed, no zone, no brackets).
  /// Errors: conversion_failed.
  static expected<address> parse(std::string_view text);

  const bytes_type& bytes() const noexcept { return bytes_; }
  bool is_v4() const noexcept;
  /// Clears all but the first `length` bits, 0..128 counted in the 128-bit form.
  void mask(unsigned length) noexcept;

  friend auto operator<=>(const address&, const address&) = default;
  friend bool operator==(const address&, const address&) = default;

private:
  bytes_type bytes_{};
};

/// RFC 5952 text: lower case, longest zero run as `::`; mapped IPv4 as a dotted quad.
PUBSUB_EXPORT std::string to_string(const address& x);

} // namespace pubsub
