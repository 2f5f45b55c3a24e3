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
