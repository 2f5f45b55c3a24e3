// Sums of counters.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>

namespace pubsub {

/// Adds each member of `x`. `Counters` has members of type std::uint64_t only.
template <class Counters>
void add_to(Counters& sum, const Counters& x) noexcept {
  using numbers = std::array<std::uint64_t, sizeof(Counters) / sizeof(std::uint64_t)>;
  auto result = std::bit_cast<numbers>(sum);
  std::ranges::transform(result, std::bit_cast<numbers>(x), result.begin(), std::plus{});
  sum = std::bit_cast<Counters>(result);
}

} // namespace pubsub
