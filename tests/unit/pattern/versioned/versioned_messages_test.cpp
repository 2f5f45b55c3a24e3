// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/versioned/protocol/versioned_messages.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace pubsub;
using namespace pubsub::pattern;

namespace {

template <class Message>
std::optional<Message> round_trip(const Message& x, data_writer& bytes) {
  bytes.clear();
  write(bytes, x);
  return parse<Message>(*data_view::make(bytes.bytes()));
}

} // namespace

TEST_CASE("a record is read as it was written, and its values are not copied") {
  data_writer values;
  values.write_count(1);
  values.write_string("two");
  record_message x;
  x.group = endpoint_id::random();
  x.client = endpoint_id::random();
  x.epoch = 3;
  x.run = {5, 2, {3, 17}, 4};
  x.values = {2, values.bytes()};
  data_writer bytes;
  const auto back = round_trip(x, bytes);
  REQUIRE(back.has_value());
  CHECK(back->group == x.group);
  CHECK(back->run == x.run);
  CHECK(back->values.count == 2);
  CHECK(std::ranges::equal(back->values.bytes, values.bytes()));
  CHECK(back->values.bytes.data() > bytes.bytes().data());
}

TEST_CASE("a record whose counts differ or overflow is none") {
  data_writer values;
  values.write_count(1);
  data_writer bytes;
  record_message x;
  x.client = endpoint_id::random();
  x.values = {1, values.bytes()};
  x.run = {1, 2, {1, 1}, 1};
  CHECK_FALSE(round_trip(x, bytes).has_value());
  x.run = {1, 1, {1, ~0ULL}, 1};
  CHECK_FALSE(round_trip(x, bytes).has_value());
  x.run = {1, 1, {1, 1}, 1};
  CHECK(round_trip(x, bytes).has_value());
  CHECK_FALSE(parse<commit_message>(*data_view::make(bytes.bytes())).has_value());
}

TEST_CASE("the beginning of an epoch names its runs in ascending order, up to the end") {
  data_writer bytes;
  start_message x;
  x.commit = 3;
  x.end = 9;
  x.runs = {{4, 1}, {8, 2}};
  CHECK(round_trip(x, bytes)->runs == x.runs);
  x.runs = {{8, 1}, {4, 2}};
  CHECK_FALSE(round_trip(x, bytes).has_value());
  x.runs = {{10, 1}};
  CHECK_FALSE(round_trip(x, bytes).has_value());
  x.runs = {};
  x.at.list.epoch = 2; // of another epoch
  CHECK_FALSE(round_trip(x, bytes).has_value());
}

TEST_CASE("messages that do not add up are none") {
  data_writer values;
  values.write_count(1);
  data_writer bytes;
  submit_message submitted;
  submitted.first = submitted.count = 1;
  submitted.values = {1, values.bytes()};
  CHECK(round_trip(submitted, bytes).has_value());
  submitted.scheme = static_cast<std::uint64_t>(versioning::version_request); // has no values yet
  CHECK_FALSE(round_trip(submitted, bytes).has_value());
  submitted.values = {};
  CHECK(round_trip(submitted, bytes).has_value());
  submitted.scheme = 6;
  CHECK_FALSE(round_trip(submitted, bytes).has_value());
  reply_message replied;
  CHECK(round_trip(replied, bytes).has_value());
  replied.what = 4;
  CHECK_FALSE(round_trip(replied, bytes).has_value());
  replied = {};
  replied.runs = {{1, 0, {1, 1}, 1}};
  CHECK_FALSE(round_trip(replied, bytes).has_value());
}

TEST_CASE("any message of the group is told from the others by its kind") {
  data_writer bytes;
  write(bytes, held_message{});
  const auto what = parse_message(*data_view::make(bytes.bytes()));
  REQUIRE(what.has_value());
  CHECK(std::holds_alternative<held_message>(*what));
  bytes.clear();
  bytes.begin_vector(1);
  bytes.write_count(99);
  CHECK_FALSE(parse_message(*data_view::make(bytes.bytes())).has_value());
}
