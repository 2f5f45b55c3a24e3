// Walking values in bin::v1 that are already known to be valid.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <pubsub/data.hpp>

namespace pubsub {

/// Body size of the types whose size does not depend on the value, indexed by tag; the others hold
/// variable_size.
inline constexpr std::uint8_t variable_size = 0xff;
inline constexpr auto body_size = [] {
  constexpr auto var = variable_size;
  return std::to_array<std::uint8_t>({0, 1, 8, 8, 8, var, 16, 17, 3, 8, 8, var, var, var, var});
}();

/// Whether these bytes are exactly one value, as `data_view::make` checks; says nothing more, and
/// is cheaper.
bool is_encoded_value(std::span<const std::byte> bytes);

inline data_type tag_at(const std::byte* pos) noexcept {
  return static_cast<data_type>(*pos);
}

/// The position behind the value at `pos`. Needs no stack, however deep the value.
const std::byte* skip_value(const std::byte* pos) noexcept;

/// Orders two values as `data` does: negative, zero or positive. On zero both positions are behind
/// their value, otherwise unspecified. Sets and tables inside must be in sorted order.
int compare_encoded(const std::byte*& x, const std::byte*& y) noexcept;

} // namespace pubsub
