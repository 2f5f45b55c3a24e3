// What Zeek 8.2 itself writes for these numbers and strings.
// SPDX-License-Identifier: BSD-3-Clause
#include "zeek/zeek_text.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "zeek_logs/log_text.hpp"

using namespace pubsub;
using namespace std::string_literals;

namespace {

template <class X, class... More>
std::string text_of(void (*add)(std::string&, X, More...), std::type_identity_t<X> x,
                    std::type_identity_t<More>... more) {
  std::string result;
  add(result, x, more...);
  return result;
}

std::string in_tsv(real x) {
  return text_of(zeek::add_real, x);
}
std::string in_json(real x) {
  return text_of(zeek::add_json_real, x);
}
std::string escaped(std::string_view x, zeek::place where = zeek::place::column) {
  return text_of(zeek::add_escaped, x, where);
}
std::string json_text(std::string_view x) {
  return text_of(zeek::add_json_text, x);
}
std::string address_text(std::string_view x) {
  std::string result;
  zeek::add_address(result, *address::parse(x));
  return result;
}

} // namespace

TEST_CASE("a double has up to six digits behind its point in TSV, and the shortest text in JSON") {
  constexpr auto infinity = std::numeric_limits<real>::infinity();
  struct expectation {
    real value;
    std::string_view tsv;
    std::string_view json;
  };
  for (const auto& expected : {expectation{2153226000.0, "2153226000.0", "2153226000.0"},
                               {2153226000.1, "2153226000.1", "2153226000.1"},
                               {2153226000.123456789, "2153226000.123457", "2153226000.123457"},
                               {1.0, "1.0", "1.0"},
                               {1.123456789, "1.123457", "1.123456789"},
                               {-1.123456789, "-1.123457", "-1.123456789"},
                               {0.1234, "0.1234", "0.1234"},
                               {-5e4, "-50000.0", "-50000.0"},
                               {3.14e15, "3140000000000000.0", "3140000000000000.0"},
                               {1e21, "1000000000000000000000.0", "1e21"},
                               {1.23456789e-5, "0.000012", "0.0000123456789"},
                               {1.5e-7, "0", "1.5e-7"},
                               {2.23e-308, "0.0", "2.23e-308"},
                               {-2.23e-308, "-0.0", "-2.23e-308"},
                               {1.0000001, "1", "1.0000001"},
                               {infinity, "inf", "null"},
                               {-infinity, "-inf", "null"},
                               {-0.0, "0.0", "-0.0"},
                               {std::numeric_limits<real>::quiet_NaN(), "nan", "null"}}) {
    CAPTURE(expected.value);
    CHECK(in_tsv(expected.value) == expected.tsv);
    CHECK(in_json(expected.value) == expected.json);
  }
  CHECK(in_tsv(1.79e308).size() == 311);
  CHECK(in_json(-1.79e308) == "-1.79e308");
}

TEST_CASE("seconds are the double next to their exact number") {
  for (const std::string_view text : {"1700000000.123456", "0.009896", "0.000000", "-0.500000",
                                      "4000000000.123456", "12.345678"}) {
    CAPTURE(text);
    const auto ns = zeek::parse_seconds(text);
    CHECK(text_of(zeek::add_seconds, zeek::seconds_of(timespan{ns.value()})) == text);
  }
  // These miss the nearest double where they are rounded twice.
  CHECK(zeek::seconds_of(timespan{1'700'000'000'123'456'955}) == 1700000000.123457);
  CHECK(zeek::seconds_of(timespan{1'234'567'890'123'456'789}) == 1234567890.123456789);
  CHECK(zeek::seconds_of(timespan::min()) == -9223372036.854775808);
}

TEST_CASE("a time of ISO 8601 has microseconds") {
  const auto iso = [](double x) { return text_of(zeek::add_iso_time, x); };
  CHECK(iso(1700000000.000001) == "2023-11-14T22:13:20.000001Z");
  CHECK(iso(-315619200) == "1960-01-01T00:00:00.000000Z");
  CHECK(iso(-0.25) == "1969-12-31T23:59:59.750000Z");
  CHECK(iso(1699999999.9999998) == "2023-11-14T22:13:20.000000Z");
}

TEST_CASE("what would end a column is escaped, and so is all that cannot be printed") {
  CHECK(escaped("plain text") == "plain text");
  CHECK(escaped("a\tb\\c,d") == "a\\x09b\\\\c,d");
  CHECK(escaped("a\tb\\c,d", zeek::place::container) == "a\\x09b\\\\c\\x2cd");
  CHECK(escaped("AB\xff"
                "CD\0"s) == "AB\\xffCD\\x00");
  CHECK(escaped("foo \n\x7f") == "foo \\x0a\\x7f");
  CHECK(escaped("") == "");
}

TEST_CASE("characters of UTF-8 stay unless bytes beside them are none") {
  CHECK(escaped("foo ® bar") == "foo ® bar");
  CHECK(escaped("दुनिया 𠜎") == "दुनिया 𠜎");
  CHECK(escaped("®\n") == "\\xc2\\xae\\x0a");
  CHECK(escaped("®\\\n") == "®\\\\\\x0a"); // a backslash stands between pieces
  CHECK(escaped("®,\xff", zeek::place::container) == "®\\x2c\\xff");
  for (const std::string_view bad :
       {"\xc3(", "\xc0\x81", "\xc2", "\xa0\xa1", "\xe0\x80\xa1", "\xe2\x82", "\xed\xa0\xa1",
        "\xf0\x80\x8c\xbc", "\xf4\x90\x8c\xbc", "\xf5\x80\x80\x80", // no characters
        "\xc2\x80", "\xee\x8b\xa0", "\xef\xbf\xbe"}) {              // none that are shown
    std::string bytes;
    for (const char c : bad)
      bytes += c == '(' ? "("
                        : "\\x" + std::string{"0123456789abcdef"[(c >> 4) & 15]} +
                              "0123456789abcdef"[c & 15];
    CHECK(escaped(bad) == bytes);
  }
}

TEST_CASE("a string of JSON shows unprintable bytes as TSV does, and escapes the backslash") {
  CHECK(json_text("\b\f\n\r\t") == R"("\b\f\n\r\t")");
  CHECK(json_text("\b\f\n\r\t\0\x15"s) == R"("\b\f\n\r\t\\x00\\x15")");
  CHECK(json_text("say \"\\x\"") == R"("say \"\\x\"")");
  CHECK(json_text("ñ/𐌼") == "\"ñ/𐌼\"");
  CHECK(json_text("\xc3(") == R"("\\xc3(")");
  CHECK(json_text("a rocket 🚀!\0"s) == R"("a rocket \\xf0\\x9f\\x9a\\x80!\\x00")");
  CHECK(json_text("") == "\"\"");
}

TEST_CASE("headers have no white space within a name") {
  CHECK(text_of(zeek::add_header_text, "my log\t\xc2") == "my\\x20log\\x09\\xc2");
  CHECK(text_of(zeek::add_header_text, "id.orig_h") == "id.orig_h");
}

TEST_CASE("addresses that embed one of IPv4 show it") {
  for (const std::string_view same : {"192.0.2.1", "2001:db8::1", "::", "::1", "::192.0.2.1",
                                      "::ffff:0:192.0.2.1", "1:0:0:2::", "fe80::1:0:0:1"})
    CHECK(address_text(same) == same);
  CHECK(address_text("::ffff:192.0.2.1") == "192.0.2.1");
  CHECK(address_text("::102") == "::102");
}
