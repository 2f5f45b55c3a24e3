// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/binary.hpp>
#include <pubsub/regex.hpp>

#include <doctest/doctest.h>

using namespace pubsub;

namespace {

expected<condition> make(std::string_view text) {
  condition_options options;
  options.regex = &make_re2_matcher;
  return condition::make(text, options);
}

bool matches(std::string_view text, const data& value) {
  const auto made = make(text);
  REQUIRE_MESSAGE(made.has_value(), text);
  return made->judge("t", *encode_binary(value)) == condition_verdict::yes;
}

} // namespace

TEST_CASE("a regular expression is found anywhere in a string or a label") {
  CHECK(matches("$ in /b+c/", "abbcd"));
  CHECK(!matches("$ in /^b/", "abbcd"));
  CHECK(matches("$ in /^Scan::/", enum_value{"Scan::Port_Scan"}));
  CHECK(matches("$ in {/^x/, \"abc\", /d$/}", "abcd"));
  CHECK(!matches("$ in /5/", count{5}));
  CHECK(matches("$ in /a\\/b/", "xa/b"));
  CHECK(matches("$ in /^.\\xff$/", std::string{"\0\xff", 2})); // strings are bytes
}

TEST_CASE("a regular expression keeps its text") {
  const auto made = make("$ in /a\\/b\\d[\\/]/");
  REQUIRE(made);
  CHECK(made->text() == "$ in /a\\/b\\d[\\/]/");
  CHECK(*make(made->text()) == *made);
}

TEST_CASE("what RE2 does not take is refused with its place") {
  const auto refused = make("$ == 1 || $ in /(/");
  REQUIRE(!refused);
  CHECK(refused.error() == errc::invalid_argument);
  CHECK(refused.error().context().find("no regular expression: missing )") != std::string::npos);
  CHECK(refused.error().context().ends_with("               ^^^"));
}
