// Little-endian integers, which MCAP files are made of.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace pubsub::record {

/// The bytes of an integer in reverse order where the processor is big-endian.
template <std::integral T>
constexpr T little(T x) noexcept {
  if constexpr (std::endian::native == std::endian::little || sizeof(T) == 1)
    return x;
  else if constexpr (sizeof(T) == 2)
    return static_cast<T>(__builtin_bswap16(static_cast<std::make_unsigned_t<T>>(x)));
  else if constexpr (sizeof(T) == 4)
    return static_cast<T>(__builtin_bswap32(static_cast<std::make_unsigned_t<T>>(x)));
  else
    return static_cast<T>(__builtin_bswap64(static_cast<std::make_unsigned_t<T>>(x)));
}

/// The integer at `pos`; needs sizeof(T) readable bytes, no alignment.
template <std::integral T>
T load_le(const std::byte* pos) noexcept {
  T x;
  std::memcpy(&x, pos, sizeof x);
  return little(x);
}

/// Writes `value` and returns the position behind it.
template <std::integral T>
std::byte* store_le(std::byte* pos, T value) noexcept {
  const auto x = little(value);
  std::memcpy(pos, &x, sizeof x);
  return pos + sizeof x;
}

} // namespace pubsub::record
