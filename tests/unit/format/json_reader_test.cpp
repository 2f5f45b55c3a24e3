// SPDX-License-Identifier: BSD-3-Clause
#include "support/random_data.hpp"

#include <pubsub/format.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <string>

using namespace pubsub;

namespace {

std::string join(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const auto part : parts)
    out += part;
  return out;
}

std::string array(std::initializer_list<std::string_view> members) {
  std::string out = "[";
  for (const auto member : members) {
    if (out.size() > 1)
      out += ',';
    out += member;
  }
  out += ']';
  return out;
}

std::string pair_of(std::string_view key, std::string_view value) {
  return join({"{\"key\":", key, ",\"value\":", value, "}"});
}

std::string object(std::string_view type, std::string_view body) {
  return join({"{\"@data-type\":\"", type, "\",\"data\":", body, "}"});
}

data read(std::string_view type, std::string_view body) {
  const auto x = from_json(object(type, body));
  REQUIRE_MESSAGE(x, type, " ", body, ": ", (x ? std::string{} : x.error().message()));
  return *x;
}

errc verdict(std::string_view text, const decode_limits& limits = {}) {
  const auto x = from_json(text, limits);
  return x ? errc::none : x.error().code();
}

errc verdict(std::string_view type, std::string_view body) {
  return verdict(object(type, body));
}

std::string repeat(std::string_view text, int times) {
  std::string out;
  for (; times > 0; --times)
    out += text;
  return out;
}

} // namespace

TEST_CASE("text without an address is no JSON, and no undefined behaviour either") {
  CHECK(pubsub::from_json(std::string_view{}).error() == pubsub::errc::invalid_json);
}

