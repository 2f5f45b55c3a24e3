// What comes from a peer and is shown to people.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace pubsub {

/// The text without characters that terminals act upon: what is not printable ASCII becomes `?`.
inline std::string printable(std::string_view text) {
  std::string result{text};
  std::ranges::replace_if(
      result, [](char c) { return c < ' ' || c > '~'; }, '?');
  return result;
}

} // namespace pubsub
