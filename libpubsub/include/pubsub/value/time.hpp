// Points in time and durations, both exact to the nanosecond.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <pubsub/export.hpp>

namespace pubsub {

/// Nanoseconds, signed 64 bit.
using timespan = std::chrono::duration<std::int64_t, std::nano>;
/// Nanoseconds since the Unix epoch, UTC.
using timestamp = std::chrono::time_point<std::chrono::system_clock, timespan>;

/// The current wall-clock time.
PUBSUB_EXPORT timestamp now() noexcept;

} // namespace pubsub
