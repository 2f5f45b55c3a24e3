// What was typed, from the bytes that a terminal sends.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pubsub::tool {

enum class key : std::uint8_t {
  character, ///< `key_press::letter` says which
  up,
  down,
  page_up,
  page_down,
  home,
  end,
  left,
  right,
  enter,
  escape,
  backspace,
  tab,
};

struct key_press {
  key what;
  char letter = 0;

  friend bool operator==(const key_press&, const key_press&) = default;
};

/// Takes the keys off the front of `bytes`. The beginning of a sequence stays there for what
/// follows, unless nothing does (`complete`): then it is the key escape. Sequences that mean
/// nothing here are passed over.
std::vector<key_press> take_keys(std::string& bytes, bool complete);

} // namespace pubsub::tool
