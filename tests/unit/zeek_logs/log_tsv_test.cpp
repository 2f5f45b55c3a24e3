// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "support/times.hpp"
#include "zeek_logs/log_reader.hpp"

using namespace pubsub;
using pubsub::test::at_ns;

namespace {

constexpr std::string_view all_types_header[] = {
    "#separator \\x09",
    "#set_separator\t,",
    "#empty_field\t(empty)",
    "#unset_field\t-",
    "#path\tall",
    "#open\t2023-11-14-22-13-20",
    "#fields\tts\tdur\tid.orig_h\tid.orig_p\tproto\tnet\tn\ti\tx\tok\ts\ttags\tadds",
    "#types\ttime\tinterval\taddr\tport\tenum\tsubnet\tcount\tint\tdouble\tbool\tstring\tset["
    "string]\tvector[addr]",
};
constexpr std::string_view good_line = "1700000000.123456789\t0.000001\t2001:db8::1\t53\tudp\t10.0."
                                       "0.0/8\t18446744073709551615\t-5\t2.5\tT"
                                       "\ta\\x09b\tx,y\t192.0.2.1,192.0.2.2";

std::unique_ptr<zeek::log_parser> ready_parser() {
  auto parser = zeek::make_tsv_log_parser();
  for (auto line : all_types_header) {
    auto nothing = parser->parse(line);
    REQUIRE(nothing);
    REQUIRE_FALSE(*nothing);
  }
  return parser;
}

// A parser for one column `x` of the given type, with a `proto` column behind it.
expected<std::optional<vector>> parse_cell(std::string_view type, std::string_view cell,
                                           std::string_view proto = "-") {
  auto parser = zeek::make_tsv_log_parser();
  REQUIRE(parser->parse("#separator \\x09"));
  REQUIRE(parser->parse("#fields\tx\tproto"));
  (void)parser->parse("#types\t" + std::string{type} + "\tenum");
  return parser->parse(std::string{cell} + "\t" + std::string{proto});
}

data cell_value(std::string_view type, std::string_view cell, std::string_view proto = "-") {
  auto record = parse_cell(type, cell, proto);
  REQUIRE(record);
  REQUIRE(*record);
  return (**record)[0];
}

} // namespace

