// SPDX-License-Identifier: BSD-3-Clause
#include "studies/emulator/link_settings.hpp"

#include <algorithm>

namespace emulator {

namespace {

constexpr double KiB = 1024;
constexpr double MiB = 1024 * KiB;

} // namespace

std::optional<link_settings> link_profile(std::string_view name) {
  using namespace std::chrono_literals;
  if (name == "lan")
    return link_settings{100us, 5e9, 5e9};
  if (name == "wan")
    return link_settings{40ms, 40e6, 7e6};
  return std::nullopt;
}

std::size_t link_room_bytes(double bits_per_s, std::chrono::nanoseconds round_trip) {
  if (bits_per_s <= 0)
    return static_cast<std::size_t>(16 * MiB);
  const auto bytes_per_ns = bits_per_s / 8e9;
  const auto ns = std::max(2 * static_cast<double>(round_trip.count()), 10e6);
  return static_cast<std::size_t>(std::clamp(bytes_per_ns * ns, 256 * KiB, 256 * MiB));
}

} // namespace emulator
