// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "record/channel_table.hpp"

using namespace pubsub;

namespace {

record::channel_key key(std::string_view topic, std::optional<message_origin> origin = {}) {
  return {topic, "x", origin};
}

} // namespace

TEST_CASE("topic, origin and the upper half of the number make a channel") {
  record::channel_table table;
  const message_origin first{endpoint_id::random(), 1, 7};
  auto other_stream = first;
  other_stream.stream = 2;
  auto later = first;
  later.sequence = (std::uint64_t{1} << 32) + 7;
  auto next = first;
  next.sequence = 8;
  CHECK(table.find(key("/a"))->id == 1);
  CHECK(table.find(key("/b"))->id == 2);
  CHECK(table.find(key("/a", first))->id == 3);
  CHECK(table.find(key("/a", other_stream))->id == 4);
  CHECK(table.find(key("/a", later))->id == 5);
  CHECK(table.find(key("/a", next))->id == 3);
  CHECK(table.find(key("/a"))->id == 1);
  CHECK(table.records()->of.size() == 5);
}

TEST_CASE("a table that is full gives no channel until it is renewed, and leaves the records of "
          "old ones alone") {
  record::channel_table table{2};
  CHECK(table.find(key("/a")) != nullptr);
  CHECK(table.find(key("/b")) != nullptr);
  CHECK(table.find(key("/c")) == nullptr);
  CHECK(table.find(key("/b")) != nullptr);
  const auto before = table.records();
  table.renew();
  CHECK(table.find(key("/c"))->id == 1);
  CHECK(before->of.size() == 2);
  CHECK(table.records() != before);
}
