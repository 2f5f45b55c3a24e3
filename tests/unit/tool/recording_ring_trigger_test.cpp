// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <pubsub/zeek/log.hpp>

#include "recording/ring_trigger.hpp"

using namespace pubsub;
using namespace std::chrono_literals;

namespace {

tool::ring_trigger trigger_on(std::string_view text, timespan after = 5s) {
  const auto made = condition::make(text);
  REQUIRE(made);
  return {*made, after};
}

std::vector<data_message> messages(std::initializer_list<count> values) {
  std::vector<data_message> result;
  for (const auto each : values)
    result.push_back(make_data_message("/t", data{vector{each}}));
  return result;
}

constexpr timestamp noon{std::chrono::hours{12}};

} // namespace

TEST_CASE("a message that fulfils the condition asks for the ring some time later") {
  auto trigger = trigger_on("$0 == 7");
  const tool::clock::time_point start{1000s};
  CHECK_FALSE(trigger.look_at(messages({1, 2, 3}), noon, start));
  CHECK_FALSE(trigger.due());
  CHECK_FALSE(trigger.take());
  CHECK(trigger.look_at(messages({6, 7, 8}), noon, start));
  CHECK(trigger.due() == start + 5s);
  const auto request = trigger.take();
  REQUIRE(request);
  CHECK(request->topic == "/t");
  CHECK(request->when == noon);
  CHECK(request->more == 0);
  CHECK_FALSE(trigger.due());
}

TEST_CASE("messages that fulfil the condition while a request waits are counted only") {
  auto trigger = trigger_on("$0 == 7");
  const tool::clock::time_point start{1000s};
  CHECK(trigger.look_at(messages({7, 7}), noon, start));
  CHECK_FALSE(trigger.look_at(messages({7, 1}), noon + 4s, start + 4s));
  CHECK(trigger.due() == start + 5s); // not put off
  const auto request = trigger.take();
  REQUIRE(request);
  CHECK(request->when == noon);
  CHECK(request->more == 2);
  CHECK(trigger.look_at(messages({7}), noon + 6s, start + 6s));
  CHECK(trigger.due() == start + 11s);
  CHECK(trigger.waiting()->more == 0);
  CHECK(trigger.requests() == 2);
  CHECK(trigger.more() == 2);
}

TEST_CASE("a trigger learns columns, and what announces them asks for nothing") {
  auto trigger = trigger_on("n == 7");
  std::string topic = "zeek/records/p";
  SUBCASE("of records that were published") {}
  SUBCASE("of logs that Zeek's nodes send") {
    topic = "zeek/logs/p";
  }
  const auto look = [&](data value) {
    const std::vector<data_message> one{make_data_message(topic, std::move(value))};
    return trigger.look_at(one, noon, tool::clock::time_point{});
  };
  CHECK_FALSE(look(zeek::make_log_event("p", vector{count{7}})));
  CHECK_FALSE(look(zeek::make_log_fields_event({.path = "p", .fields = {{"n", "count"}}})));
  CHECK_FALSE(look(zeek::make_log_event("p", vector{count{6}})));
  CHECK(look(zeek::make_log_event("p", vector{count{7}})));
}
