// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "recording/moments.hpp"

using namespace pubsub;

namespace {

timestamp read(std::string_view text) {
  const auto found = tool::parse_moment(text);
  REQUIRE_MESSAGE(found, text);
  return found->after(timestamp{std::chrono::seconds{1000}});
}

} // namespace

TEST_CASE("a moment is a date, seconds since 1970, or seconds after the beginning") {
  CHECK(read("2026-01-31T12:00:00Z") == timestamp{std::chrono::seconds{1'769'860'800}});
  CHECK(read("2026-01-31T12:00:00") == read("2026-01-31T12:00:00Z"));
  CHECK(read("1970-01-01T00:00:01.25Z") == timestamp{std::chrono::milliseconds{1250}});
  CHECK(read("1769860800.5") == timestamp{std::chrono::milliseconds{1'769'860'800'500}});
  CHECK(read("+90") == timestamp{std::chrono::seconds{1090}});
  CHECK(read("+0.5") == timestamp{std::chrono::milliseconds{1'000'500}});
}

TEST_CASE("what is no moment is refused") {
  for (const std::string text :
       {"", "+", "-1", "yesterday", "1e9", "nan", "+nan", "99999999999", "1 ", "2026-01-31",
        "2026-01-31T12:00:00.", "2026-01-31T12:00:00+01:00", "2026-13-31T12:00:00Z",
        "2026-01-31T12:00:00.5.5Z"})
    CHECK_MESSAGE(!tool::parse_moment(text), text);
}

TEST_CASE("a length of time is seconds, or has a unit") {
  using namespace std::chrono_literals;
  CHECK(tool::parse_length("90") == 90s);
  CHECK(tool::parse_length("0") == 0s);
  CHECK(tool::parse_length("0.5") == 500ms);
  CHECK(tool::parse_length("250ms") == 250ms);
  CHECK(tool::parse_length("1.5s") == 1500ms);
  CHECK(tool::parse_length("10m") == 10min);
  CHECK(tool::parse_length("2h") == 2h);
  for (const std::string text :
       {"", "s", "-1s", "5 s", "5x", "nan", "infm", "1e9", "1000000001", "9999999h"})
    CHECK_MESSAGE(!tool::parse_length(text), text);
}

TEST_CASE("times, sizes and numbers are written for people") {
  CHECK(tool::moment_text(read("2026-01-31T12:00:00.000012Z")) == "2026-01-31T12:00:00.000012Z");
  CHECK(tool::size_text(999) == "999 bytes");
  CHECK(tool::size_text(61'022) == "61.0 kB");
  CHECK(tool::size_text(999'960) == "1.0 MB");
  CHECK(tool::size_text(2'500'000'000'000'000) == "2500.0 TB");
  CHECK(tool::grouped(0) == "0");
  CHECK(tool::grouped(999) == "999");
  CHECK(tool::grouped(1'234'567) == "1,234,567");
}
