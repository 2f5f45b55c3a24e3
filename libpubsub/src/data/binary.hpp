// Encoding straight into memory the caller has reserved (format bin::v1).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>

#include <pubsub/data.hpp>

namespace pubsub {

/// What encoded_size returns for a value that bin::v1 cannot hold: a string or container of 2^32 or
/// more elements. Larger than any limit a caller may check against.
inline constexpr std::size_t not_encodable = std::numeric_limits<std::size_t>::max();

/// Number of bytes `encode` writes for `x`, or not_encodable.
std::size_t encoded_size(const data& x) noexcept;

/// Writes `x` to `out` and returns the position behind it. The caller has reserved encoded_size(x)
/// bytes and has ruled out not_encodable; nothing is checked or allocated here.
std::byte* encode(const data& x, std::byte* out) noexcept;

} // namespace pubsub
