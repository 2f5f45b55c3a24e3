// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/message_fields.hpp>

#include <doctest/doctest.h>

#include <pubsub/binary.hpp>
#include <pubsub/zeek/log.hpp>

using namespace pubsub;

namespace {

constexpr std::string_view log_topic = "zeek/records/p";

/// What `fields` finds of the field in the value, as a value again.
std::pair<condition_verdict, data> find(message_fields& fields, std::string_view field,
                                        const data& value) {
  const auto bytes = *encode_binary(value);
  std::span<const std::byte> found;
  const auto which = message_field::make(field);
  REQUIRE(which);
  const auto answer = fields.find(*which, log_topic, bytes, found);
  return {answer, answer == condition_verdict::yes ? *decode_binary(found) : data{}};
}

} // namespace

TEST_CASE("a field is found by its position, or as all of the message") {
  message_fields fields;
  const data value = vector{count{1}, vector{"a", "b"}};
  CHECK(find(fields, "$0", value) == std::pair{condition_verdict::yes, data{count{1}}});
  CHECK(find(fields, "$1.1", value) == std::pair{condition_verdict::yes, data{"b"}});
  CHECK(find(fields, "$", value) == std::pair{condition_verdict::yes, value});
  CHECK(find(fields, "$2", value).first == condition_verdict::absent);
  CHECK(find(fields, "$0", data{"no record"}).first == condition_verdict::absent);
}

TEST_CASE("a column is found once it is announced, and absent from logs that have none") {
  message_fields fields;
  const auto record = zeek::make_log_event("p", vector{"x", count{7}});
  CHECK(find(fields, "n", record).first == condition_verdict::unknown);
  const auto announced = *encode_binary(
      zeek::make_log_fields_event({.path = "p", .fields = {{"name", "string"}, {"n", "count"}}}));
  CHECK(fields.learn(log_topic, announced));
  CHECK_FALSE(fields.learn(log_topic, *encode_binary(record)));
  CHECK(find(fields, "n", record) == std::pair{condition_verdict::yes, data{count{7}}});
  CHECK(find(fields, "m", record).first == condition_verdict::absent);
  CHECK(find(fields, "n", vector{count{1}}).first == condition_verdict::absent); // of no log
  CHECK(find(fields, "n", zeek::make_log_event("q", vector{count{1}})).first ==
        condition_verdict::unknown);
  fields.forget_questions();
  CHECK(find(fields, "n", record).first == condition_verdict::yes);
}

TEST_CASE("conditions know what has been announced") {
  message_fields fields;
  const auto where = *condition::make("n == 7");
  const auto record = *encode_binary(zeek::make_log_event("p", vector{"x", count{7}}));
  CHECK(fields.judge(where, log_topic, record) == condition_verdict::unknown);
  fields.learn(log_topic, *encode_binary(zeek::make_log_fields_event(
                              {.path = "p", .fields = {{"name", "string"}, {"n", "count"}}})));
  CHECK(fields.judge(where, log_topic, record) == condition_verdict::yes);
  CHECK(fields.judge(*condition::make("$1 == 8"), log_topic, record) == condition_verdict::no);
}

TEST_CASE("columns that are given need not be announced") {
  message_fields fields;
  const auto which = message_field::make("b", {{"a", ""}, {"b", ""}});
  REQUIRE(which);
  CHECK(which->text() == "b");
  const auto bytes = *encode_binary(vector{count{1}, count{2}});
  std::span<const std::byte> found;
  CHECK(fields.find(*which, log_topic, bytes, found) == condition_verdict::yes);
  CHECK(*decode_binary(found) == data{count{2}});
}

TEST_CASE("what is no field in a message is refused") {
  for (const auto* text :
       {"", "@topic", "@event", "@size", "n == 1", "a) || exists(b", "$0.", "a) && exists(a"})
    CHECK_MESSAGE(message_field::make(text).error() == errc::invalid_argument, text);
  CHECK(message_field::make("`odd name`")->text() == "`odd name`");
  CHECK(message_field::make("c", {{"a", ""}}).error() == errc::invalid_argument);
}

TEST_CASE("bytes that end too early are unreadable") {
  message_fields fields;
  const auto bytes = *encode_binary(vector{count{1}, "text"});
  const auto which = *message_field::make("$1");
  std::span<const std::byte> found;
  for (std::size_t size = 11; size < bytes.size(); ++size)
    CHECK(fields.find(which, log_topic, std::span{bytes}.first(size), found) ==
          condition_verdict::unreadable);
}
