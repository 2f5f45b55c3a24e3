// Where the library's own messages go.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <pubsub/export.hpp>

namespace pubsub {

enum class log_level : std::uint8_t { debug, info, warning, error };

/// Receives every line the library logs, from any thread; must not throw or block for long. The
/// default writes warnings and errors to stderr. An empty function silences the library.
PUBSUB_EXPORT void set_log_hook(std::function<void(log_level, std::string_view)> hook);

} // namespace pubsub
