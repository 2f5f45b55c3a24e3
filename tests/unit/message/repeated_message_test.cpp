// SPDX-License-Identifier: BSD-3-Clause
#include "message/repeated_message.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace pubsub;

namespace {

data_message message(const char* topic) {
  return make_data_message(topic, data{count{1}});
}

bool only_one_holds(const data_message& msg) {
  return message_access::stored_value(msg)->unique();
}

} // namespace

TEST_CASE("a message is held from the second time on") {
  repeated_message last;
  const auto msg = message("/a");
  CHECK(!last.holds(msg, get_topic(msg)));
  last.note(msg, 9);
  CHECK(!last.holds(msg, get_topic(msg)));
  CHECK(only_one_holds(msg));
  last.note(msg, 9);
  CHECK(last.holds(msg, get_topic(msg)));
  CHECK(!last.holds(msg, "/b"));
  CHECK(last.payload_size() == 9);
}

TEST_CASE("copies are the message, and all references are given back") {
  const auto msg = message("/a");
  {
    repeated_message last;
    last.note(msg, 9);
    last.note(msg, 9);
    std::vector<data_message> copies;
    for (int i = 0; i < 10'000; ++i)
      copies.push_back(last.copy());
    CHECK(get_topic(copies.back()) == "/a");
    CHECK(&get_data(copies.back()) == &get_data(msg));
    CHECK(last.holds(msg, get_topic(msg)));
  }
  CHECK(only_one_holds(msg));
}

TEST_CASE("another message takes its place") {
  repeated_message last;
  const auto first = message("/a");
  const auto second = message("/b");
  last.note(first, 9);
  last.note(first, 9);
  const auto copy = last.copy();
  last.note(second, 9);
  CHECK(!last.holds(first, get_topic(first)));
  CHECK(!last.holds(second, get_topic(second)));
  last.note(second, 9);
  CHECK(last.holds(second, "/b"));
  CHECK(!only_one_holds(first)); // the copy
  CHECK(&get_data(copy) == &get_data(first));
}

TEST_CASE("where a new message lies in the place of an old one, it is a new one") {
  repeated_message last;
  for (int i = 0; i < 100; ++i) {
    const auto msg = message(i % 2 == 0 ? "/a" : "/b");
    CHECK(!last.holds(msg, get_topic(msg)));
    last.note(msg, 9);
    last.note(msg, 9);
    CHECK(last.holds(msg, get_topic(msg)));
  }
}

TEST_CASE("received messages are not held") {
  repeated_message last;
  last.note({}, 0);
  last.note({}, 0);
  CHECK(!last.holds({}, ""));
}
