// SPDX-License-Identifier: BSD-3-Clause
#include "zeek_logs/record_lines.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "zeek_logs/log_reader.hpp"

using namespace pubsub;

namespace {

constexpr std::string_view log_text =
    "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\tall\n"
    "#fields\tts\tdur\tid.orig_h\tid.orig_p\tproto\tnet\tn\ti\tx\tok\ts\ttags\tadds\n"
    "#types\ttime\tinterval\taddr\tport\tenum\tsubnet\tcount\tint\tdouble\tbool\tstring\tset["
    "string]\tvector[addr]\n"
    "1700000000.123456789\t0.000001\t2001:db8::1\t53\tudp\t10.0.0.0/8\t18446744073709551615\t-5\t2."
    "5\tT\ta\\x09b\tx,y\t192.0.2.1,192.0.2.2\n"
    "1700000000.000000\t-2.500000\t192.0.2.1\t0\ticmp\t-\t0\t9\t100000\tF\t(empty)\t(empty)\t-\n"
    "-0.500000\t-\t-\t-\t-\t-\t-\t-\t0.0000001\t-\t\\x2d\t\\x28empty),a\\x2cb\t-\n";

/// The lines, through records and back.
std::string written_as(zeek::line_format format, std::string_view log) {
  zeek::record_lines lines{format};
  auto parser = zeek::make_tsv_log_parser();
  std::string result;
  while (!log.empty()) {
    const auto line = log.substr(0, log.find('\n'));
    log.remove_prefix(line.size() + 1);
    auto record = parser->parse(line);
    REQUIRE(record);
    if (*record)
      REQUIRE(lines.add({parser->schema(), std::move(**record)}, result));
  }
  return result;
}

std::string last_line(const std::string& text) {
  return text.substr(text.rfind('\n', text.size() - 2) + 1);
}

/// A record of one column.
std::string line_of(zeek::line_format format, const std::string& type, data value) {
  const zeek::log_schema schema{.path = "p", .fields = {{"c", type}}, .version = 1};
  zeek::record_lines lines{format};
  std::string result;
  REQUIRE(lines.add({schema, vector{std::move(value)}}, result));
  return last_line(result);
}

} // namespace

TEST_CASE("records become the lines of a log that they were read from") {
  // But for what Zeek does not write: nanoseconds, and seven digits of a double.
  auto expected = std::string{log_text};
  const auto replace = [&](std::string_view old, std::string_view by) {
    expected.replace(expected.find(old), old.size(), by);
  };
  replace("00.123456789", "00.123457");
  replace("\t100000\t", "\t100000.0\t");
  replace("\t0.0000001\t", "\t0\t");
  CHECK(written_as(zeek::line_format::tsv, log_text) == expected);
}

TEST_CASE("a log has a new header where the log or its columns change") {
  const zeek::log_schema conn{.path = "conn", .fields = {{"a", "count"}}, .version = 1};
  const zeek::log_schema wider{
      .path = "conn", .fields = {{"a", "count"}, {"b", "count"}}, .version = 2};
  const zeek::log_schema dns{.path = "dns", .fields = {{"c", "count"}}, .version = 1};
  zeek::record_lines lines{zeek::line_format::tsv};
  std::string text;
  REQUIRE(lines.add({conn, vector{1u}}, text));
  REQUIRE(lines.add({conn, vector{2u}}, text));
  REQUIRE(lines.add({wider, vector{3u, 4u}}, text));
  REQUIRE(lines.add({dns, vector{5u}}, text));
  std::string rest;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    if (const auto line = text.substr(at, text.find('\n', at) - at);
        !line.starts_with("#") || line.starts_with("#path") || line.starts_with("#fields"))
      rest += line + '\n';
  CHECK(rest == "#path\tconn\n#fields\ta\n1\n2\n#path\tconn\n#fields\ta\tb\n3\t4\n"
                "#path\tdns\n#fields\tc\n5\n");
}

TEST_CASE("records become a table of CSV") {
  CHECK(written_as(zeek::line_format::csv, log_text) ==
        "ts,dur,id.orig_h,id.orig_p,proto,net,n,i,x,ok,s,tags,adds\n"
        "2023-11-14T22:13:20.123456789Z,0.000001,2001:db8::1,53,udp,10.0.0.0/8,"
        "18446744073709551615,-5,2.5,true,a\tb,\"x,y\",\"192.0.2.1,192.0.2.2\"\n"
        "2023-11-14T22:13:20.000000Z,-2.500000,192.0.2.1,0,icmp,,0,9,100000,false,,,\n"
        "1969-12-31T23:59:59.500000Z,,,,,,,,0.0000001,,-,\"(empty),a\\x2cb\",\n");
}

TEST_CASE("a table of CSV has one log, and its columns stay") {
  const zeek::log_schema conn{.path = "conn", .fields = {{"a", "count"}}, .version = 1};
  zeek::record_lines lines{zeek::line_format::csv};
  std::string text;
  REQUIRE(lines.add({conn, vector{1u}}, text));
  const auto before = text;
  auto other = conn;
  SUBCASE("another log") {
    other.path = "dns";
    const auto refused = lines.add({other, vector{1u}}, text);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().context() ==
          "records of conn and of dns do not fit into one table; ask for the topic of one");
  }
  SUBCASE("other columns") {
    other.version = 2;
    const auto refused = lines.add({other, vector{1u}}, text);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().context() ==
          "the columns of conn have changed, and a table has one set of them");
  }
  CHECK(text == before);
}

TEST_CASE("no byte of a string ends its column or line, or steers a terminal") {
  using zeek::line_format;
  CHECK(line_of(line_format::tsv, "string", "a\tb\nc\\d\x1b[2J\x7f") ==
        "a\\x09b\\x0ac\\\\d\\x1b[2J\\x7f\n");
  CHECK(line_of(line_format::csv, "string", "a,\"b\"\x1b") == "\"a,\"\"b\"\"\\x1b\"\n");
  CHECK(line_of(line_format::csv, "string", "two\nlines").find("lines\"\n") != std::string::npos);
  CHECK(line_of(line_format::tsv, "string", "\xc3\xbc") == "\xc3\xbc\n");
}

TEST_CASE("values that logs do not have are written, too") {
  using zeek::line_format;
  const auto nested = data{vector{vector{1u, 2u}, table{{data{"k"}, data{3u}}}}};
  CHECK(line_of(line_format::tsv, "any", nested) == "1,2,k,3\n");
  CHECK(line_of(line_format::csv, "any", nested) == "\"1,2,k,3\"\n");
  CHECK(line_of(line_format::csv, "double", 1e300).size() == 302);
  CHECK(line_of(line_format::csv, "interval", timespan::min()) == "-9223372036.854775808\n");
}
