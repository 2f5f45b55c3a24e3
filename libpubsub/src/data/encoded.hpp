// Walking values in bin::v1 that are already known to be valid.
#pragma once

#include <cstddef>
#include <cstdint>

#include <pubsub/data.hpp>

namespace pubsub {

inline constexpr std::uint8_t data_type_count = 15;

/// Body size of the types whose size does not depend on the value, indexed by tag; the others hold
/// variable_size.
inline constexpr std::uint8_t variable_size = 0xff;
inline constexpr std::uint8_t body_size[data_type_count] = {0,
                                                            1,
                                                            8,
                                                            8,
                                                            8,
                                                            variable_size,
                                                            16,
                                                            17,
                                                            3,
                                                            8,
                                                            8,
                                                            variable_size,
                                                            variable_size,
                                                            variable_size,
                                                            variable_size};

inline data_type tag_at(const std::byte* pos) noexcept {
  return static_cast<data_type>(*pos);
}

/// The position behind the value at `pos`. Needs no stack, however deep the value.
const std::byte* skip_value(const std::byte* pos) noexcept;

/// Orders two values as `data` does: negative, zero or positive. On zero both positions are behind
/// their value, otherwise unspecified. Sets and tables inside must be in sorted order.
int compare_encoded(const std::byte*& x, const std::byte*& y) noexcept;

} // namespace pubsub
