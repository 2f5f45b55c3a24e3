// SPDX-License-Identifier: BSD-3-Clause
#include "format/json_members.hpp"

#include <doctest/doctest.h>

using namespace pubsub;

TEST_CASE("members stand in the order they are added") {
  CHECK(json_members{}.text() == "{}");
  CHECK(json_members{}.add("a", "x").add("b", 5U).add("c", json_members{}.add("d", 0U)).text() ==
        R"({"a":"x","b":5,"c":{"d":0}})");
  CHECK(json_members{}.add_value("x", "null").text() == R"({"x":null})");
  CHECK(json_members{}.add("most", ~std::uint64_t{0}).text() == R"({"most":18446744073709551615})");
}

TEST_CASE("lists have commas between their values") {
  CHECK(json_list({}) == "[]");
  CHECK(json_list({"1", "\"\"", "{}"}) == R"([1,"",{}])");
}

TEST_CASE("text is escaped where JSON asks for it, and what is no UTF-8 is replaced") {
  CHECK(json_string("say \"a\\b\"") == R"("say \"a\\b\"")");
  CHECK(json_string(std::string_view{"\0\n\x1f\x7f", 4}) == R"("\u0000\u000a\u001f\u007f")");
  CHECK(json_string("\xc3\xa4") == "\"\xc3\xa4\"");
  CHECK(json_string("a\xff\xc3") == "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
}
