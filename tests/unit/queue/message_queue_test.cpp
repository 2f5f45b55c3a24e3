// SPDX-License-Identifier: BSD-3-Clause
#include "queue/message_queue.hpp"

#include "support/bounded_queues.hpp"
#include "support/eventually.hpp"
#include "support/slices.hpp"

#include <doctest/doctest.h>

#include <thread>

using namespace pubsub;
using namespace pubsub::test;

namespace {

std::size_t pull(message_queue& queue, std::size_t max = 1000,
                 const deadline& until = immediately()) {
  std::vector<data_message> out;
  return queue.pull(out, max, until);
}

void push(message_queue& queue, std::uint64_t number = 0) {
  push_alone(queue, make_data_message("/t", count{number}), 10);
}

} // namespace

TEST_CASE("pulling takes at most what is asked for and appends it") {
  message_queue queue{{}};
  for (std::uint64_t i = 0; i < 5; ++i)
    push(queue, i);
  std::vector<data_message> out(1);
  CHECK(queue.pull(out, 2, immediately()) == 2);
  CHECK(out.size() == 3);
  CHECK(get_data(out[2]) == data{count{1}});
  CHECK(pull(queue, 0) == 0);
  CHECK(queue.size() == 3);
  CHECK(pull(queue) == 3);
}

TEST_CASE("pulling from an empty queue waits until its deadline") {
  message_queue queue{{}};
  CHECK(pull(queue) == 0);
  const auto before = std::chrono::steady_clock::now();
  CHECK(pull(queue, 1, before + std::chrono::milliseconds{20}) == 0);
  CHECK(std::chrono::steady_clock::now() - before >= std::chrono::milliseconds{20});
}

TEST_CASE("a waiting consumer is woken by a message and by the end") {
  message_queue queue{{}};
  std::thread consumer{[&] {
    CHECK(pull(queue, 10, {}) == 1);
    CHECK(pull(queue, 10, {}) == 0);
  }};
  push(queue);
  CHECK(eventually([&] { return queue.counters().delivered == 1; }));
  queue.finish();
  consumer.join();
}

TEST_CASE("what is queued when the queue is finished can still be pulled") {
  message_queue queue{{}};
  push(queue);
  push(queue);
  queue.finish();
  CHECK(queue.finished());
  CHECK(pull(queue, 1, {}) == 1);
  CHECK(pull(queue, 1, {}) == 1);
  CHECK(pull(queue, 1, {}) == 0);
  CHECK(queue.counters().delivered == 2);
}

TEST_CASE("discarding drops what is queued and counts it") {
  message_queue queue{{}};
  push(queue);
  push(queue);
  queue.discard();
  CHECK(pull(queue, 1, {}) == 0);
  CHECK(queue.counters().dropped_closed == 2);
  CHECK(queue.counters().queued == 0);
}

TEST_CASE("the descriptor is readable exactly while a message or the end is there") {
  message_queue queue{{}};
  push(queue);
  const auto fd = queue.fd(false); // opened late
  CHECK(fd >= 0);
  CHECK(queue.fd(false) == fd);
  CHECK(readable(fd));
  push(queue);
  CHECK(pull(queue, 1) == 1);
  CHECK(readable(fd));
  CHECK(pull(queue, 1) == 1);
  CHECK_FALSE(readable(fd));
  push(queue);
  CHECK(readable(fd));
  CHECK(pull(queue) == 1);
  CHECK_FALSE(readable(fd));
  queue.finish();
  CHECK(readable(fd));
  CHECK(pull(queue) == 0);
  CHECK(readable(fd));
}

TEST_CASE("the descriptor follows drops as well") {
  message_queue queue{{overflow_policy::drop_oldest, 1, 1000}};
  const auto fd = queue.fd(false);
  push(queue);
  push(queue);
  CHECK(readable(fd));
  CHECK(pull(queue) == 1);
  CHECK_FALSE(readable(fd));
}