TEST_CASE("each type reads back from its own spelling") {
  CHECK(read("none", "{}") == data{});
  CHECK(read("boolean", "true") == data{true});
  CHECK(read("count", "18446744073709551615") == data{UINT64_MAX});
  CHECK(read("integer", "-9223372036854775808") == data{INT64_MIN});
  CHECK(read("real", "12.480000") == data{12.48});
  CHECK(read("real", "1e3") == data{1000.0});
  CHECK(read("string", "\"a\\u00e9\\ud83d\\ude00\"") == data{"a\xc3\xa9\xf0\x9f\x98\x80"});
  CHECK(read("address", "\"2001:db8::1\"") == data{*address::parse("2001:db8::1")});
  CHECK(read("subnet", "\"10.0.0.0/8\"") == data{*subnet::parse("10.0.0.0/8")});
  CHECK(read("port", "\"53/udp\"") == data{port{53, transport::udp}});
  CHECK(read("timestamp", "\"1970-01-01T00:00:01.5Z\"") ==
        data{timestamp{timespan{1'500'000'000}}});
  CHECK(read("timespan", "\"2min\"") == data{timespan{120'000'000'000}});
  CHECK(read("enum-value", "\"Conn::LOG\"") == data{enum_value{"Conn::LOG"}});
  CHECK(read("set", array({object("count", "2"), object("count", "1")})) ==
        data{set{count{1}, count{2}}});
  CHECK(read("table", array({pair_of(object("count", "1"), object("none", "{}"))})) ==
        data{table{{count{1}, none{}}}});
  CHECK(read("vector", "[]") == data{vector{}});
}

TEST_CASE("none needs no data and anything is accepted for it") {
  CHECK(verdict(R"({"@data-type":"none"})") == errc::none);
  CHECK(verdict("none", "[1,2]") == errc::none);
}

TEST_CASE("members may come in any order, with others between, and the first of a name counts") {
  CHECK(*from_json(R"({"x":[{}],"data":1,"y":null,"@data-type":"count","data":2})") ==
        data{count{1}});
  CHECK(*from_json(" \t\r\n{ \"data\" : 1 , \"@data-type\" : \"count\" } \n") == data{count{1}});
}

TEST_CASE("literals of another type are a type clash") {
  CHECK(verdict("boolean", "1") == errc::type_clash);
  CHECK(verdict("boolean", "\"true\"") == errc::type_clash);
  CHECK(verdict("count", "42.0") == errc::type_clash);
  CHECK(verdict("count", "1e2") == errc::type_clash);
  CHECK(verdict("count", "-1") == errc::type_clash);
  CHECK(verdict("integer", "42.0") == errc::type_clash);
  CHECK(verdict("integer", "9223372036854775808") == errc::type_clash);
  CHECK(verdict("real", "42") == errc::type_clash);
  CHECK(verdict("real", "\"nan\"") == errc::type_clash);
  CHECK(verdict("string", "1") == errc::type_clash);
  CHECK(verdict("string", "nan") == errc::type_clash);
  CHECK(verdict("count", "nan") == errc::type_clash);
  CHECK(verdict("address", "\"nonsense\"") == errc::type_clash);
  CHECK(verdict("subnet", "\"10.0.0.0/256\"") == errc::type_clash);
  CHECK(verdict("timestamp", "\"1970-02-30T00:00:00\"") == errc::type_clash);
  CHECK(verdict("timespan", "\"1.5s\"") == errc::type_clash);
  CHECK(verdict("vector", "{}") == errc::type_clash);
  CHECK(verdict("table", "[1]") == errc::type_clash);
  CHECK(verdict("strange", "1") == errc::type_clash);
  CHECK(verdict("[]") == errc::type_clash);
  CHECK(verdict("{}") == errc::type_clash);
  CHECK(verdict(R"({"@data-type":"count"})") == errc::type_clash);
  CHECK(verdict(R"({"@data-type":1,"data":1})") == errc::type_clash);
}

TEST_CASE("twins in sets and tables are refused") {
  const auto one = object("count", "1");
  CHECK(verdict("set", array({one, one})) == errc::duplicate_key);
  const auto pair = pair_of(one, one);
  CHECK(verdict("table", array({pair, pair})) == errc::duplicate_key);
}

TEST_CASE("the error says what was expected where") {
  const auto inner = object("table", array({pair_of(object("count", "1"), object("count", "-1"))}));
  const auto x = from_json(object("vector", array({object("none", "{}"), inner})));
  REQUIRE_FALSE(x);
  CHECK(x.error().context() ==
        "/data/1/data/0/value/data: expected an integer literal from 0 to 2^64-1");
}

TEST_CASE("broken syntax is invalid JSON") {
  for (const std::string_view text : {"",
                                      " ",
                                      "{",
                                      "}",
                                      "nul",
                                      "{\"@data-type\":\"none\",}",
                                      "{\"@data-type\":\"none\"} x",
                                      "{'@data-type':'none'}",
                                      "{\"a\":\"\\x\"}",
                                      "{\"a\":\"",
                                      "{\"a\":\"\\",
                                      "{\"a\":\"\\u12",
                                      "{\"a\":\"\\ud800\"}",
                                      "{\"a\":\"\\udc00\\ud800\"}",
                                      "{\"a\":\"\\ud800\\u0041\"}",
                                      "// {}",
                                      "{\"a\":\xff}",
                                      "{\"a\":+}",
                                      "{\"a\":.}",
                                      "{\"a\":0x}",
                                      "{\"a\":0xg}",
                                      "{\"a\":08}",
                                      "{\"a\":--1}",
                                      "{\"a\":1.2.3}",
                                      "{\"a\":0x10000000000000000}",
                                      "{\"a\":+true}"})
    CHECK_MESSAGE(verdict(text) == errc::invalid_json, text);
}

TEST_CASE("Broker's tolerance for numbers is ours") {
  CHECK(read("count", "+1") == data{count{1}});
  CHECK(read("integer", "+7") == data{7});
  CHECK(read("count", "0x2A") == data{count{42}});
  CHECK(read("count", "0Xff") == data{count{255}});
  CHECK(read("integer", "-0x10") == data{-16});
  CHECK(read("count", "0b101") == data{count{5}});
  CHECK(read("count", "010") == data{count{8}});
  CHECK(read("count", "00") == data{count{0}});
  CHECK(read("count", "0xffffffffffffffff") == data{UINT64_MAX});
  CHECK(read("real", ".5") == data{0.5});
  CHECK(read("real", "5.") == data{5.0});
  CHECK(read("real", "-.25") == data{-0.25});
  CHECK(read("real", "+5.e2") == data{500.0});
  CHECK(std::isnan(read("real", "nan").get<real>()));
  CHECK(std::isnan(read("real", "-nan").get<real>()));
  CHECK(read("real", "inf") == data{HUGE_VAL});
  CHECK(read("real", "-inf") == data{-HUGE_VAL});
}

TEST_CASE("Broker's tolerance for strings is ours") {
  using namespace std::string_literals;
  CHECK(read("string", "\"a\\vb\"") == data{"a\vb"});
  CHECK(read("string", "\"raw\ttab\nline\x01\x1f\"") == data{"raw\ttab\nline\x01\x1f"});
  CHECK(read("string", "\"nul\0inside\""s) == data{"nul\0inside"s});
  CHECK(read("string", "\"\xff\xfe\x80 \xc3\"") == data{"\xff\xfe\x80 \xc3"});
  CHECK(read("string", "\"\xc4\x80\x01\"") == data{"\xc4\x80\x01"}); // not our mark for nan
  CHECK(read("string", "\"\\u0100nan\x01\"") == data{"\xc4\x80nan\x01"});
  CHECK(read("string", "\"\x01\\u00e9\\u20ac\\ud83d\\ude00\\u0022\\u005c\\u0000\"") ==
        data{"\x01\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"\\\0"s});
  CHECK(read("string", "\"\x01\\\"\\\\\\b\\f\\n\\r\\t\\/\"") == data{"\x01\"\\\b\f\n\r\t/"});
  CHECK(read("string", "\"zeek\\/x\"") == data{"zeek/x"});
}

TEST_CASE("a string cannot pass for a special real") {
  CHECK(verdict("real", "\"\xc4\x80nan\"") == errc::type_clash);
  CHECK(verdict("vector", array({object("real", "nan"), object("real", "\"\xc4\x80nan\"")})) ==
        errc::type_clash);
}

TEST_CASE("large reals as printed in full parse to the same value") {
  for (const double x : {1e22, 1e300, -1e300, 1.7976931348623157e308, 123456789.123457}) {
    const auto text = to_json(data{x});
    CHECK(*from_json(text) == data{x});
  }
}

TEST_CASE("random values come back from JSON") {
  test::random_data random{5, true};
  for (int i = 0; i < 1500; ++i) {
    const auto x = random.value();
    const auto text = to_json(x);
    const auto y = from_json(text);
    REQUIRE_MESSAGE(y, text, " ", (y ? std::string{} : y.error().message()));
    CHECK(*y == x);
  }
}

TEST_CASE("nesting is bounded whatever the limit says") {
  const auto nested = [](int levels) {
    return repeat("{\"@data-type\":\"vector\",\"data\":[", levels) + object("none", "{}") +
           repeat("]}", levels);
  };
  CHECK(verdict(nested(64)) == errc::none);
  CHECK(verdict(nested(65)) == errc::limit_exceeded);
  CHECK(verdict(nested(100'000)) == errc::limit_exceeded);
  CHECK(verdict(nested(100'000), {.max_depth = UINT32_MAX}) == errc::limit_exceeded);
  CHECK(verdict(nested(500), {.max_depth = UINT32_MAX}) == errc::none);
  CHECK(verdict(repeat("[", 100'000) + repeat("]", 100'000)) == errc::limit_exceeded);
  CHECK(verdict(join({"{\"x\":", repeat("[", 100'000), repeat("]", 100'000), "}"})) ==
        errc::limit_exceeded);
  CHECK(verdict(repeat("[", 100'000)) == errc::invalid_json);
}

TEST_CASE("tables may nest as deep as vectors") {
  std::string text = object("none", "{}");
  for (int i = 0; i < 64; ++i)
    text = object("table", array({pair_of(object("count", "1"), text)}));
  CHECK(verdict(text) == errc::none);
}

TEST_CASE("the number of values is bounded") {
  const auto text = object("vector", array({object("none", "{}"), object("none", "{}")}));
  CHECK(verdict(text, {.max_values = 3}) == errc::none);
  CHECK(verdict(text, {.max_values = 2}) == errc::limit_exceeded);
}

TEST_CASE("what was read before, whatever its size and limits, leaves nothing behind") {
  for (const std::size_t size : {10, 20'000, 9'000, 1, 8'100, 100'000, 300}) {
    const std::string content(size, 'x');
    CHECK(read("string", "\"" + content + "\"") == data{content});
    CHECK(read("string", "\"" + content + "\xff\"") == data{content + "\xff"}); // rewritten
    CHECK(verdict("{\"a\":\"" + content) == errc::invalid_json);
    const auto nested = object("vector", array({object("string", "\"" + content + "\"")}));
    CHECK(verdict(nested, {.max_depth = 0}) == errc::limit_exceeded);
    CHECK(verdict(nested, {.max_depth = 1}) == errc::none);
  }
}

TEST_CASE("a name that is nearly one of a type is none") {
  for (const std::string_view name :
       {"",          "s",          "sex",         "nine",    "poor",    "rear",
        "noun",      "pount",      "fable",       "sector",  "strung",  "subnot",
        "xubnet",    "addres",     "addressx",    "boolish", "integra", "timespam",
        "timestomp", "enum_value", "enum-values", "Count"})
    CHECK_MESSAGE(verdict(name, "\"1\"") == errc::type_clash, name);
}

TEST_CASE("a data message yields topic and value") {
  const auto x = message_from_json(
      R"({"type":"data-message","topic":"/a\u00e9","@data-type":"count","data":1})");
  REQUIRE(x);
  CHECK(x->topic == "/a\xc3\xa9");
  CHECK(x->value == data{count{1}});
  CHECK(message_from_json(R"({"@data-type":"none"})")->topic == "<$>");
  CHECK(message_from_json(R"({"topic":7,"@data-type":"none"})")->topic == "<$>");
  CHECK(message_from_json("{\"topic\":\"\xff\",\"@data-type\":\"none\"}")->topic == "\xff");
  CHECK(message_from_json("{\"topic\":nan,\"@data-type\":\"none\"}")->topic == "<$>");
  CHECK(message_from_json("[]").error() == errc::type_clash);
  CHECK(message_from_json("[").error() == errc::invalid_json);
}
