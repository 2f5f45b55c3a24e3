// Waiting until somebody wants what is about to be published.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>

#include <pubsub/endpoint.hpp>

#include "stop_signal.hpp"

namespace pubsub::tool {

/// Waits until `n` subscribers or peers want `topic`, or topics below it.
wake wait_for_interest(const endpoint& ep, std::string_view topic, std::size_t n,
                       const stop_signal& stop, const deadline& end);

} // namespace pubsub::tool
