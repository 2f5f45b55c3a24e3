// The checksum of MCAP files: CRC-32 as in zlib (polynomial 0x04c11db7, reflected).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pubsub::record {

/// The checksum of all bytes so far: those that gave `before`, and then `bytes`.
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0) noexcept;

} // namespace pubsub::record
