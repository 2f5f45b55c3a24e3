// Network byte order out of a view; the caller has checked the length.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

namespace flow_monitor {

[[nodiscard]] inline std::uint16_t read_u16(std::span<const std::uint8_t> bytes, std::size_t at) {
  assert(at + 2 <= bytes.size());
  return static_cast<std::uint16_t>(bytes[at] << 8 | bytes[at + 1]);
}

[[nodiscard]] inline std::uint32_t read_u32(std::span<const std::uint8_t> bytes, std::size_t at) {
  return static_cast<std::uint32_t>(read_u16(bytes, at)) << 16 | read_u16(bytes, at + 2);
}

} // namespace flow_monitor
