// SPDX-License-Identifier: BSD-3-Clause
#include "filter/parser.hpp"

#include <pubsub/condition.hpp>

#include <doctest/doctest.h>

using namespace pubsub;

namespace {

std::string canonical(std::string_view text) {
  const auto made = condition::make(text);
  CHECK_MESSAGE(made.has_value(), text);
  return made ? made->text() : made.error().context();
}

std::string refusal(std::string_view text, const condition_options& options = {}) {
  const auto made = condition::make(text, options);
  CHECK_MESSAGE(!made.has_value(), text);
  return made ? std::string{} : made.error().context();
}

condition_options with_columns(std::vector<record_column> columns) {
  condition_options options;
  options.columns = std::move(columns);
  return options;
}

bool says(const std::string& what, std::string_view part) {
  return what.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a condition has one canonical text") {
  CHECK(canonical("id.resp_p==443/tcp&&orig_bytes  >1000") ==
        "id.resp_p == 443/tcp && orig_bytes > 1000");
  CHECK(canonical("not (a == 1 or b == 2) and c == 3") == "!(a == 1 || b == 2) && c == 3");
  CHECK(canonical("((a == 1) && b == 2) && c == 3") == "a == 1 && b == 2 && c == 3");
  CHECK(canonical("a == 1 && (b == 2 || c == 3)") == "a == 1 && (b == 2 || c == 3)");
  CHECK(canonical("a == 1 || (b == 2 && c == 3)") == "a == 1 || b == 2 && c == 3");
  CHECK(canonical("!!(a < 1)") == "a < 1");
  CHECK(canonical("!(a == 1)") == "a != 1");
  CHECK(canonical("a not in {2, 1, 2}") == "!(a in {1, 2})");
  CHECK(canonical("a in {7}") == "a == 7");
  CHECK(canonical("a not in {7}") == "a != 7");
  CHECK(canonical("! exists ( service )") == "!exists(service)");
  CHECK(canonical("1 in 1000 by uid") == "1 in 1000 by uid");
  CHECK(canonical("1 in 10") == "1 in 10");
  CHECK(canonical("@topic.1 == \"records\" && $1.2 >= 5 && $ != 3 && @event in \"log_\"*") ==
        "@topic.1 == \"records\" && $1.2 >= 5 && $ != 3 && @event in \"log_\"*");
}

TEST_CASE("every literal keeps its value in the canonical text") {
  CHECK(canonical("a == -0") == "a == 0");
  CHECK(canonical("a == 18446744073709551615") == "a == 18446744073709551615");
  CHECK(canonical("a == -9223372036854775808") == "a == -9223372036854775808");
  CHECK(canonical("a == 1e3") == "a == 1000.0");
  CHECK(canonical("a > 1.5e-300") == "a > 1.5e-300");
  CHECK(canonical("a == 2e+22") == "a == 2e+22");
  CHECK(canonical("a == \"x\\\"\\\\\\n\\x00\"") == "a == \"x\\\"\\\\\\x0a\\x00\"");
  CHECK(canonical("a in 10.1.2.3/8") == "a in 10.0.0.0/8");
  CHECK(canonical("a in {2001:DB8::/32, ::1, fe80::1}") == "a in {2001:db8::/32, ::1, fe80::1}");
  CHECK(canonical("a == 53/udp") == "a == 53/udp");
  CHECK(canonical("a > 1500ms") == "a > 1500ms");
  CHECK(canonical("a > 60min") == "a > 3600s");
  CHECK(canonical("a >= 2026-01-31") == "a >= 2026-01-31T00:00:00Z");
  CHECK(canonical("a >= 2026-01-31T12:00:00.000000001Z") == "a >= 2026-01-31T12:00:00.000000001Z");
  CHECK(canonical("a == Conn::LOG || b == tcp || c == `odd label`") ==
        "a == Conn::LOG || b == tcp || c == `odd label`");
  CHECK(canonical("`in` == true && `a b` == false") == "`in` == true && `a b` == false");
  CHECK(canonical("a in 1..10 && b in 10.0.0.1..10.0.0.9 && c in \"a\"..\"b\"") ==
        "a in 1..10 && b in 10.0.0.1..10.0.0.9 && c in \"a\"..\"b\"");
}

TEST_CASE("what is no condition is refused, with the place in the text") {
  CHECK(refusal("a = 1") == "equality is written ==\n  a = 1\n    ^");
  CHECK(refusal("a == 1 b") == "&&, || or the end is expected here\n  a == 1 b\n         ^");
  CHECK(says(refusal(""), "a field is expected here"));
  CHECK(says(refusal("(a == 1"), "the parenthesis is not closed\n  (a == 1\n  ^"));
  CHECK(says(refusal("a == \"x"), "the quote is not closed\n  a == \"x\n       ^"));
  CHECK(says(refusal("a == 1\n&& b ==\n"), "a value is expected here"));
  CHECK(says(refusal("a == 10.0.0.300"), "this is no value"));
  CHECK(says(refusal("a == 443/tpc"), "  a == 443/tpc\n       ^^^^^^^"));
  CHECK(says(refusal("a in {1, 2"), "a comma or a closing brace"));
  CHECK(says(refusal("in == 1"), "the name of a column is expected"));
  CHECK(says(refusal("@foo == 1"), "of a message there are @event"));
  CHECK(says(refusal("5 == a"), "only a sample begins with a number"));
  CHECK(says(refusal("9 in 3 by a"), "no more than all"));
  CHECK(says(refusal("a == \"\\q\""), "behind a backslash comes"));
  CHECK(says(refusal("$70000 == 1"), "too large"));
  CHECK(says(refusal("a == 18446744073709551616"), "this is no value"));
}

TEST_CASE("comparing what cannot be equal is refused") {
  const auto options = with_columns({{"id.resp_p", "port"},
                                     {"orig_bytes", "count"},
                                     {"uid", "string"},
                                     {"proto", "enum"},
                                     {"tags", "set[string]"},
                                     {"id.orig_h", "addr"},
                                     {"odd", "opaque"}});
  CHECK(refusal("id.resp_p == 443", options) ==
        "id.resp_p is a port, and this is for a number\n  id.resp_p == 443\n               ^^^");
  CHECK(says(refusal("uid == tcp", options), "uid is a string, and this is for the label"));
  CHECK(says(refusal("orig_bytes == -1", options), "whole numbers from 0 on"));
  CHECK(says(refusal("orig_bytes in {1, 1.5}", options), "is never equal to this"));
  CHECK(says(refusal("tags == \"x\"", options), "ask with has"));
  CHECK(says(refusal("uid has \"x\"", options), "ask with in"));
  CHECK(says(refusal("id.orig_h == 10.0.0.0/8", options), "and this is for a subnet"));
  CHECK(says(refusal("bytes > 1", options), "there is no column `bytes` among those given"));
  CHECK(says(refusal("@size == \"x\""), "@size is a number"));
  CHECK(says(refusal("proto < tcp"), "the label of an enum is neither less nor greater"));
  CHECK(says(refusal("a in {1, \"x\"}"), "the members of one set have one type"));
  CHECK(says(refusal("a in 5..1"), "a range begins with what is less"));
  CHECK(says(refusal("a in 1..\"x\""), "both ends of a range have one type"));
  CHECK(says(refusal("a in 1/tcp..5/udp"), "a range begins with what is less"));
  CHECK(condition::make("orig_bytes > -1.5 && tags has \"x\"* && odd == 5", options).has_value());
}

TEST_CASE("a condition has bounds") {
  const std::string deep(500, '(');
  const auto nested = condition::make(deep + "a == 1");
  REQUIRE(!nested);
  CHECK(nested.error() == errc::limit_exceeded);
  std::string negations = "a < 1";
  for (int i = 0; i < 100; ++i)
    negations = "!(b == 1 || " + negations + ")";
  CHECK(condition::make(negations).error() == errc::limit_exceeded);
  const auto long_text = condition::make("a == \"" + std::string(70'000, 'x') + "\"");
  CHECK(long_text.error() == errc::limit_exceeded);
  std::string many = "a == 0";
  for (int i = 1; i <= 1024; ++i)
    many += "||a == " + std::to_string(i);
  CHECK(condition::make(many).error() == errc::limit_exceeded);
  // Escapes make the canonical text longer than the one given.
  CHECK(condition::make("a == \"" + std::string(30'000, '\n') + "\"").error() ==
        errc::limit_exceeded);
}

TEST_CASE("a condition of the greatest depth has a canonical text that can be read") {
  std::string text = "a < 1";
  for (std::size_t i = 0; i + 2 < condition::max_depth; i += 3)
    text = "!(b == 1 || c == 2 && " + text + ")";
  const auto made = condition::make(text);
  REQUIRE(made);
  const auto again = condition::make(made->text());
  REQUIRE(again);
  CHECK(*again == *made);
}

TEST_CASE("a regular expression needs the component that knows them") {
  const auto refused = condition::make("uid in /^C/");
  REQUIRE(!refused);
  CHECK(refused.error() == errc::not_supported);
  CHECK(says(refused.error().context(), "need the component regex"));
}
