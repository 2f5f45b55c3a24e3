// The bit patterns Broker writes for reals, which are not quite IEEE 754.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace pubsub {

namespace real_impl {

inline constexpr std::uint64_t sign_bit = 0x8000'0000'0000'0000;
inline constexpr std::uint64_t mantissa_bits = 0x000f'ffff'ffff'ffff;
inline constexpr std::uint64_t wire_nan = 0xffff'ffff'ffff'ffff;
// The signs of the infinities are swapped on the wire.
inline constexpr std::uint64_t wire_plus_infinity = 0xfff0'0000'0000'0000;
inline constexpr std::uint64_t wire_minus_infinity = 0x7ff0'0000'0000'0000;

constexpr unsigned exponent_of(std::uint64_t bits) noexcept {
  return static_cast<unsigned>(bits >> 52) & 0x7ff;
}

/// True for exponents 1..2046: where wire and IEEE 754 agree.
constexpr bool is_normal(std::uint64_t bits) noexcept {
  return exponent_of(bits) - 1 < 0x7fe;
}

inline std::uint64_t encode_special(std::uint64_t bits) noexcept {
  if (exponent_of(bits) == 0)
    return bits & sign_bit; // zeros; a subnormal cannot be expressed and becomes zero
  if ((bits & mantissa_bits) != 0)
    return wire_nan;
  return (bits & sign_bit) == 0 ? wire_plus_infinity : wire_minus_infinity;
}

inline double decode_special(std::uint64_t bits) noexcept {
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  const bool negative = (bits & sign_bit) != 0;
  if (exponent_of(bits) == 0) {
    const auto mantissa = bits & mantissa_bits;
    // Broker adds the hidden bit even here, as if the exponent were an ordinary -1023.
    const auto hidden = std::uint64_t{1} << 52;
    const double magnitude =
        mantissa == 0 ? 0.0 : std::ldexp(static_cast<double>(hidden | mantissa), -1023 - 52);
    return negative ? -magnitude : magnitude;
  }
  if (bits == wire_nan)
    return std::numeric_limits<double>::quiet_NaN();
  if (bits == wire_plus_infinity)
    return infinity;
  if (bits == wire_minus_infinity)
    return -infinity;
  return negative ? -infinity : infinity; // Broker's arithmetic overflows
}

} // namespace real_impl

inline std::uint64_t encode_real(double x) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return real_impl::is_normal(bits) ? bits : real_impl::encode_special(bits);
}

inline double decode_real(std::uint64_t bits) noexcept {
  return real_impl::is_normal(bits) ? std::bit_cast<double>(bits) : real_impl::decode_special(bits);
}

/// Three-way comparison of reals as the model orders them: by value, both zeros equal, and NaN
/// equal to itself and behind all else, so that not even hostile input breaks the order.
inline int compare_real(double x, double y) noexcept {
  if (x < y)
    return -1;
  if (x > y)
    return 1;
  if (x == y)
    return 0;
  return static_cast<int>(std::isnan(x)) - static_cast<int>(std::isnan(y));
}

} // namespace pubsub
