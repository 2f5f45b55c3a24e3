// Big-endian integers and varbytes: the primitives every byte format of ours is made of.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace pubsub {

namespace bytes_impl {

template <class U>
constexpr U swap_if_little(U x) noexcept {
  if constexpr (sizeof(U) == 1 || std::endian::native == std::endian::big)
    return x;
  else if constexpr (sizeof(U) == 2)
    return __builtin_bswap16(x);
  else if constexpr (sizeof(U) == 4)
    return __builtin_bswap32(x);
  else
    return __builtin_bswap64(x);
}

} // namespace bytes_impl

/// The integer whose big-endian bytes start at `pos`; needs sizeof(T) readable bytes, no alignment.
template <std::integral T>
T load_be(const std::byte* pos) noexcept {
  std::make_unsigned_t<T> x;
  std::memcpy(&x, pos, sizeof(x));
  return static_cast<T>(bytes_impl::swap_if_little(x));
}

/// Writes `value` big-endian and returns the position behind it.
template <std::integral T>
std::byte* store_be(std::byte* pos, T value) noexcept {
  const auto x = bytes_impl::swap_if_little(static_cast<std::make_unsigned_t<T>>(value));
  std::memcpy(pos, &x, sizeof(x));
  return pos + sizeof(x);
}

/// Copies `size` bytes, of which there may be none, and returns the position behind them.
inline std::byte* store_bytes(std::byte* pos, const void* bytes, std::size_t size) noexcept {
  if (size > 0)
    std::memcpy(pos, bytes, size);
  return pos + size;
}

/// A varbyte is unsigned LEB128 of a 32-bit value: at most this many bytes.
inline constexpr std::size_t max_varbyte_bytes = 5;

constexpr std::size_t varbyte_size(std::uint32_t x) noexcept {
  return (static_cast<std::size_t>(std::bit_width(x | 1U)) + 6) / 7;
}

inline std::byte* store_varbyte(std::byte* pos, std::uint32_t x) noexcept {
  while (x >= 0x80) {
    *pos++ = static_cast<std::byte>(x | 0x80);
    x >>= 7;
  }
  *pos++ = static_cast<std::byte>(x);
  return pos;
}

enum class varbyte_result : std::uint8_t { ok, truncated, overflow };

/// Reads a varbyte and moves `pos` behind it. Accepts non-minimal spellings, as Broker does;
/// refuses a sixth byte and values beyond 32 bits. `pos` and `out` are unspecified on failure.
inline varbyte_result load_varbyte(const std::byte*& pos, const std::byte* end,
                                   std::uint32_t& out) noexcept {
  if (pos != end && static_cast<std::uint8_t>(*pos) < 0x80) {
    out = static_cast<std::uint8_t>(*pos++);
    return varbyte_result::ok;
  }
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 7 * max_varbyte_bytes; shift += 7) {
    if (pos == end)
      return varbyte_result::truncated;
    const auto group = static_cast<std::uint8_t>(*pos++);
    value |= static_cast<std::uint64_t>(group & 0x7f) << shift;
    if (group < 0x80) {
      out = static_cast<std::uint32_t>(value);
      return value >> 32 == 0 ? varbyte_result::ok : varbyte_result::overflow;
    }
  }
  return varbyte_result::overflow;
}

/// As above from bytes known to hold a valid varbyte.
inline std::uint32_t load_valid_varbyte(const std::byte*& pos) noexcept {
  std::uint32_t value = static_cast<std::uint8_t>(*pos++);
  if (value < 0x80)
    return value;
  value &= 0x7f;
  for (unsigned shift = 7;; shift += 7) {
    const std::uint32_t group = static_cast<std::uint8_t>(*pos++);
    value |= (group & 0x7f) << shift;
    if (group < 0x80)
      return value;
  }
}

} // namespace pubsub
