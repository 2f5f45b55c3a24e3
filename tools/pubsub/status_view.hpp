// The status of a node as people read it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include <pubsub/error.hpp>

namespace pubsub::tool {

/// Turns what `endpoint::status_of` returns into text. From the second time on it shows beside
/// each counter how much it rose in a second.
class status_view {
public:
  /// `asker`: the id of this program, which the node lists among its peers.
  explicit status_view(std::string asker) : asker_(std::move(asker)) {}

  /// Several lines. Errors: invalid_data if it is no status, not_supported in a build without JSON.
  expected<std::string> show(const std::string& json, std::chrono::steady_clock::time_point now);

private:
  const std::string asker_;
  std::map<std::string, double, std::less<>> before_; // counters by their place
  std::chrono::steady_clock::time_point then_;
};

} // namespace pubsub::tool
