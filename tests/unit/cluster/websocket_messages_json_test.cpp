// Messages of the WebSocket API; the file of conversations with a real Zeek is JSON.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/websocket_capture.hpp"

#include "cluster/websocket_messages.hpp"
#include "format/json_messages.hpp"
#include "format/utf8.hpp"

#include <pubsub/binary.hpp>
#include <pubsub/format.hpp>
#include <pubsub/zeek/event.hpp>

#include <limits>

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::cluster;

namespace {

/// What the server would say to the message of a client; empty if nothing.
std::string answer_to(std::string_view text) {
  websocket_event event;
  const auto read = read_event(text, event);
  return read ? "" : error_message({"deserialization_failed", read.error().context()});
}

/// An event as the client writes it, with `more` in the members of the envelope.
std::string event_text(std::string_view topic, std::string_view args) {
  return R"({"type":"data-message","topic":")" + std::string{topic} +
         R"(","@data-type":"vector","data":[{"@data-type":"count","data":1},)"
         R"({"@data-type":"count","data":1},{"@data-type":"vector","data":[)"
         R"({"@data-type":"string","data":"e"},{"@data-type":"vector","data":[)" +
         std::string{args} + "]}]}]}";
}

data_view view_of(const websocket_event& x) {
  return data_view::from_valid(x.value.bytes());
}

/// Zeek refuses events that it does not know, and arguments that are not those of the declaration;
/// it also takes a carriage return for no white space. No client needs that refused.
bool is_refused_by_zeek_only(const test::captured_conversation& where, std::string_view said) {
  if (where.name == "events that are refused")
    return said.find("failed to create Zeek event") != said.npos;
  return where.name.starts_with("CR, ");
}

} // namespace

TEST_CASE("every conversation with a real Zeek goes the same way here") {
  std::size_t events = 0;
  std::size_t errors = 0;
  std::size_t refused_by_zeek_only = 0;
  for (const auto& each : test::captured_conversations()) {
    CAPTURE(each.backend);
    CAPTURE(each.name);
    bool dead = false;
    for (std::size_t i = 0; i < each.frames.size() && !dead; ++i) {
      const auto& frame = each.frames[i];
      CAPTURE(frame.text);
      const auto next =
          i + 1 < each.frames.size() ? each.frames[i + 1] : test::captured_frame{true, false, {}};
      if (frame.from_client && i == 0) {
        const auto read = read_subscriptions(frame.text);
        dead = !read;
        if (dead)
          CHECK(error_message({"deserialization_failed", read.error().context()}) == next.text);
        else if (next.text.find("nvalid") == next.text.npos) // what was wrong before is told first
          CHECK(std::holds_alternative<websocket_ack>(*read_server_message(next.text)));
        continue;
      }
      if (frame.from_client) {
        const auto said = answer_to(frame.text);
        const bool refused =
            !next.from_client && next.text.find(R"("type":"error")") != next.text.npos;
        if (refused && said.empty() && is_refused_by_zeek_only(each, next.text))
          ++refused_by_zeek_only;
        else
          CHECK(said == (refused ? next.text : ""));
        continue;
      }
      const auto read = read_server_message(frame.text);
      REQUIRE_MESSAGE(read, read.error().message());
      if (const auto* const event = std::get_if<websocket_event>(&*read)) {
        std::string written;
        CHECK(append_event(written, event->topic, view_of(*event), json_strings::bytes));
        CHECK(written == frame.text);
        ++events;
      } else if (const auto* const error = std::get_if<websocket_error>(&*read)) {
        CHECK(error_message(*error) == frame.text);
        ++errors;
      } else {
        CHECK(ack_message(std::get<websocket_ack>(*read)) == frame.text);
      }
    }
  }
  CHECK(events == 48);
  CHECK(errors == 60);
  CHECK(refused_by_zeek_only == 12);
}

TEST_CASE("subscriptions are a list of strings") {
  const std::vector<std::string> prefixes{"/a", "", "\"\xc3\xa4\\", "/a"};
  CHECK(*read_subscriptions(subscriptions_message(prefixes)) == prefixes);
  CHECK(read_subscriptions(" [ ] ")->empty());
  CHECK(subscriptions_message({}) == "[]");
  for (const auto* text : {"", " ", "{}", "null", "[\"a\"", "[\"a\"] x", "\"a\"", "[\"\xff\"]"})
    CHECK(read_subscriptions(text).error().context() == "subscriptions not an array");
  for (const auto* text : {"[1]", "[\"a\",null]", "[[\"a\"]]", "[{}]"})
    CHECK(read_subscriptions(text).error().context() == "individual subscription not a string");
}

