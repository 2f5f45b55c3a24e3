// Zeek's messages by Broker's classes, whatever they are made from.
// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/compat/broker.hpp>
#include <pubsub/zeek/event.hpp>

#include <doctest/doctest.h>

namespace zeek = broker::zeek;

namespace {

/// The name of the class that `visit_as_message` calls with.
struct class_name {
  std::string operator()(const zeek::Event& x) const { return "Event " + x.name(); }
  std::string operator()(const zeek::LogCreate&) const { return "LogCreate"; }
  std::string operator()(const zeek::LogWrite&) const { return "LogWrite"; }
  std::string operator()(const zeek::IdentifierUpdate&) const { return "IdentifierUpdate"; }
  std::string operator()(const zeek::Batch&) const { return "Batch"; }
  std::string operator()(const zeek::Invalid&) const { return "Invalid"; }
};

std::string class_of(const broker::data& x) {
  return zeek::visit_as_message(class_name{}, x);
}

} // namespace

TEST_CASE("events by Broker's class are those of the library, with and without a time") {
  const auto time = broker::timestamp{broker::timespan{7}};
  const zeek::Event plain{"ping", {1u, "two"}};
  const zeek::Event timed{"ping", {1u, "two"}, time};
  for (const auto& [made, there] : {std::pair{plain, false}, {timed, true}}) {
    const auto bytes = broker::detail::encoded(made.as_data());
    const auto view = pubsub::data_view::make(bytes.bytes());
    REQUIRE(view);
    const auto value = view->to_data();
    const auto native = pubsub::zeek::parse_event(value);
    REQUIRE(native);
    CHECK(native->name == "ping");
    CHECK(made.valid());
    CHECK(made.name() == "ping");
    CHECK(made.args() == broker::vector{1u, "two"});
    CHECK(made.ts().has_value() == there);
  }
  CHECK(*timed.ts() == time);
}

TEST_CASE("reading what is not there of one of Broker's classes gives empty values") {
  for (const broker::data& bad :
       {broker::data{}, broker::data{"text"}, broker::data{broker::vector{}},
        broker::data{broker::vector{1u, 1u, 3}},
        broker::data{broker::vector{1u, 1u, broker::vector{}}},
        broker::data{broker::vector{1u, 1u, broker::vector{1, 2}}},
        broker::data{
            broker::vector{1u, 1u, broker::vector{"name", broker::vector{}, "no metadata"}}},
        broker::data{broker::vector{2u, 1u, broker::vector{"name", broker::vector{}}}},
        broker::data{broker::vector{1u, 99u, broker::vector{"name", broker::vector{}}}}}) {
    const zeek::Event event{bad};
    CHECK_FALSE(event.valid());
    CHECK(event.args().empty());
    CHECK_FALSE(event.ts());
    CHECK(class_of(bad) == "Invalid");
    CHECK_FALSE(zeek::LogWrite{bad}.valid());
    CHECK(zeek::LogCreate{bad}.stream_id().name.empty());
    CHECK_FALSE(zeek::Batch{bad}.valid());
  }
  const broker::data short_of_all = broker::vector{1u, 1u, broker::vector{}};
  CHECK(zeek::Event{short_of_all}.name().empty());
  CHECK(zeek::LogWrite{short_of_all}.path_str().empty());
  CHECK(zeek::LogCreate{short_of_all}.fields_data().is_none());
  CHECK(zeek::IdentifierUpdate{short_of_all}.id_value().is_none());
}

TEST_CASE(
    "name and arguments of an event by Broker's class can be written to, where there are any") {
  zeek::Event event{"ping", {1u}};
  event.name() = "pong";
  event.args().emplace_back("more");
  CHECK(event.as_data() == zeek::Event{"pong", {1u, "more"}}.as_data());
  zeek::Event bad{broker::data{"no event"}};
  bad.args().emplace_back("lost");
  bad.name() = "lost";
  CHECK(bad.args().empty());
  CHECK(bad.name().empty());
  CHECK(bad.as_data() == broker::data{"no event"});
}

TEST_CASE("each of Zeek's messages is visited as the class of Broker's that it is") {
  const zeek::Event event{"ping", {}};
  const zeek::LogCreate create{broker::enum_value{"S"}, broker::enum_value{"W"}, 1, 2};
  const zeek::LogWrite write{broker::enum_value{"S"}, broker::enum_value{"W"}, "path", "bytes"};
  const zeek::IdentifierUpdate update{"id", 5};
  CHECK(class_of(event) == "Event ping");
  CHECK(class_of(create) == "LogCreate");
  CHECK(class_of(write) == "LogWrite");
  CHECK(class_of(update) == "IdentifierUpdate");
  zeek::BatchBuilder builder;
  builder.add(event);
  builder.add(write);
  const auto batch = builder.build();
  CHECK(builder.empty());
  CHECK(class_of(batch) == "Batch");
  std::string visited;
  batch.for_each([&](const auto& each) { visited += class_name{}(each) + ';'; });
  CHECK(visited == "Event ping;LogWrite;");
  CHECK(batch.size() == 2);
  static_assert(std::is_same_v<broker::bro::Event, zeek::Event>);
}
