#include "pattern/versioned/protocol/versioned_messages.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace pubsub;
using namespace pubsub::pattern;

namespace {

template <class Message>
std::optional<Message> parsed(const data_view& value) {
  auto what = parse_message(value);
  if (!what || !std::holds_alternative<Message>(*what))
    return {};
  return std::get<Message>(std::move(*what));
}

template <class Message>
std::optional<Message> round_trip(const Message& x, data_writer& bytes) {
  bytes.clear();
  write_message(bytes, x);
  return parsed<Message>(*data_view::make(bytes.bytes()));
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
  CHECK_FALSE(parsed<commit_message>(*data_view::make(bytes.bytes())).has_value());
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
}

TEST_CASE("kinds of messages on the wire are the numbers that they have always had") {
  data_writer bytes;
  const auto kind_of = [&](const group_message& x) {
    bytes.clear();
    write_message(bytes, x);
    return (*data_view::make(bytes.bytes())->elements().begin()).as_count();
  };
  CHECK(kind_of(hello_message{}) == 1);
  CHECK(kind_of(record_message{}) == 6);
  CHECK(kind_of(held_message{}) == 12);
  CHECK(kind_of(gone_message{}) == 19);
}
