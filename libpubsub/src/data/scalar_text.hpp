// Text of addresses, subnets and ports written into a caller's buffer, without allocation.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include <pubsub/value/address.hpp>
#include <pubsub/value/port.hpp>
#include <pubsub/value/subnet.hpp>

namespace pubsub {

/// Enough for any address, subnet or port.
inline constexpr std::size_t max_scalar_text_bytes = 64;

/// Each writes at most max_scalar_text_bytes characters and returns the end of the text.
char* write_text(char* out, const address& x) noexcept;
char* write_text(char* out, const subnet& x) noexcept;
char* write_text(char* out, const port& x) noexcept;

} // namespace pubsub
