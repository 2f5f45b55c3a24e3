// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include <pubsub/zeek/event.hpp>

#include "zeek_logs/event_dump.hpp"

using namespace pubsub;

namespace {

zeek::dumped_event read_event(std::string_view line) {
  auto event = zeek::event_dump_parser{}.parse(line);
  REQUIRE_MESSAGE(event, line);
  REQUIRE(*event);
  return std::move(**event);
}

data as_event(const zeek::dumped_event& x) {
  return zeek::make_event(x.name, x.args, x.time);
}

data argument(std::string_view name, std::string_view value) {
  auto event = read_event(R"({"ts":1.0,"event":"e","args":{")" + std::string{name} +
                          "\":" + std::string{value} + "}}");
  REQUIRE(event.args.size() == 1);
  return event.args[0];
}

} // namespace

TEST_CASE("an event has its name, its time and its arguments in order") {
  auto event = read_event(
      R"({"ts":1254722767.49206,"event":"smtp_reply","args":{"is_orig":false,"code":220,"msg":"hi"}})");
  CHECK(event.name == "smtp_reply");
  CHECK(event.time == timestamp{timespan{1'254'722'767'492'060'000}});
  CHECK(event.args == vector{data{false}, data{220U}, data{"hi"}});
  CHECK(zeek::event_topic(event.name) == "zeek/events/smtp_reply");
}

TEST_CASE("the time travels as network timestamp metadata") {
  auto text = to_string(as_event(read_event(R"({"ts":2.5,"event":"e"})")));
  CHECK(text == "(1, 1, (e, (), ((1, 2500000000ns))))");
  CHECK(to_string(as_event(read_event(R"({"event":"e"})"))) == "(1, 1, (e, ()))");
}

TEST_CASE("texts and objects that stand for typed values are recognised") {
  CHECK(argument("p", R"({"port":53,"proto":"udp"})") == data{port{53, transport::udp}});
  CHECK(argument("duration", R"("0 secs")") == data{timespan{0}});
  CHECK(argument("d", R"("690.0 msecs 616.846085 usecs")") == data{timespan{690'616'846}});
  CHECK(argument("d", R"("7.0 secs 576.0 msecs 952.934265 usecs")") ==
        data{timespan{7'576'952'934}});
  CHECK(argument("d", R"("2.0 mins")") == data{timespan{120'000'000'000}});
  CHECK(argument("d", R"("-1.0 day 1.0 hr")") ==
        data{timespan{-86'400'000'000'000 + 3'600'000'000'000}});
  CHECK(argument("orig_h", R"("10.10.1.4")") == data{*address::parse("10.10.1.4")});
  CHECK(argument("start_time", "1.000001") == data{timestamp{timespan{1'000'001'000}}});
  CHECK(argument("atype", R"("Analyzer::ANALYZER_SMTP")") ==
        data{enum_value{"Analyzer::ANALYZER_SMTP"}});
}

TEST_CASE("texts that only resemble typed values stay strings") {
  for (auto text : {"2 mins late", "5", "5 apples", "secs", "10.0.0.1 ", "SMTP::finalize",
                    "a::b c::D", "::X", "X::"})
    CHECK(argument("msg", '"' + std::string{text} + '"') == data{text});
  CHECK(argument("orig_h", R"("not an address")") == data{"not an address"});
}

TEST_CASE("other objects become tables, arrays vectors") {
  auto x = argument("c", R"({"id":{"orig_h":"::1"},"service":["A"],"ctx":{}})");
  CHECK(to_string(x) == "{ctx -> {}, id -> {orig_h -> ::1}, service -> (A)}");
}

TEST_CASE("a line that is no event is an error and the next one is read") {
  zeek::event_dump_parser parser;
  for (auto line : {"{}", "[]", "x", R"({"ts":1.0})", R"({"event":""})", R"({"event":7})",
                    R"({"event":"e","ts":"x"})", R"({"event":"e","args":[1]})",
                    R"({"event":"e"} {})", R"({"event":"e","args":{"a":})", R"({"event":"e")"})
    CHECK_MESSAGE(!parser.parse(line), line);
  auto blank = parser.parse(" ");
  REQUIRE(blank);
  CHECK_FALSE(*blank);
  CHECK(parser.parse(R"({"event":"e"})"));
}

TEST_CASE("an event line cut off at any byte is an error") {
  std::string_view line =
      R"({"ts":1.5,"event":"e","args":{"c":{"p":{"port":1,"proto":"tcp"}},"d":"1.0 sec"}})";
  for (std::size_t length = 1; length < line.size(); ++length)
    CHECK_FALSE(zeek::event_dump_parser{}.parse(line.substr(0, length)));
  CHECK(zeek::event_dump_parser{}.parse(line));
}
