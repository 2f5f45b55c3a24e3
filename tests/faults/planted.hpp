// Faults of the suite's own programs, which the checker must find.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace faults {

/// Every 500th message is not written down, is written down twice, late, or with another content.
enum class planted : std::uint8_t { nothing, loss, duplicate, reorder, damage };

inline constexpr std::uint64_t planted_every = 500;

} // namespace faults
