// SPDX-License-Identifier: BSD-3-Clause
#include "record/crc32.hpp"

#include <array>

#include "record/little_endian.hpp"

namespace pubsub::record {

namespace {

// Sixteen bytes a step: table k tells what a byte does to the checksum k bytes later.
constexpr std::size_t step_bytes = 16;
using crc_tables = std::array<std::array<std::uint32_t, 256>, step_bytes>;

constexpr crc_tables make_tables() {
  constexpr std::uint32_t polynomial = 0xedb8'8320;
  crc_tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    auto crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < step_bytes; ++k)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const auto crc = tables[k - 1][byte];
      tables[k][byte] = (crc >> 8) ^ tables[0][crc & 0xff];
    }
  return tables;
}

constexpr crc_tables tables = make_tables();

// What the four bytes of `word` do, the last of which is followed by `behind` bytes of the step.
std::uint32_t effect(std::uint32_t word, std::size_t behind) noexcept {
  return tables[behind + 3][word & 0xff] ^ tables[behind + 2][(word >> 8) & 0xff] ^
         tables[behind + 1][(word >> 16) & 0xff] ^ tables[behind][word >> 24];
}

} // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) noexcept {
  auto crc = ~before;
  const auto* pos = bytes.data();
  auto left = bytes.size();
  for (; left >= step_bytes; left -= step_bytes, pos += step_bytes)
    crc = effect(load_le<std::uint32_t>(pos) ^ crc, 12) ^
          effect(load_le<std::uint32_t>(pos + 4), 8) ^ effect(load_le<std::uint32_t>(pos + 8), 4) ^
          effect(load_le<std::uint32_t>(pos + 12), 0);
  for (; left > 0; --left, ++pos)
    crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<std::uint32_t>(*pos)) & 0xff];
  return ~crc;
}

} // namespace pubsub::record
