// SPDX-License-Identifier: BSD-3-Clause
#include "zeek_logs/log_column.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <utility>
#include <vector>

using namespace pubsub;

namespace {

bool fits(const data& x, std::string_view type) {
  const auto known = zeek::parse_column_type(type);
  REQUIRE(known);
  return zeek::is_of_type(x, *known);
}

} // namespace

TEST_CASE("a value fits columns of its own type, and none that are another's") {
  const std::vector<std::pair<std::string_view, data>> values{
      {"bool", true},
      {"count", 1u},
      {"int", -1},
      {"double", 1.5},
      {"time", timestamp{}},
      {"interval", timespan{1}},
      {"addr", *address::parse("192.0.2.1")},
      {"subnet", *subnet::parse("192.0.2.0/24")},
      {"port", port{80, transport::tcp}},
      {"string", "text"},
      {"set[count]", set{data{1u}}},
      {"vector[count]", vector{1u}}};
  for (const auto& column : values)
    for (const auto& each : values) {
      CAPTURE(column.first);
      CAPTURE(each.first);
      CHECK(fits(each.second, column.first) == (column.first == each.first));
    }
}

TEST_CASE("what is unset fits any column, within containers as well") {
  for (const std::string_view type : {"bool", "string", "time", "set[addr]", "vector[port]"})
    CHECK(fits(none{}, type));
  CHECK(fits(vector{none{}, 1u}, "vector[count]"));
  CHECK_FALSE(fits(vector{1u, -1}, "vector[count]"));
  CHECK_FALSE(fits(vector{vector{}}, "vector[string]"));
}

TEST_CASE("columns of strings and of enums take either") {
  for (const std::string_view type : {"string", "enum", "func", "file"}) {
    CHECK(fits("x", type));
    CHECK(fits(enum_value{"SSH::LOG"}, type));
  }
  CHECK(fits(set{data{enum_value{"a"}}, data{"b"}}, "set[enum]"));
}
