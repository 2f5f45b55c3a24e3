// SPDX-License-Identifier: BSD-3-Clause
#include "support/hex.hpp"
#include "support/vectors.hpp"

#include <pubsub/binary.hpp>
#include <pubsub/zeek/message.hpp>

#include <doctest/doctest.h>

using namespace pubsub;
using pubsub::test::just;
using zeek::message_kind;

namespace {

// The test vector of the specification: an event with a network timestamp of 0.
const test::buffer& event_bytes() {
  static const auto bytes =
      test::from_hex("0e03 020000000000000001 020000000000000001"
                     "0e03 0517 53757065727669736f723a3a6e6f64655f737461747573"
                     "0e02 050454455354 02000000000000002a"
                     "0e01 0e02 020000000000000001 090000000000000000");
  return bytes;
}

data message(count kind, vector content) {
  return vector{count{1}, kind, std::move(content)};
}

std::optional<message_kind> kind_of(const data& x) {
  const auto bytes = *encode_binary(x);
  return zeek::kind_of(*data_view::make(bytes));
}

bool is_event(const data& x) {
  const auto bytes = *encode_binary(x);
  const auto in_tree = zeek::parse_event(x);
  const auto in_place = zeek::view_event(*data_view::make(bytes));
  CHECK(in_tree.has_value() == in_place.has_value());
  if (!in_tree)
    CHECK(in_tree.error() == errc::invalid_message);
  CHECK(in_tree.has_value() == (kind_of(x) == message_kind::event));
  return in_tree.has_value();
}

data metadata_event(data metadata) {
  return message(1, vector{"e", vector{}, std::move(metadata)});
}

} // namespace

TEST_CASE("an event is made and read as the specification shows") {
  const vector args{"TEST", count{42}};
  const auto x = zeek::make_event("Supervisor::node_status", args, timestamp{});
  CHECK(*encode_binary(x) == event_bytes());
  const auto y = *zeek::parse_event(x);
  CHECK(y.name == "Supervisor::node_status");
  CHECK(y.args == args);
  CHECK(y.network_time == timestamp{});
  const auto view = *data_view::make(event_bytes());
  const auto z = *zeek::view_event(view);
  CHECK(z.name() == y.name);
  CHECK(z.args_size() == 2);
  CHECK((*z.args().begin()).as_string() == "TEST");
  CHECK(z.args_view().to_data() == data{args});
  CHECK(z.network_time() == timestamp{});
}

TEST_CASE("an event without a time has no metadata") {
  const auto x = zeek::make_event("e", {});
  CHECK(x == message(1, vector{"e", vector{}}));
  const auto y = *zeek::parse_event(x);
  CHECK(y.name == "e");
  CHECK(y.args.empty());
  CHECK_FALSE(y.network_time);
}

TEST_CASE("empty metadata, foreign metadata and further elements are accepted") {
  CHECK(is_event(metadata_event(vector{})));
  CHECK(is_event(metadata_event(just(vector{count{200}, "user"}))));
  CHECK(is_event(message(1, vector{"e", vector{}, vector{}, "more"})));
  CHECK(is_event(vector{count{1}, count{1}, vector{"e", vector{}}, "more"}));
}

TEST_CASE("the first network time counts and must be a time") {
  const auto entry = [](data value) { return vector{count{1}, std::move(value)}; };
  const auto two =
      metadata_event(vector{entry(timestamp{timespan{5}}), entry(timestamp{timespan{6}})});
  CHECK(zeek::parse_event(two)->network_time == timestamp{timespan{5}});
  CHECK(is_event(two));
  CHECK_FALSE(is_event(metadata_event(just(entry(count{5})))));
  CHECK_FALSE(is_event(metadata_event(just(just(count{1})))));
  CHECK_FALSE(is_event(metadata_event(just(count{1}))));
  CHECK_FALSE(is_event(metadata_event(count{1})));
  CHECK_FALSE(is_event(metadata_event(just(vector{"1", timestamp{}}))));
}

TEST_CASE("an event says which trace it belongs to") {
  const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  for (const std::string state : {"", "vendor=1,other=a b"}) {
    const auto trace = *zeek::trace_context::make(parent, state);
    const auto x = zeek::make_event("e", {}, timestamp{}, trace);
    const auto y = *zeek::parse_event(x);
    CHECK(y.trace == trace);
    CHECK(y.trace->traceparent() == parent);
    CHECK(y.trace->tracestate() == state);
    CHECK(y.network_time == timestamp{});
    const auto bytes = *encode_binary(x);
    const auto view = *data_view::make(bytes);
    CHECK(zeek::view_event(view)->traceparent() == parent);
    CHECK(zeek::view_event(view)->tracestate() == state);
    CHECK(std::get<zeek::event>(*zeek::parse_message(view)) == y);
  }
}

