// SPDX-License-Identifier: BSD-3-Clause
#include "terminal.hpp"

#include <doctest/doctest.h>

using namespace pubsub::tool;

TEST_CASE("text of others loses what could steer a terminal, and nothing else") {
  CHECK(printable("zeek/records: \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80") ==
        "zeek/records: \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  CHECK(printable("\x1b[2J\n\x7f") == "\\x1b[2J\\x0a\\x7f");
  CHECK(printable("a\xc2\x9b"
                  "b") == "a?b");                   // the control character CSI in one
  CHECK(printable("\xff\xc3x\xe2\x82") == "??x??"); // no UTF-8
  CHECK(printable("\xc0\x9b") == "??");             // a longer spelling of another
}

TEST_CASE("text is cut by characters, and shows that it was cut") {
  CHECK(width_of("\xc3\xa4\xe2\x82\xac") == 2);
  CHECK(cut_to("abc", 3) == "abc");
  CHECK(cut_to("abcd", 3) == "ab~");
  CHECK(cut_to("\xc3\xa4\xc3\xa4\xc3\xa4", 2) == "\xc3\xa4~");
  CHECK(cut_to("abc", 1) == "~");
  CHECK(cut_to("abc", 0).empty());
}

TEST_CASE("times are short") {
  CHECK(short_duration(59.9) == "59s");
  CHECK(short_duration(3599) == "59m");
  CHECK(short_duration(7200) == "2h");
  CHECK(short_duration(10 * 86400) == "10d");
  CHECK(duration_text(4.25) == "4.2 s");
  CHECK(duration_text(3661) == "1 h 1 min");
}

TEST_CASE("numbers take five characters at most") {
  const std::pair<double, const char*> all[] = {
      {0, "0"},         {0.01, ">0"},       {0.4, "0.4"},         {7, "7"},
      {9.96, "10"},     {312.4, "312"},     {9'999, "9999"},      {12'345, "12.3k"},
      {99'960, "100k"}, {999'999, "1.00M"}, {4'560'000, "4.56M"}, {7.2e13, "72.0T"}};
  for (const auto& [x, text] : all)
    CHECK(short_number(x) == text);
}
