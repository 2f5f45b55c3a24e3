// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "support/times.hpp"
#include "zeek_logs/log_reader.hpp"

using namespace pubsub;
using pubsub::test::at_ns;

namespace {

vector parse(zeek::log_parser& parser, std::string_view line) {
  auto record = parser.parse(line);
  REQUIRE_MESSAGE(record, line);
  REQUIRE(*record);
  return std::move(**record);
}

vector parse(std::string_view line) {
  return parse(*zeek::make_json_log_parser(), line);
}

constexpr std::string_view conn_line =
    R"({"ts":1700000000.123456,"uid":"CHh","id.orig_h":"2001:db8::1","id.orig_p":53,"id.resp_h":"10.0.0.1",)"
    R"("id.resp_p":5353,"proto":"udp","duration":0.000001,"orig_bytes":18446744073709551615,"delta":-1,)"
    R"("share":0.5,"local_orig":true,"tags":["a","b"],"service":null,"host":"www.example.net"})";

} // namespace

TEST_CASE("values of a JSON log are typed by themselves and their names") {
  auto parser = zeek::make_json_log_parser("conn");
  auto x = parse(*parser, conn_line);
  REQUIRE(x.size() == 15);
  CHECK(x[0] == data{at_ns(1'700'000'000'123'456'000)});
  CHECK(x[1] == data{"CHh"});
  CHECK(x[2] == data{*address::parse("2001:db8::1")});
  CHECK(x[3] == data{port{53, transport::udp}});
  CHECK(x[4] == data{*address::parse("10.0.0.1")});
  CHECK(x[5] == data{port{5353, transport::udp}});
  CHECK(x[6] == data{enum_value{"udp"}});
  CHECK(x[7] == data{timespan{1'000}});
  CHECK(x[8] == data{count{18'446'744'073'709'551'615U}});
  CHECK(x[9] == data{integer{-1}});
  CHECK(x[10] == data{0.5});
  CHECK(x[11] == data{true});
  CHECK(x[12] == data{vector{data{"a"}, data{"b"}}});
  CHECK(x[13] == data{none{}});
  CHECK(x[14] == data{"www.example.net"});
  CHECK(parser->schema().fields[0] == zeek::log_field{"ts", "time"});
  CHECK(parser->schema().fields[12] == zeek::log_field{"tags", "vector[string]"});
  CHECK(parser->schema().path == "conn");
}

TEST_CASE("times of JSON logs may be seconds, milliseconds or ISO 8601") {
  CHECK(parse(R"({"ts":1700000000.123456789})")[0] == data{at_ns(1'700'000'000'123'456'789)});
  CHECK(parse(R"({"ts":1700000000})")[0] == data{at_ns(1'700'000'000'000'000'000)});
  CHECK(parse(R"({"ts":1700000000123})")[0] == data{at_ns(1'700'000'000'123'000'000)});
  CHECK(parse(R"({"ts":"2023-11-14T22:13:20.000001Z"})")[0] ==
        data{at_ns(1'700'000'000'000'001'000)});
  CHECK(parse(R"({"ts":"2023-11-14T22:13:20Z"})")[0] == data{at_ns(1'700'000'000'000'000'000)});
  CHECK(parse(R"({"ts":"2023-02-30T22:13:20Z"})")[0] == data{"2023-02-30T22:13:20Z"});
  CHECK(parse(R"({"rtt":5.698204040527344e-05})")[0] == data{timespan{56'982}});
}

TEST_CASE("columns keep their place when members come and go") {
  auto parser = zeek::make_json_log_parser();
  CHECK(parse(*parser, R"({"a":1,"b":"x"})") == vector{data{1U}, data{"x"}});
  auto version = parser->schema().version;
  CHECK(parse(*parser, R"({"b":"y"})") == vector{data{none{}}, data{"y"}});
  CHECK(parser->schema().version == version);
  CHECK(parse(*parser, R"({"c":true,"a":2})") == vector{data{2U}, data{none{}}, data{true}});
  CHECK(parser->schema().version != version);
}

TEST_CASE("a number column widens and stays wide") {
  auto parser = zeek::make_json_log_parser();
  CHECK(parse(*parser, R"({"a":1})")[0] == data{1U});
  CHECK(parse(*parser, R"({"a":-1})")[0] == data{integer{-1}});
  CHECK(parse(*parser, R"({"a":1})")[0] == data{integer{1}});
  CHECK(parse(*parser, R"({"a":1.5})")[0] == data{1.5});
  CHECK(parse(*parser, R"({"a":2})")[0] == data{2.0});
  CHECK(parser->schema().fields[0].type == "double");
  CHECK(parse(*parser, R"({"a":"text"})")[0] == data{"text"});
  CHECK(parser->schema().fields[0].type == "any");
}

TEST_CASE("_path names the log") {
  auto parser = zeek::make_json_log_parser("file");
  CHECK(parse(*parser, R"({"_path":"dns","a":1})") == vector{data{1U}});
  CHECK(parser->schema().path == "dns");
}

TEST_CASE("a line that is no JSON object is an error and the next one is read") {
  auto parser = zeek::make_json_log_parser();
  for (auto line :
       {"{", "}", "[1]", "7", "null", "\"x\"", R"({"a":})", R"({"a":1)", R"({"a":1} x)",
        R"({"a":01})", R"({"a":nul})", R"({"a" 1})", R"({"a":18446744073709551616})",
        "{\"a\":\"\xff\"}", R"({"a":"\ud800"})", R"({"a":tru})", R"({a:1})", R"({"a":1,})"}) {
    auto record = parser->parse(line);
    REQUIRE_MESSAGE(!record, line);
    CHECK(record.error() == errc::invalid_json);
    CHECK_FALSE(record.error().context().empty());
  }
  CHECK(parser->schema().fields.empty());
  CHECK(parse(*parser, R"({"a":1})") == vector{data{1U}});
}

TEST_CASE("the number of columns is limited") {
  auto parser = zeek::make_json_log_parser();
  for (int i = 0; i < 4096; ++i)
    REQUIRE(parser->parse("{\"a" + std::to_string(i) + "\":1}"));
  auto one_more = parser->parse(R"({"b":1})");
  REQUIRE_FALSE(one_more);
  CHECK(one_more.error() == errc::limit_exceeded);
  CHECK(parse(*parser, R"({"a0":2})")[0] == data{2U});
}

TEST_CASE("nesting is limited") {
  std::string line = R"({"a":)" + std::string(100, '[') + std::string(100, ']') + "}";
  auto record = zeek::make_json_log_parser()->parse(line);
  REQUIRE_FALSE(record);
  CHECK(record.error() == errc::limit_exceeded);
}

TEST_CASE("a vector of JSON has the type of its members, if they have one") {
  for (const auto& [text, type] :
       {std::pair{R"({"a":[1,2]})", "vector[count]"},
        std::pair{R"({"a":[null,"x"]})", "vector[string]"},
        std::pair{R"({"a":[1,"x"]})", "vector[any]"}, std::pair{R"({"a":[null]})", "vector[]"}}) {
    auto parser = zeek::make_json_log_parser();
    REQUIRE(parser->parse(text));
    CHECK(parser->schema().fields.at(0).type == type);
  }
}

TEST_CASE("a JSON line cut off or damaged at any byte is survived") {
  for (std::size_t length = 1; length < conn_line.size(); ++length)
    CHECK_FALSE(zeek::make_json_log_parser()->parse(conn_line.substr(0, length)));
  auto parser = zeek::make_json_log_parser();
  for (std::size_t i = 0; i < conn_line.size(); ++i)
    for (char byte : {'\0', '"', '{', '}', '[', ']', ',', ':', '\\', '9', '\x80', '\n'}) {
      std::string copy{conn_line};
      copy[i] = byte;
      (void)parser->parse(copy);
    }
  CHECK(parser->parse(conn_line));
}
