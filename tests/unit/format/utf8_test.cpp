// SPDX-License-Identifier: BSD-3-Clause
#include "format/utf8.hpp"

#include <doctest/doctest.h>

using namespace pubsub;

TEST_CASE("characters of one to four bytes are UTF-8") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("plain"));
  CHECK(is_utf8("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"));
  CHECK(is_utf8("\xf4\x8f\xbf\xbf")); // the last one
  CHECK(utf8_character_bytes("\xe2\x82\xac!") == 3);
}

TEST_CASE("what is cut short, too long, a surrogate or beyond the last character is not") {
  for (const auto* bad : {"\x80", "\xc3", "\xc3(", "\xe2\x82", "\xc0\xaf", "\xe0\x80\xaf",
                          "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xff"}) {
    CHECK(utf8_character_bytes(bad) == 0);
    CHECK_FALSE(is_utf8(bad));
  }
}
