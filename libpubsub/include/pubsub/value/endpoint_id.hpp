// The 16-byte name of an endpoint.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <pubsub/error.hpp>

namespace pubsub {

/// A UUID. All zero means none or all, depending on the field. Ordered by its bytes.
class endpoint_id {
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

  friend auto operator<=>(const endpoint_id&, const endpoint_id&) = default;
  friend constexpr bool operator==(const endpoint_id& a, const endpoint_id& b) noexcept {
    const auto x = std::bit_cast<words>(a.bytes_);
    const auto y = std::bit_cast<words>(b.bytes_);
    return x.low == y.low && x.high == y.high; // comparing bytes is a call
  }

private:
  struct words {
    std::uint64_t low, high;
  };

  bytes_type bytes_{};
};

/// RFC 4122 text, lower case.
std::string to_string(const endpoint_id& id);

} // namespace pubsub

template <>
struct std::hash<pubsub::endpoint_id> {
  std::size_t operator()(const pubsub::endpoint_id& id) const noexcept;
};