TEST_CASE("a record has one value of the header's type for each column") {
  auto parser = ready_parser();
  CHECK(parser->schema().path == "all");
  REQUIRE(parser->schema().fields.size() == 13);
  CHECK(parser->schema().fields[2] == zeek::log_field{"id.orig_h", "addr"});
  auto record = parser->parse(good_line);
  REQUIRE(record);
  REQUIRE(*record);
  const auto& x = **record;
  REQUIRE(x.size() == 13);
  CHECK(x[0] == data{at_ns(1'700'000'000'123'456'789)});
  CHECK(x[1] == data{timespan{1'000}});
  CHECK(x[2] == data{*address::parse("2001:db8::1")});
  CHECK(x[3] == data{port{53, transport::udp}});
  CHECK(x[4] == data{enum_value{"udp"}});
  CHECK(x[5] == data{*subnet::parse("10.0.0.0/8")});
  CHECK(x[6] == data{count{18'446'744'073'709'551'615U}});
  CHECK(x[7] == data{integer{-5}});
  CHECK(x[8] == data{2.5});
  CHECK(x[9] == data{true});
  CHECK(x[10] == data{"a\tb"});
  CHECK(x[11] == data{set{data{"x"}, data{"y"}}});
  CHECK(x[12] ==
        data{vector{data{*address::parse("192.0.2.1")}, data{*address::parse("192.0.2.2")}}});
}

TEST_CASE("times and intervals are exact to the nanosecond") {
  CHECK(cell_value("time", "1700000000.000000001") == data{at_ns(1'700'000'000'000'000'001)});
  CHECK(cell_value("time", "1700000000.1") == data{at_ns(1'700'000'000'100'000'000)});
  CHECK(cell_value("time", "1700000000") == data{at_ns(1'700'000'000'000'000'000)});
  CHECK(cell_value("time", "0.000000") == data{at_ns(0)});
  CHECK(cell_value("time", "1.0000000005") == data{at_ns(1'000'000'001)});
  CHECK(cell_value("time", "1.0000000004999") == data{at_ns(1'000'000'000)});
  CHECK(cell_value("time", "9223372036.854775807") == data{at_ns(INT64_MAX)});
  CHECK(cell_value("interval", "-1.5") == data{timespan{-1'500'000'000}});
  CHECK(cell_value("interval", "1e-06") == data{timespan{1'000}});
  CHECK(cell_value("interval", "5.698204040527344e-05") == data{timespan{56'982}});
  CHECK(cell_value("interval", "0.0000000001") == data{timespan{0}});
}

TEST_CASE("a time that does not fit or is no number is an error") {
  for (auto text : {"9223372036.854775808", "99999999999999999999", "1e400", "nan", "", ".",
                    "1.2.3", "1x", "1e"})
    CHECK_FALSE(parse_cell("time", text));
}

TEST_CASE("a port takes its protocol from the proto column") {
  CHECK(cell_value("port", "80", "tcp") == data{port{80, transport::tcp}});
  CHECK(cell_value("port", "8", "icmp") == data{port{8, transport::icmp}});
  CHECK(cell_value("port", "80", "unknown_transport") == data{port{80, transport::unknown}});
  CHECK(cell_value("port", "80", "-") == data{port{80, transport::unknown}});
  CHECK(cell_value("port", "53/udp", "tcp") == data{port{53, transport::udp}});
}

TEST_CASE("unset is none, empty is an empty string or container") {
  CHECK(cell_value("string", "-") == data{none{}});
  CHECK(cell_value("set[string]", "-") == data{none{}});
  CHECK(cell_value("string", "(empty)") == data{""});
  CHECK(cell_value("set[string]", "(empty)") == data{set{}});
  CHECK(cell_value("vector[count]", "(empty)") == data{vector{}});
  CHECK(cell_value("vector[count]", "1,-,3") == data{vector{data{1U}, data{none{}}, data{3U}}});
  CHECK(cell_value("table[addr]", "10.0.0.1") == data{set{data{*address::parse("10.0.0.1")}}});
}

TEST_CASE("escapes are undone after the text was split") {
  CHECK(cell_value("string", "\\x2d") == data{"-"});
  CHECK(cell_value("string", "a\\\\x09") == data{"a\\x09"});
  CHECK(cell_value("string", "\\xff\\x00") == data{std::string("\xff\0", 2)});
  CHECK(cell_value("string", "\\xg0 \\x1 \\") == data{"\\xg0 \\x1 \\"});
  CHECK(cell_value("set[string]", "a\\x2cb,c") == data{set{data{"a,b"}, data{"c"}}});
}

TEST_CASE("func, file and pattern are strings") {
  for (auto type : {"func", "file", "pattern"})
    CHECK(cell_value(type, "F1x") == data{"F1x"});
}

TEST_CASE("text of another type is an error that names column and text") {
  struct bad {
    const char* type;
    const char* text;
  };
  for (const auto& each :
       {bad{"count", "-1"}, bad{"count", "1.0"}, bad{"count", "18446744073709551616"},
        bad{"int", "9223372036854775808"}, bad{"double", "1,5"}, bad{"bool", "yes"},
        bad{"addr", "1.2.3"}, bad{"addr", "host"}, bad{"subnet", "10.0.0.0"}, bad{"port", "65536"},
        bad{"port", "-"}, bad{"set[count]", "1,,2"}, bad{"set[double]", "nan"},
        bad{"vector[addr]", "::1,x"}}) {
    if (std::string_view{each.text} == "-")
      continue; // unset
    auto record = parse_cell(each.type, each.text);
    REQUIRE_MESSAGE(!record, each.type, " ", each.text);
    CHECK(record.error() == errc::invalid_data);
    CHECK(record.error().context().find("column 'x'") != std::string::npos);
    CHECK(record.error().context().find(each.text) != std::string::npos);
  }
}

TEST_CASE("a record with another number of columns is an error and the next one is read") {
  auto parser = ready_parser();
  auto bad = parser->parse("1.0\t2.0");
  REQUIRE_FALSE(bad);
  CHECK(bad.error().context() == "the record has 2 columns, the header 13");
  CHECK(parser->parse(good_line));
}

TEST_CASE("a record before its header is an error") {
  auto parser = zeek::make_tsv_log_parser("conn");
  CHECK_FALSE(parser->parse("1\t2"));
  CHECK(parser->parse("#fields\ta\tb"));
  CHECK_FALSE(parser->parse("1\t2"));
}

TEST_CASE("a header whose lines disagree is an error until the next header") {
  auto parser = zeek::make_tsv_log_parser("conn");
  CHECK(parser->parse("#fields\ta\tb"));
  auto disagreement = parser->parse("#types\tcount");
  REQUIRE_FALSE(disagreement);
  CHECK(disagreement.error().context() == "#types has 1 entries for 2 columns in #fields");
  CHECK_FALSE(parser->parse("1\t2"));
  CHECK(parser->parse("#types\tcount\tcount"));
  CHECK(parser->parse("1\t2"));
}

TEST_CASE("an unknown type is reported once and its column read as string") {
  auto parser = zeek::make_tsv_log_parser("x");
  CHECK(parser->parse("#fields\ta\tb"));
  auto problem = parser->parse("#types\tcount\topaque");
  REQUIRE_FALSE(problem);
  CHECK(problem.error().context() == "column 'b' has unknown type 'opaque' and is read as string");
  auto record = parser->parse("1\t2");
  REQUIRE(record);
  CHECK((**record)[1] == data{"2"});
}

TEST_CASE("the header may change in the middle of a file") {
  auto parser = ready_parser();
  auto before = parser->schema().version;
  CHECK(parser->parse("#close\t2023-11-14"));
  CHECK(parser->schema().version == before);
  for (auto line : {"#separator ;", "#set_separator;|", "#unset_field;NA", "#path;other",
                    "#fields;a;b", "#types;set[count];int"})
    REQUIRE(parser->parse(line));
  CHECK(parser->schema().version != before);
  CHECK(parser->schema().path == "other");
  auto record = parser->parse("1|2;NA");
  REQUIRE(record);
  CHECK(**record == vector{data{set{data{1U}, data{2U}}}, data{none{}}});
}

TEST_CASE("every line cut off at any byte gives a record, nothing or an error") {
  auto one_address = good_line.size() - std::string_view{",192.0.2.2"}.size();
  for (std::size_t length = 0; length <= good_line.size(); ++length) {
    auto record = ready_parser()->parse(good_line.substr(0, length));
    CHECK(record.has_value() ==
          (length == 0 || length == one_address || length == good_line.size()));
  }
  for (auto header : all_types_header)
    for (std::size_t length = 0; length <= header.size(); ++length) {
      auto parser = zeek::make_tsv_log_parser();
      (void)parser->parse(header.substr(0, length));
      (void)parser->parse(good_line);
    }
}

TEST_CASE("any byte in any place is survived") {
  std::string line{good_line};
  for (std::size_t i = 0; i < line.size(); ++i)
    for (int byte = 0; byte < 256; byte += 5) {
      auto parser = ready_parser();
      auto copy = line;
      copy[i] = static_cast<char>(byte);
      (void)parser->parse(copy);
    }
  CHECK(ready_parser()->parse(line));
}

TEST_CASE("records and columns become Zeek events") {
  auto parser = ready_parser();
  auto event = zeek::make_log_event("conn", vector{data{1U}});
  CHECK(to_string(event) == "(1, 1, (log_conn, ((1))))");
  auto fields = to_string(zeek::make_log_fields_event(parser->schema()));
  CHECK(fields.starts_with("(1, 1, (log_fields, (all, ((ts, time), (dur, interval), "));
  CHECK(zeek::log_topic("conn") == "zeek/records/conn");
  CHECK(zeek::log_path_of("/var/log/conn.2024-01-01.log") == "conn");
  CHECK(zeek::log_path_of("dns") == "dns");
}
