// Names of endpoints for people.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace pubsub {

inline constexpr std::size_t max_node_name_bytes = 64;

/// Whether the name can be shown anywhere as it is: what a peer calls itself ends up in terminals
/// and logs.
inline bool is_node_name(std::string_view name) noexcept {
  constexpr std::string_view marks = "-._:@/";
  return name.size() <= max_node_name_bytes && std::ranges::all_of(name, [&](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  marks.find(c) != std::string_view::npos;
         });
}

/// That of this host, cut and changed to be a name; empty where the system tells none.
std::string host_name();

} // namespace pubsub
