// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/zeek/log_lines.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "zeek_logs/log_reader.hpp"

using namespace pubsub;

namespace {

constexpr std::string_view log_text =
    "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\tall\n"
    "#open\t2023-11-14-22-13-20\n"
    "#fields\tts\tdur\tid.orig_h\tid.orig_p\tproto\tnet\tn\ti\tx\tok\ts\ttags\tadds\n"
    "#types\ttime\tinterval\taddr\tport\tenum\tsubnet\tcount\tint\tdouble\tbool\tstring\tset["
    "string]\tvector[addr]\n"
    "1700000000.123456\t0.000001\t2001:db8::1\t53\tudp\t10.0.0.0/8\t18446744073709551615\t-5\t2."
    "5\tT\ta\\x09b\\\\\tx,y\t192.0.2.1,-,192.0.2.2\n"
    "1700000000.000000\t-2.500000\t192.0.2.1\t0\ticmp\t-\t0\t9\t100000.0\tF\t(empty)\t(empty)\t-\n"
    "-0.500000\t-\t-\t-\t-\t2001:db8::/32\t-\t-\t0.000012\t-\t\\x2d\t\\x28empty),a\\x2cb,®\t-\n"
    "#close\t2023-11-14-23-00-00\n";

/// The lines, through records and back.
std::string written_by(const zeek::log_lines& lines, std::string_view log) {
  auto parser = zeek::make_tsv_log_parser();
  std::string result;
  while (!log.empty()) {
    const auto line = log.substr(0, log.find('\n'));
    log.remove_prefix(line.size() + 1);
    const auto record = parser->parse(line);
    REQUIRE(record);
    if (line.starts_with("#types"))
      lines.add_header(parser->schema(), "2023-11-14-22-13-20", result);
    if (*record)
      lines.add_record(parser->schema(), **record, result);
  }
  lines.add_end("2023-11-14-23-00-00", result);
  return result;
}

std::string line_of(const zeek::log_lines& lines, data value) {
  const zeek::log_schema schema{.path = "p", .fields = {{"c", "any"}}, .version = 1};
  std::string result;
  lines.add_record(schema, vector{std::move(value)}, result);
  return result;
}

std::string json_line(data value, zeek::json_lines_options options = {}) {
  return line_of(*zeek::make_json_lines(options), std::move(value));
}

constexpr timestamp some_time{timespan{1'700'000'000'123'456'789}};

} // namespace

TEST_CASE("the lines of a log come back as they were read") {
  CHECK(written_by(*zeek::make_tsv_lines(), log_text) == log_text);
}

TEST_CASE("a header without a time has no line that says when the file was opened") {
  std::string result;
  zeek::make_tsv_lines()->add_header({.path = "a b", .fields = {{"n", "count"}}, .version = 1}, {},
                                     result);
  CHECK(result == "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n"
                  "#path\ta\\x20b\n#fields\tn\n#types\tcount\n");
}

TEST_CASE("the same records are objects of JSON") {
  const auto json = written_by(*zeek::make_json_lines({}), log_text);
  CHECK(json.substr(0, json.find('\n')) ==
        R"({"ts":1700000000.123456,"dur":0.000001,"id.orig_h":"2001:db8::1","id.orig_p":53,)"
        R"("proto":"udp","net":"10.0.0.0/8","n":18446744073709551615,"i":-5,"x":2.5,"ok":true,)"
        R"("s":"a\tb\\","tags":["x","y"],"adds":["192.0.2.1",null,"192.0.2.2"]})");
  const std::string_view last =
      R"x({"ts":-0.5,"net":"2001:db8::/32","x":0.000012,"s":"-","tags":["(empty)","a,b","®"]})x";
  CHECK(json.substr(json.rfind('\n', json.size() - 2) + 1) == std::string{last} + "\n");
}

TEST_CASE("no line of a record begins as those of the header do") {
  CHECK(line_of(*zeek::make_tsv_lines(), "#close") == "\\x23close\n");
  CHECK(line_of(*zeek::make_tsv_lines(), "a#") == "a#\n");
}

TEST_CASE("a string that reads as unset or empty is escaped, in a set as well") {
  const auto tsv = zeek::make_tsv_lines();
  CHECK(line_of(*tsv, "-") == "\\x2d\n");
  CHECK(line_of(*tsv, "(empty)") == "\\x28empty)\n");
  CHECK(line_of(*tsv, "--") == "--\n");
  CHECK(line_of(*tsv, vector{"-", "", none{}, "a,b"}) == "\\x2d,(empty),-,a\\x2cb\n");
  CHECK(line_of(*tsv, enum_value{"-"}) == "\\x2d\n");
}

TEST_CASE("times of JSON stand in the form that is asked for") {
  using zeek::json_times;
  CHECK(json_line(some_time) == "{\"c\":1700000000.1234567}\n");
  CHECK(json_line(some_time, {.times = json_times::millis}) == "{\"c\":1700000000123}\n");
  CHECK(json_line(some_time, {.times = json_times::iso8601}) ==
        "{\"c\":\"2023-11-14T22:13:20.123457Z\"}\n");
  // Intervals are numbers always.
  CHECK(json_line(timespan{1'500'000'000}, {.times = json_times::iso8601}) == "{\"c\":1.5}\n");
}

TEST_CASE("unset columns of JSON are null where they are asked for") {
  CHECK(json_line(none{}) == "{}\n");
  CHECK(json_line(none{}, {.with_unset = true}) == "{\"c\":null}\n");
}

TEST_CASE("values that logs do not have are written nevertheless") {
  const auto nested = data{vector{vector{1u, 2u}, table{{data{"k"}, data{3u}}}}};
  CHECK(line_of(*zeek::make_tsv_lines(), nested) == "1,2,k,3\n");
  CHECK(json_line(nested) == "{\"c\":[[1,2],{\"k\":3}]}\n");
  CHECK(json_line(table{{data{1u}, data{none{}}}}) == "{\"c\":{\"1\":null}}\n");
}
