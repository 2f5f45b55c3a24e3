// An address and a prefix length.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include <pubsub/export.hpp>
#include <pubsub/value/address.hpp>

namespace pubsub {

/// A network prefix. Ordered by address, then by raw length.
class PUBSUB_EXPORT subnet {
public:
  /// `::/0`.
  constexpr subnet() = default;
  /// `length` in bits of the address family (0..32 for IPv4, 0..128 for IPv6). Host bits are
  /// cleared; an over-long length gives `::/0`, as in Broker.
  subnet(const address& network, unsigned length) noexcept;
  /// As received: 128-bit length (IPv4 /n is n + 96), neither checked nor masked.
  static subnet from_raw(const address& network, std::uint8_t raw_length) noexcept;
  /// Parses `192.168.0.0/16` or `2001:db8::/32`. Errors: conversion_failed.
  static expected<subnet> parse(std::string_view text);

  const address& network() const noexcept { return network_; }
  /// Prefix length in bits of the address family: 0..32 for IPv4, 0..128 for IPv6.
  unsigned length() const noexcept;
  /// Prefix length in 128-bit terms, as on the wire.
  std::uint8_t raw_length() const noexcept { return raw_length_; }
  bool contains(const address& x) const noexcept;

  friend auto operator<=>(const subnet&, const subnet&) = default;
  friend bool operator==(const subnet&, const subnet&) = default;

private:
  address network_;
  std::uint8_t raw_length_ = 0;
};

PUBSUB_EXPORT std::string to_string(const subnet& x);

} // namespace pubsub