TEST_CASE("a trace context that is not valid is refused, and as good as none in what is received") {
  const std::string trace(32, 'a');
  const std::string span(16, '1');
  const auto valid = "00-" + trace + "-" + span + "-00";
  const auto entry = [](count id, data value) { return vector{id, std::move(value)}; };
  for (const auto& wrong :
       {std::string{}, valid + "0", valid.substr(1), "01-" + trace + "-" + span + "-00",
        "00-" + std::string(32, 'A') + "-" + span + "-00",
        "00-" + std::string(32, '0') + "-" + span + "-00",
        "00-" + trace + "-" + std::string(16, '0') + "-00", "00-" + trace + "-" + span + "-0g",
        "00-" + trace + "_" + span + "-00"}) {
    CAPTURE(wrong);
    const auto made = zeek::trace_context::make(wrong);
    REQUIRE_FALSE(made);
    CHECK(made.error() == errc::invalid_argument);
    CHECK(made.error().context().find("no traceparent") == 0);
    const auto received = metadata_event(vector{entry(0x7470, wrong), entry(0x7473, "a=1")});
    CHECK(is_event(received));
    CHECK_FALSE(zeek::parse_event(received)->trace);
    const auto bytes = *encode_binary(received);
    CHECK_FALSE(zeek::view_event(*data_view::make(bytes))->trace());
  }
  for (const auto& wrong : {std::string(513, 'a'), std::string{"a=\n"}}) {
    CHECK(zeek::trace_context::make(valid, wrong).error() == errc::invalid_argument);
    const auto received = metadata_event(vector{entry(0x7470, valid), entry(0x7473, wrong)});
    CHECK(zeek::parse_event(received)->trace == *zeek::trace_context::make(valid));
  }
  CHECK_FALSE(zeek::parse_event(metadata_event(just(entry(0x7470, count{1}))))->trace);
  const auto other = "00-" + trace + "-" + span + "-01";
  const auto twice = metadata_event(vector{entry(0x7470, other), entry(0x7470, valid)});
  CHECK(zeek::parse_event(twice)->trace->traceparent() == other);
}

TEST_CASE("what is not an event is refused") {
  CHECK_FALSE(is_event(none{}));
  CHECK_FALSE(is_event(vector{}));
  CHECK_FALSE(is_event(vector{count{1}, count{1}}));
  CHECK_FALSE(is_event(vector{count{2}, count{1}, vector{"e", vector{}}}));
  CHECK_FALSE(is_event(vector{integer{1}, count{1}, vector{"e", vector{}}}));
  CHECK_FALSE(is_event(vector{count{1}, integer{1}, vector{"e", vector{}}}));
  CHECK_FALSE(is_event(vector{count{1}, count{1}, "e"}));
  CHECK_FALSE(is_event(message(1, vector{"e"})));
  CHECK_FALSE(is_event(message(1, vector{enum_value{"e"}, vector{}})));
  CHECK_FALSE(is_event(message(1, vector{"e", set{}})));
  CHECK_FALSE(is_event(set{count{1}, "e", vector{}}));
}

TEST_CASE("kinds are told apart by number and content") {
  const enum_value stream{"Conn::LOG"};
  const enum_value writer{"Log::WRITER_ASCII"};
  CHECK(kind_of(message(2, {stream, writer, vector{}, vector{}})) == message_kind::log_create);
  CHECK(kind_of(message(3, {stream, writer, "path", "bytes"})) == message_kind::log_write);
  CHECK(kind_of(message(4, {"id", none{}})) == message_kind::identifier_update);
  CHECK(kind_of(message(5, {})) == message_kind::batch);
  CHECK_FALSE(kind_of(message(0, {})));
  CHECK_FALSE(kind_of(message(6, {})));
  CHECK_FALSE(kind_of(message(257, {})));
  CHECK_FALSE(kind_of(message(2, {stream, "writer", vector{}, vector{}})));
  CHECK_FALSE(kind_of(message(3, {stream, writer, "path"})));
  CHECK_FALSE(kind_of(message(4, {"id"})));
}

TEST_CASE("one bad member makes a whole batch bad") {
  const auto event = zeek::make_event("e", {});
  CHECK(kind_of(message(5, {event, event})) == message_kind::batch);
  CHECK(kind_of(message(5, {message(5, just(event)), event})) == message_kind::batch);
  CHECK_FALSE(kind_of(message(5, {event, none{}})));
  CHECK_FALSE(kind_of(message(5, just(message(5, just(none{}))))));
}