TEST_CASE("an event is read as encoded bytes, in the order of the model") {
  const std::string args =
      R"({"@data-type":"set","data":[{"@data-type":"count","data":7},{"@data-type":"count","data":3}]},)"
      R"({"@data-type":"set","data":[{"@data-type":"string","data":"one"}]},)"
      R"({"@data-type":"set","data":[]},{"@data-type":"table","data":[]},)"
      R"({"@data-type":"table","data":[{"key":{"@data-type":"string","data":"k"},)"
      R"("value":{"@data-type":"none"}}]},)"
      R"({"@data-type":"real","data":1.5},{"@data-type":"integer","data":-1},)"
      R"({"@data-type":"boolean","data":true},{"@data-type":"address","data":"::1"},)"
      R"({"@data-type":"subnet","data":"10.0.0.0/8"},{"@data-type":"port","data":"53/udp"},)"
      R"({"@data-type":"enum-value","data":"A::B"},{"@data-type":"timespan","data":"5ms"},)"
      R"({"@data-type":"timestamp","data":"2023-11-14T22:13:20.123"})";
  for (const auto& text :
       {event_text("/t", args), event_text("/t", R"({"@data-type":"vector","data":[]})")}) {
    websocket_event event;
    REQUIRE(read_event(text, event));
    CHECK(event.topic == "/t");
    const auto tree = message_from_json(text);
    CHECK(std::ranges::equal(event.value.bytes(), *encode_binary(tree->value)));
    CHECK(data_view::make(event.value.bytes()).has_value());
  }
  const auto twice =
      R"({"@data-type":"set","data":[{"@data-type":"count","data":7},{"@data-type":"count","data":7}]})";
  CHECK(answer_to(event_text("/t", twice)).find("failed to decode JSON object") !=
        std::string::npos);
}

TEST_CASE("what a parser of JSON knows does not depend on what an event holds") {
  const std::string nasty{"\0\x01\n\"\\/\v\x7f\xff\xc3\xa4\xf0\x9f\x98\x80\xed\xa0\x80", 18};
  const auto value = zeek::make_event(
      "e", {data{nasty}, data{real{1}}, data{std::numeric_limits<real>::infinity()}});
  const auto bytes = *encode_binary(value);
  const auto view = data_view::from_valid(bytes);
  std::string text = "[";
  REQUIRE(append_event(text, "/\xff\n", view));
  text += ']';
  CHECK(is_utf8(text));
  CHECK(text.find_first_of(std::string_view{"\0\x01\n\v\x7f", 5}) == text.npos);
  websocket_event event;
  REQUIRE(read_event(std::string_view{text}.substr(1, text.size() - 2), event));
  CHECK(event.topic == "/\xef\xbf\xbd\n");
  const auto args = zeek::view_event(view_of(event))->args();
  CHECK((*args.begin()).as_string() ==
        std::string_view{
            "\0\x01\n\"\\/"
            "\v\x7f\xef\xbf\xbd\xc3\xa4\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
            26});
  // As they are, all bytes come through.
  text.clear();
  REQUIRE(append_event(text, "/\xff", view, json_strings::bytes));
  REQUIRE(read_event(text, event));
  CHECK(event.topic == "/\xff");
  CHECK(std::ranges::equal(event.value.bytes(), bytes));
}

TEST_CASE("what is no event is not written") {
  for (const auto& value :
       {data{1}, data{vector{data{count{1}}, data{count{5}}, data{vector{}}}}}) {
    std::string text = "x";
    CHECK_FALSE(append_event(text, "/t", data_view::from_valid(*encode_binary(value))));
    CHECK(text == "x");
  }
}

TEST_CASE("an error says its text in either member") {
  const websocket_error error{"a_code", "a \"text\""};
  CHECK(std::get<websocket_error>(*read_server_message(error_message(error))) == error);
  CHECK(std::get<websocket_error>(*read_server_message(
            R"({"message":"a \"text\"","code":"a_code","more":{"x":[1]},"type":"error"})")) ==
        error);
  CHECK(std::get<websocket_ack>(*read_server_message(R"({"version":"1","type":"ack"})")) ==
        websocket_ack{"", "1"});
}

TEST_CASE("names of applications have letters, digits and some signs") {
  CHECK(is_application_name("zeekctl/2.6_x=1:*@-."));
  for (const auto* text : {"", "bad name", "a!", "\xc3\xa4"})
    CHECK_FALSE(is_application_name(text));
}
