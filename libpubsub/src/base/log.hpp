// The library's one way to say something outside of return values.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include <pubsub/export.hpp>
#include <pubsub/log.hpp>

namespace pubsub {

/// Passes `line` to the hook. Never throws.
PUBSUB_EXPORT void log(log_level level, std::string_view line) noexcept;

} // namespace pubsub
