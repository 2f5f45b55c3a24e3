// The 16-byte name of an endpoint.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub {

/// A UUID. All zero means none or all, depending on the field. Ordered by its bytes.
class PUBSUB_EXPORT endpoint_id {
public:
  using bytes_type = std::array<std::uint8_t, 16>;

  /// The nil id.
  constexpr endpoint_id() = default;
  explicit constexpr endpoint_id(const bytes_type& bytes) : bytes_(bytes) {}
  /// A fresh random id; never nil.
  static endpoint_id random();
  /// Parses `8-4-4-4-12` hexadecimal digits. Errors: conversion_failed.
  static expected<endpoint_id> parse(std::string_view text);

  const bytes_type& bytes() const noexcept { return bytes_; }
  bool is_nil() const noexcept { return *this == endpoint_id{}; }

  // Words, since comparing bytes is a call.
  friend constexpr auto operator<=>(const endpoint_id& a, const endpoint_id& b) noexcept {
    const auto x = std::bit_cast<words>(a.bytes_);
    const auto y = std::bit_cast<words>(b.bytes_);
    return x.first == y.first ? ordered(x.second) <=> ordered(y.second)
                              : ordered(x.first) <=> ordered(y.first);
  }
  friend constexpr bool operator==(const endpoint_id& a, const endpoint_id& b) noexcept {
    const auto x = std::bit_cast<words>(a.bytes_);
    const auto y = std::bit_cast<words>(b.bytes_);
    return x.first == y.first && x.second == y.second;
  }

private:
  friend struct std::hash<endpoint_id>;
  struct words {
    std::uint64_t first, second;
  };
  /// Integers in the order of their bytes.
  static constexpr std::uint64_t ordered(std::uint64_t word) noexcept {
    return std::endian::native == std::endian::big ? word : __builtin_bswap64(word);
  }

  bytes_type bytes_{};
};

/// RFC 4122 text, lower case.
PUBSUB_EXPORT std::string to_string(const endpoint_id& id);

/// What `std::hash<endpoint_id>` multiplies with: two odd numbers, drawn once by each process.
/// Peers choose ids, and could otherwise choose thousands that fall into one bucket of a table.
struct id_hash_keys {
  std::uint64_t first, second;
};
/// Those of this process.
PUBSUB_EXPORT const id_hash_keys& keys_of_id_hash() noexcept;

} // namespace pubsub

template <>
struct std::hash<pubsub::endpoint_id> {
  std::size_t operator()(const pubsub::endpoint_id& id) const noexcept {
    const auto x = std::bit_cast<pubsub::endpoint_id::words>(id.bytes_);
    const auto& keys = pubsub::keys_of_id_hash();
    const auto sum = x.first * keys.first + x.second * keys.second;
    return static_cast<std::size_t>(sum ^ (sum >> 32));
  }
};
