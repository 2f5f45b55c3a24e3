// SPDX-License-Identifier: BSD-3-Clause
#include "format/text.hpp"

#include <pubsub/data.hpp>

#include <doctest/doctest.h>

#include <cmath>

using namespace pubsub;

namespace {

std::string iso(std::int64_t ns) {
  std::string out;
  append_iso_time(out, timestamp{timespan{ns}});
  return out;
}

std::string span_text(std::int64_t ns) {
  std::string out;
  append_span_with_unit(out, timespan{ns});
  return out;
}

std::int64_t ns_of(std::string_view text) {
  const auto x = parse_iso_time(text);
  REQUIRE_MESSAGE(x, text);
  return x->time_since_epoch().count();
}

std::int64_t span_of(std::string_view text) {
  const auto x = parse_span_with_unit(text);
  REQUIRE_MESSAGE(x, text);
  return x->count();
}

constexpr std::int64_t second = 1'000'000'000;

} // namespace

TEST_CASE("text for people shows every type") {
  CHECK(to_string(data{}) == "nil");
  CHECK(to_string(data{true}) == "T");
  CHECK(to_string(data{false}) == "F");
  CHECK(to_string(data{-1}) == "-1");
  CHECK(to_string(data{12.48}) == "12.480000");
  CHECK(to_string(data{HUGE_VAL}) == "inf");
  CHECK(to_string(data{timestamp{timespan{-5}}}) == "-5ns");
  CHECK(to_string(data{timespan{1500}}) == "1500ns");
  CHECK(to_string(data{set{"b", "a"}}) == "{a, b}");
  CHECK(to_string(data{table{{"k", count{1}}, {"l", set{}}}}) == "{k -> 1, l -> {}}");
  CHECK(to_string(data{vector{vector{}, none{}, enum_value{"E"}}}) == "((), nil, E)");
}

