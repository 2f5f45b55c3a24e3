// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/condition_matcher.hpp>

#include <doctest/doctest.h>

#include <pubsub/binary.hpp>
#include <pubsub/zeek/log.hpp>

using namespace pubsub;

TEST_CASE("a matcher learns the columns of logs among the messages that it is asked about") {
  auto where = condition::make("n == 2");
  REQUIRE(where);
  condition_matcher matcher{std::move(*where)};
  const auto wants = [&](const data& value) {
    return matcher.wants("zeek/records/p", *encode_binary(value));
  };
  const auto record = [](count n) { return zeek::make_log_event("p", vector{"x", n}); };
  CHECK_FALSE(wants(record(2)));
  CHECK(wants(
      zeek::make_log_fields_event({.path = "p", .fields = {{"name", "string"}, {"n", "count"}}})));
  CHECK(wants(record(2)));
  CHECK_FALSE(wants(record(3)));
  auto moved = std::move(matcher);
  CHECK(moved.wants("zeek/records/p", *encode_binary(record(2))));
}

TEST_CASE("a matcher tells what fulfils a condition from what only passes") {
  auto where = condition::make("n == 2", {.unknown = if_unknown::yes});
  REQUIRE(where);
  condition_matcher matcher{std::move(*where)};
  const auto judge = [&](const data& value) {
    return matcher.judge("zeek/records/p", *encode_binary(value));
  };
  const auto record = [](count n) { return zeek::make_log_event("p", vector{"x", n}); };
  CHECK(judge(record(2)) == condition_verdict::unknown);
  CHECK(judge(zeek::make_log_fields_event(
            {.path = "p", .fields = {{"name", "string"}, {"n", "count"}}})) !=
        condition_verdict::yes);
  CHECK(judge(record(2)) == condition_verdict::yes);
  CHECK(judge(record(3)) == condition_verdict::no);
}

TEST_CASE("columns that are given make an announcement fulfil nothing") {
  auto where = condition::make("n == 2", {.columns = {{"name", "string"}, {"n", "count"}}});
  REQUIRE(where);
  condition_matcher matcher{std::move(*where)};
  const auto announced =
      *encode_binary(zeek::make_log_fields_event({.path = "p", .fields = {{"n", "count"}}}));
  CHECK(matcher.wants("zeek/records/p", announced));
  CHECK(matcher.judge("zeek/records/p", announced) != condition_verdict::yes);
}

TEST_CASE("records are told by what they are, on topics of any name") {
  const auto announced = *encode_binary(
      zeek::make_log_fields_event({.path = "p", .fields = {{"name", "string"}, {"n", "count"}}}));
  const auto record = [](count n) {
    return *encode_binary(zeek::make_log_event("p", vector{"x", n}));
  };
  auto where = condition::make("n == 2");
  REQUIRE(where);
  condition_matcher matcher{std::move(*where)};
  for (const std::string_view topic : {"zeek/records/p", "zeek/logs/p", "elsewhere"}) {
    CAPTURE(topic);
    CHECK_FALSE(matcher.wants(topic, record(2))); // what is announced counts for its own topic
    CHECK(matcher.wants(topic, announced));
    CHECK(matcher.wants(topic, record(2)));
    CHECK_FALSE(matcher.wants(topic, record(3)));
  }
}