TEST_CASE("a payload that is no value never reaches the consumer and is counted") {
  message_queue queue{{}};
  slab block;
  push_alone(queue, slice_of(block, "/t", from_hex("ff")), 3);
  push_alone(queue, slice_of(block, "/t", data{count{1}}), 11);
  push_alone(queue, slice_of(block, "/t", from_hex("0200")), 4);
  std::vector<data_message> out;
  CHECK(queue.pull(out, 10, immediately()) == 1);
  CHECK(get_data(out[0]) == data{count{1}});
  CHECK(queue.counters().decode_errors == 2);
  CHECK(queue.counters().delivered == 1);
  push_alone(queue, slice_of(block, "/t", from_hex("ff")), 3);
  CHECK(pull(queue, 10, std::chrono::steady_clock::now()) == 0); // waits on, in vain
  CHECK(queue.counters().offered == 4);
  CHECK(queue.counters().dropped() == 3);
}

TEST_CASE("what is pulled ahead counts as queued until it is given out") {
  message_queue queue{{}};
  slab block;
  for (std::uint64_t i = 0; i < 3; ++i)
    push_alone(queue, slice_of(block, "/t", data{count{i}}), 11);
  push_alone(queue, slice_of(block, "/t", from_hex("ff")), 3);
  std::vector<data_message> out;
  REQUIRE(queue.pull_ahead(out, 10, immediately()) == 3);
  CHECK(queue.counters().queued == 3);
  CHECK(queue.counters().delivered == 0);
  CHECK(queue.counters().decode_errors == 1);
  queue.set_ahead(1);
  CHECK(queue.counters().queued == 1);
  CHECK(queue.counters().delivered == 2);
  queue.discard();
  CHECK(queue.counters().dropped_closed == 1);
  CHECK(queue.counters().delivered == 2);
}

TEST_CASE("order survives many runs and partial pulls") {
  message_queue queue{{overflow_policy::block, 10'000, 1 << 30}};
  std::uint64_t pushed = 0;
  std::uint64_t pulled = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 37 * (round % 7 + 1); ++i)
      push(queue, pushed++);
    std::vector<data_message> out;
    queue.pull(out, 29 * static_cast<std::size_t>(round % 5 + 1), immediately());
    for (const auto& each : out)
      CHECK(get_data(each) == data{count{pulled++}});
  }
  CHECK(queue.size() == pushed - pulled);
}

TEST_CASE("waiting for room ends with room, at the deadline, or never begins without need") {
  message_queue queue{{overflow_policy::block, 2, 1000}};
  push(queue);
  push(queue);
  CHECK_FALSE(queue.wait_for_room(std::chrono::steady_clock::now() + std::chrono::milliseconds{5}));
  std::thread consumer{[&] { pull(queue); }};
  CHECK(queue.wait_for_room(std::chrono::steady_clock::now() + patience));
  consumer.join();
  message_queue dropping{{overflow_policy::drop_newest, 1, 1000}};
  push(dropping);
  CHECK(dropping.wait_for_room(*immediately()));
}

TEST_CASE(
    "a queue tells gaps and restarts in the streams of distant publishers from its own drops") {
  message_queue queue{{overflow_policy::drop_oldest, 4, 1 << 20}};
  slab memory;
  const auto id = endpoint_id::random();
  auto arrive = [&](std::uint64_t first, std::uint32_t messages) {
    std::vector<std::uint64_t> numbers(messages, first);
    auto source = outbox_under_test::write_records(memory, numbers, usual_size);
    source.origin = {id, one_topic_flag | 1, first, 1};
    queue.push_run(
        message_run::of_records(source, {messages, std::uint64_t{messages} * usual_size}), {});
  };
  arrive(100, 10); // six of them are dropped here
  CHECK(queue.counters().missed == 0);
  arrive(115, 2); // five never came
  CHECK(queue.counters().missed == 5);
  CHECK(queue.counters().dropped_oldest == 8);
  arrive(0, 1);
  CHECK(queue.counters().restarts == 1);
  queue.forget_streams();
  arrive(50, 1);
  CHECK(queue.counters().missed == 5);
  CHECK(queue.counters().restarts == 1);
}