TEST_CASE("times print in UTC with milliseconds, truncated") {
  CHECK(iso(0) == "1970-01-01T00:00:00.000");
  CHECK(iso(999'999) == "1970-01-01T00:00:00.000");
  CHECK(iso(1'709'210'096'789'999'999) == "2024-02-29T12:34:56.789");
  CHECK(iso(INT64_MAX) == "2262-04-11T23:47:16.854");
  CHECK(iso(-1) == "1970-01-01T00:00:00.000");
  CHECK(iso(-second) == "1969-12-31T23:59:59.000");
  CHECK(iso(INT64_MIN) == "1677-09-21T00:12:44.000");
}

TEST_CASE("times parse with up to nine fraction digits and any zone") {
  CHECK(ns_of("1970-01-01T00:00:00") == 0);
  CHECK(ns_of("1970-01-01T00:00:01.5") == 1'500'000'000);
  CHECK(ns_of("1970-01-01T00:00:00.123456789") == 123'456'789);
  CHECK(ns_of("1970-01-01T00:00:00.001Z") == 1'000'000);
  CHECK(ns_of("1970-01-01T02:00:00+02") == 0);
  CHECK(ns_of("1970-01-01T02:30:00+0230") == 0);
  CHECK(ns_of("1970-01-01T02:30:00.5+02:30") == second / 2);
  CHECK(ns_of("1969-12-31T22:00:00-02:00") == 0);
  CHECK(ns_of("2000-02-29T00:00:00") == 951'782'400 * second);
  CHECK(ns_of("1969-12-31T23:59:59.9") == -second / 10);
}

TEST_CASE("the earliest and the latest time parse and one beyond does not") {
  CHECK(ns_of("2262-04-11T23:47:16.854775807") == INT64_MAX);
  CHECK_FALSE(parse_iso_time("2262-04-11T23:47:16.854775808"));
  CHECK(ns_of("1677-09-21T00:12:43.145224192") == INT64_MIN);
  CHECK_FALSE(parse_iso_time("1677-09-21T00:12:43.145224191"));
  CHECK_FALSE(parse_iso_time("0000-01-01T00:00:00"));
  CHECK_FALSE(parse_iso_time("9999-12-31T23:59:59"));
}

TEST_CASE("text that is no time is refused") {
  for (const std::string_view text : {"",
                                      "1970-01-01",
                                      "1970-01-01 00:00:00",
                                      "1970-01-01t00:00:00",
                                      "1970-1-01T00:00:00",
                                      "1970-13-01T00:00:00",
                                      "1970-00-01T00:00:00",
                                      "1970-01-32T00:00:00",
                                      "1900-02-29T00:00:00",
                                      "2023-02-29T00:00:00",
                                      "1970-01-01T24:00:00",
                                      "1970-01-01T00:60:00",
                                      "1970-01-01T00:00:60",
                                      "1970-01-01T00:00",
                                      "1970-01-01T00:00:00.",
                                      "1970-01-01T00:00:00.1234567890",
                                      "1970-01-01T00:00:00z",
                                      "1970-01-01T00:00:00Z ",
                                      "1970-01-01T00:00:00+1",
                                      "1970-01-01T00:00:00+01:",
                                      "1970-01-01T00:00:00+01:6",
                                      "1970-01-01T00:00:00+01:60",
                                      "1970-01-01T00:00:00+24",
                                      "1970-01-01T00:00:00+01:00Z",
                                      " 1970-01-01T00:00:00"})
    CHECK_MESSAGE(!parse_iso_time(text), text);
}

TEST_CASE("spans print in the coarsest exact unit up to seconds") {
  CHECK(span_text(0) == "0s");
  CHECK(span_text(1) == "1ns");
  CHECK(span_text(-1500) == "-1500ns");
  CHECK(span_text(1'000) == "1us");
  CHECK(span_text(1'000'000) == "1ms");
  CHECK(span_text(90 * second) == "90s");
  CHECK(span_text(1'000 * second) == "1000s");
  CHECK(span_text(INT64_MIN) == "-9223372036854775808ns");
}

TEST_CASE("spans parse from an integer and a unit") {
  CHECK(span_of("0s") == 0);
  CHECK(span_of("7ns") == 7);
  CHECK(span_of("-7us") == -7'000);
  CHECK(span_of("3ms") == 3'000'000);
  CHECK(span_of("2min") == 120 * second);
  CHECK(span_of("1h") == 3'600 * second);
  CHECK(span_of("9223372036854775807ns") == INT64_MAX);
  for (const std::string_view text : {"", "s", "1", "1 s", "1.5s", "1d", "1S", "1sx", "--1s",
                                      "+-1s", "9223372036854775808ns", "9223372036854775807us"})
    CHECK_MESSAGE(!parse_span_with_unit(text), text);
}

TEST_CASE("lenient subnets and ports follow Broker's reader") {
  CHECK(to_string(*parse_lenient_subnet("10.0.0.0/8")) == "10.0.0.0/8");
  CHECK(to_string(*parse_lenient_subnet("10.0.0.0/ 8junk")) == "10.0.0.0/8");
  CHECK(to_string(*parse_lenient_subnet("10.0.0.0/8/9")) == "10.0.0.0/8");
  CHECK(*parse_lenient_subnet("10.0.0.0/33") == subnet{});
  CHECK(*parse_lenient_subnet("::1/255") == subnet{});
  for (const std::string_view text : {"", "10.0.0.0", "x/8", "10.0.0.0/", "10.0.0.0/x",
                                      "10.0.0.0/256", "10.0.0.0/-1", "10.0.0.0/99999999999"})
    CHECK_MESSAGE(!parse_lenient_subnet(text), text);
  CHECK(parse_lenient_port("80") == port{80, transport::tcp});
  CHECK(parse_lenient_port("80/udp") == port{80, transport::udp});
  CHECK(parse_lenient_port("80/sctp") == port{80, transport::unknown});
  CHECK(parse_lenient_port("x/tcp") == port{0, transport::tcp});
  CHECK(parse_lenient_port("65537/tcp") == port{1, transport::tcp});
}
