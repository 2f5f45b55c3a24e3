// The hash that samples are taken by: the same on every machine and in every version.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/bytes.hpp"

namespace pubsub::conditions {

/// Takes eight bytes at a time, big-endian, the last ones filled up with zeros; `seed` is the tag
/// of the type, or 0 (docs/reference/conditions.md).
inline std::uint64_t sample_hash(std::uint8_t seed, std::span<const std::byte> bytes) noexcept {
  constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
  constexpr std::uint64_t second = 0xD1B5'4A32'D192'ED03;
  auto hash = (std::uint64_t{seed} + 1) * golden + bytes.size();
  for (; !bytes.empty(); bytes = bytes.subspan(std::min<std::size_t>(bytes.size(), 8))) {
    std::byte word[8] = {};
    std::memcpy(word, bytes.data(), std::min<std::size_t>(bytes.size(), 8));
    hash = (hash ^ load_be<std::uint64_t>(word)) * golden;
    hash ^= hash >> 29U;
  }
  hash *= second;
  return hash ^ (hash >> 32U);
}

} // namespace pubsub::conditions
