// What of Broker is not here: using it does not compile, and says what to use.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include <pubsub/compat/broker/data_functions.hpp>

namespace broker {
inline namespace over_pubsub {

namespace detail {
/// False, but only once a template is used.
template <class...>
inline constexpr bool never = false;
} // namespace detail

enum class backend : std::uint8_t { memory, sqlite, rocksdb };
using backend_options = std::unordered_map<std::string, data>;
/// There are no data stores here.
class store {};

} // namespace over_pubsub
} // namespace broker
