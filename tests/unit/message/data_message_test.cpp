// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/data_message.hpp>

#include "support/slices.hpp"

#include <doctest/doctest.h>

#include <latch>
#include <thread>
#include <type_traits>
#include <vector>

using namespace pubsub;
using namespace pubsub::test;

static_assert(sizeof(data_message) <= 32);
static_assert(std::is_nothrow_move_constructible_v<data_message>);
static_assert(std::is_nothrow_move_assignable_v<data_message>);

namespace {

const data sample = vector{std::string{"hello"}, count{7}, set{count{1}, count{2}}};

} // namespace

TEST_CASE("a built message and a received one read alike") {
  slab block;
  for (const auto& msg : {make_data_message("/a/b", sample), slice_of(block, "/a/b", sample)}) {
    CHECK(is_data_message(msg));
    CHECK(get_topic(msg) == "/a/b");
    CHECK(get_data(msg) == sample);
    CHECK(get_view(msg).to_data() == sample);
    CHECK(to_string(msg) == "/a/b -> " + to_string(sample));
  }
}

TEST_CASE("an empty message has no topic and no value") {
  const data_message empty;
  CHECK_FALSE(is_data_message(empty));
  CHECK_FALSE(empty);
  CHECK(get_topic(empty).empty());
  CHECK(get_data(empty) == data{});
  CHECK(get_view(empty).to_data() == data{});
  CHECK_FALSE(data_message{empty});
}

TEST_CASE("a moved-from message is empty and can be used again") {
  slab block;
  for (auto msg : {make_data_message("/t", sample), slice_of(block, "/t", sample)}) {
    get_data(msg);
    auto other = std::move(msg);
    CHECK_FALSE(msg); // NOLINT: that is the promise
    CHECK(get_topic(msg).empty());
    CHECK(get_data(msg) == data{});
    CHECK(get_data(other) == sample);
    msg = other;
    CHECK(get_data(msg) == sample);
    other.reset();
    CHECK_FALSE(other);
    CHECK(get_data(msg) == sample);
  }
}

TEST_CASE("swapping and assigning to itself keep messages whole") {
  slab block;
  auto x = make_data_message("/x", count{1});
  auto y = slice_of(block, "/y", count{2});
  get_data(y);
  x.swap(y);
  CHECK(get_topic(x) == "/y");
  CHECK(get_data(x) == data{count{2}});
  CHECK(get_topic(y) == "/x");
  CHECK(get_data(y) == data{count{1}});
  auto& same = x;
  x = same;
  CHECK(get_data(x) == data{count{2}});
}

TEST_CASE("a received message keeps its value when it is written to and its copies do not change") {
  slab block;
  auto msg = slice_of(block, "/t", sample);
  const auto copy = msg;
  mutable_data(msg) = count{9};
  CHECK(get_topic(msg) == "/t");
  CHECK(get_data(msg) == data{count{9}});
  CHECK(get_view(msg).to_data() == data{count{9}});
  CHECK(get_data(copy) == sample);
}

TEST_CASE("writing to a built message renews its encoded form") {
  auto msg = make_data_message("/t", count{1});
  CHECK(get_view(msg).to_data() == data{count{1}});
  mutable_data(msg) = count{2};
  CHECK(get_view(msg).to_data() == data{count{2}});
}

TEST_CASE("all readers of a shared run get one decoded value per message") {
  slab block;
  auto run = run_of(block, "/t", encoded(sample));
  run->set_shared();
  std::vector<data_message> handles;
  for (int reader = 0; reader < 8; ++reader)
    run->read({}, 1, handles);
  run = {};
  const auto* first = &get_data(handles[3]);
  for (const auto& each : handles)
    CHECK(&get_data(each) == first);
  handles.erase(handles.begin(), handles.end() - 1);
  CHECK(get_data(handles.front()) == sample);
}

TEST_CASE("threads that read one received message at once decode it once") {
  slab block;
  for (int round = 0; round < 200; ++round) {
    const auto msg = slice_of(block, "/t", sample);
    std::latch start{4};
    std::vector<const data*> seen(4);
    std::vector<std::thread> readers;
    for (int i = 0; i < 4; ++i)
      readers.emplace_back([&, i] {
        start.arrive_and_wait();
        const auto copy = i % 2 == 0 ? data_message{} : msg; // handles share only what they can
        seen[i] = &get_data(msg);
        CHECK(*seen[i] == sample);
        CHECK((!copy || get_data(copy) == sample));
      });
    for (auto& each : readers)
      each.join();
    for (const auto* each : seen)
      CHECK(each == seen[0]);
  }
}

TEST_CASE("threads that encode one built message at once see the same bytes") {
  const auto msg = make_data_message("/t", sample);
  std::vector<const std::byte*> seen(4);
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i)
    readers.emplace_back([&, i] { seen[i] = get_view(msg).bytes().data(); });
  for (auto& each : readers)
    each.join();
  for (const auto* each : seen)
    CHECK(each == seen[0]);
}

TEST_CASE("a payload that is not exactly one value does not pass the check") {
  slab block;
  for (const auto* hex : {"", "02", "0200000000000000", "02000000000000000700", "ff", "0505ff"}) {
    auto msg = slice_of(block, "/t", from_hex(hex));
    CHECK_FALSE(message_access::check(msg));
  }
  auto good = slice_of(block, "/t", sample);
  CHECK(message_access::check(good));
  auto built = make_data_message("/t", sample);
  CHECK(message_access::check(built));
}
