// Data to bytes and back: Broker's bin::v1.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <pubsub/data.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub {

/// Appends `x` in bin::v1 to `out`. Infinities and NaN get Broker's deviating bit patterns,
/// subnormal reals become zero: keep them out of sets and table keys,
/// where two of them would coincide and receivers refuse the message. Errors: limit_exceeded for a
/// string or container of 2^32 or more elements; `out` is then unchanged.
PUBSUB_EXPORT expected<void> encode_binary(const data& x, std::vector<std::byte>& out);
/// As above into a new buffer.
PUBSUB_EXPORT expected<std::vector<std::byte>> encode_binary(const data& x);
/// Reads exactly one value. Errors: as data_view::make.
PUBSUB_EXPORT expected<data> decode_binary(std::span<const std::byte> bytes,
                                           const decode_limits& limits = {});

} // namespace pubsub
