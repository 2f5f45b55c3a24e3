// SPDX-License-Identifier: BSD-3-Clause
#include "base/same_text.hpp"

#include <doctest/doctest.h>

#include <string>

using pubsub::same_text;

TEST_CASE("texts are the same exactly where each of their characters is") {
  const std::string alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP";
  for (std::size_t size = 0; size <= alphabet.size(); ++size) {
    const auto text = alphabet.substr(0, size);
    const auto copy = text;
    CHECK(same_text(text, copy));
    CHECK(same_text(text, std::string_view{alphabet}.substr(0, size)));
    CHECK_FALSE(same_text(text, text + "x"));
    CHECK_FALSE(same_text(text + "x", text));
    for (std::size_t at = 0; at < size; ++at) {
      auto other = text;
      other[at] = '-';
      CHECK_FALSE(same_text(text, other));
    }
  }
}
