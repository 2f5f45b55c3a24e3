// Options of patterns that are counts.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <pubsub/error.hpp>

namespace pubsub::pattern {

/// The error of the first option that is 0, if one is.
inline error
check_counts(std::initializer_list<std::pair<std::string_view, std::uint64_t>> options) {
  for (const auto& [name, value] : options)
    if (value == 0)
      return {errc::invalid_argument, std::string{name} + " is 0; it is at least 1"};
  return {};
}

} // namespace pubsub::pattern
