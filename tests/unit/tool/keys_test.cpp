// SPDX-License-Identifier: BSD-3-Clause
#include "top/keys.hpp"

#include <doctest/doctest.h>

using namespace pubsub::tool;

namespace {

using presses = std::vector<key_press>;

presses all_keys(std::string bytes) {
  return take_keys(bytes, true);
}

} // namespace

TEST_CASE("letters and keys are told apart, however the terminal writes them") {
  CHECK(all_keys("q/") == presses{{key::character, 'q'}, {key::character, '/'}});
  CHECK(all_keys("\x1b[A\x1bOB") == presses{{key::up}, {key::down}});
  CHECK(all_keys("\x1b[5~\x1b[6~\x1b[1~\x1b[F") ==
        presses{{key::page_up}, {key::page_down}, {key::home}, {key::end}});
  CHECK(all_keys("\r\n\t\x7f\b") ==
        presses{{key::enter}, {key::enter}, {key::tab}, {key::backspace}, {key::backspace}});
}

TEST_CASE("sequences that mean nothing are passed over") {
  CHECK(all_keys("\x1b[15~\x1b[1;5Ax\x1bzy\x01") ==
        presses{{key::character, 'x'}, {key::character, 'y'}});
}

TEST_CASE("a sequence may come in parts, and one without an end is the key escape") {
  std::string bytes = "j\x1b[";
  CHECK(take_keys(bytes, false) == presses{{key::character, 'j'}});
  CHECK(bytes == "\x1b[");
  bytes += "A";
  CHECK(take_keys(bytes, false) == presses{{key::up}});
  CHECK(bytes.empty());
  bytes = "\x1b";
  CHECK(take_keys(bytes, false).empty());
  CHECK(take_keys(bytes, true) == presses{{key::escape}});
  CHECK(all_keys("\x1b\x1b[A") == presses{{key::escape}, {key::up}});
}
