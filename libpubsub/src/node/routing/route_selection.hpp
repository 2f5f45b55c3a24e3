// The conditions behind the links of a route: which links get a message.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <pubsub/condition.hpp>

#include "filter/condition_set.hpp"
#include "node/routing/route.hpp"

namespace pubsub {

/// Chooses, for each message of a route, those of its links behind which it may be wanted. Equal
/// conditions are evaluated once for all links. Not thread-safe.
class route_selection {
public:
  /// One for each link of the route, some of which do not want everything.
  explicit route_selection(std::span<const link_wish> wishes);
  ~route_selection();

  /// The route with the links that get this message; that of the whole route where all do. Stays as
  /// long as the selection does. `columns` as of condition_set.
  const route& choose(const route& whole, std::string_view topic, std::span<const std::byte> value,
                      conditions::log_columns& columns);

private:
  using bits = std::vector<std::uint64_t>; // of links

  const route& with_links(const route& whole, const bits& chosen);

  std::unique_ptr<condition_set> conditions_;
  std::vector<std::vector<std::uint32_t>> links_of_; // by condition
  bits always_;                                      // get every message
  bits all_;
  bool all_always_ = false;
  bits chosen_; // of the message at hand
  std::map<bits, std::unique_ptr<const route>> routes_;
  const route* unwanted_ = nullptr; // of messages that no condition wants; null until needed
};

} // namespace pubsub
