// What every bounded place promises, whoever sits on the other side.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/bounded_queues.hpp"
#include "support/eventually.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <random>
#include <thread>

using namespace pubsub;
using namespace pubsub::test;

namespace {

queue_options bounded(overflow_policy policy, std::size_t messages, std::size_t bytes = 1 << 30) {
  return {policy, messages, bytes};
}

constexpr overflow_policy every_policy[] = {overflow_policy::block, overflow_policy::drop_oldest,
                                            overflow_policy::drop_newest, overflow_policy::conflate,
                                            overflow_policy::disconnect};
constexpr std::size_t many_topics = 256;

/// What a queue does, message by message, said as simply as possible.
struct plain_queue {
  overflow_policy policy;
  std::size_t capacity;
  std::size_t topics;
  std::deque<std::uint64_t> waiting{};
  std::uint64_t dropped = 0;
  bool ended = false;

  void offer(std::uint64_t number) {
    const bool full = waiting.size() >= capacity;
    if (policy == overflow_policy::disconnect)
      ended = ended || full;
    if (ended || (policy == overflow_policy::drop_newest && full)) {
      ++dropped;
      return;
    }
    if (policy == overflow_policy::conflate)
      dropped +=
          std::erase_if(waiting, [&](auto each) { return each % topics == number % topics; });
    if (policy == overflow_policy::drop_oldest || policy == overflow_policy::conflate)
      for (; waiting.size() >= capacity; ++dropped)
        waiting.pop_front();
    waiting.push_back(number);
  }
};

} // namespace

TEST_CASE_TEMPLATE("with room everything passes in order", Q, queue_under_test, outbox_under_test) {
  for (const auto policy : every_policy) {
    Q queue{bounded(policy, 1000), many_topics};
    for (std::uint64_t i = 0; i < 150; ++i)
      CHECK(queue.push(i) == push_result::taken);
    CHECK_FALSE(queue.push_run(range(150, 250), nullptr));
    CHECK(queue.counters().queued == 250);
    CHECK(queue.pull_all() == range(0, 250));
    CHECK(queue.counters().delivered == 250);
    CHECK(queue.counters().dropped == 0);
    CHECK(queue.counters().adds_up());
  }
}

TEST_CASE_TEMPLATE("a full queue drops the oldest and counts it", Q, queue_under_test,
                   outbox_under_test) {
  Q queue{bounded(overflow_policy::drop_oldest, 4)};
  for (std::uint64_t i = 0; i < 10; ++i)
    CHECK(queue.push(i) == (i < 4 ? push_result::taken : push_result::dropped));
  CHECK(queue.counters().dropped == 6);
  CHECK(queue.pull_all() == range(6, 10));
  CHECK_FALSE(queue.push_run(range(10, 30), nullptr));
  CHECK(queue.pull_all() == range(26, 30));
  CHECK(queue.counters().dropped == 22);
  CHECK(queue.counters().adds_up());
}

TEST_CASE_TEMPLATE("a full queue drops the newest and counts it", Q, queue_under_test,
                   outbox_under_test) {
  Q queue{bounded(overflow_policy::drop_newest, 4)};
  for (std::uint64_t i = 0; i < 10; ++i)
    CHECK(queue.push(i) == (i < 4 ? push_result::taken : push_result::dropped));
  CHECK(queue.counters().dropped == 6);
  CHECK(queue.pull_all() == range(0, 4));
  CHECK_FALSE(queue.push_run(range(10, 30), nullptr));
  CHECK(queue.pull_all() == range(10, 14));
  CHECK(queue.counters().dropped == 22);
  CHECK(queue.counters().adds_up());
}

TEST_CASE_TEMPLATE("a newer message replaces the one of its topic that waits, and comes last", Q,
                   queue_under_test, outbox_under_test) {
  Q queue{bounded(overflow_policy::conflate, 100), 3};
  for (std::uint64_t i = 0; i < 7; ++i) // topics 0 1 2 0 1 2 0
    CHECK(queue.push(i) == push_result::taken);
  CHECK(queue.counters().queued == 3);
  CHECK(queue.counters().dropped == 4);
  CHECK(queue.pull_all() == numbers{4, 5, 6});
  CHECK_FALSE(queue.push_run({7, 9, 12, 8, 10}, nullptr)); // topics 1 0 0 2 1
  CHECK(queue.pull_all() == numbers{12, 8, 10});
  CHECK(queue.push(13) == push_result::taken);
  CHECK(queue.pull_all() == numbers{13});
  CHECK(queue.counters().adds_up());
}

TEST_CASE_TEMPLATE("of more topics than there is room for the longest waiting message goes", Q,
                   queue_under_test, outbox_under_test) {
  Q queue{bounded(overflow_policy::conflate, 4), many_topics};
  for (std::uint64_t i = 0; i < 10; ++i)
    CHECK(queue.push(i) == (i < 4 ? push_result::taken : push_result::dropped));
  CHECK(queue.counters().dropped == 6);
  CHECK(queue.pull_all() == range(6, 10));
  Q bytes{bounded(overflow_policy::conflate, 100, 3 * usual_size), many_topics};
  bytes.push_run(range(0, 10), nullptr);
  CHECK(bytes.pull_all() == range(7, 10));
  CHECK(bytes.counters().adds_up());
}

TEST_CASE_TEMPLATE("a full queue that disconnects ends: what it holds can be read, the rest counts",
                   Q, queue_under_test, outbox_under_test) {
  Q queue{bounded(overflow_policy::disconnect, 4)};
  for (std::uint64_t i = 0; i < 4; ++i)
    CHECK(queue.push(i) == push_result::taken);
  CHECK(queue.push(4) == push_result::dropped);
  CHECK(queue.push(5) == push_result::closed);
  CHECK_FALSE(queue.push_run(range(6, 10), nullptr));
  CHECK(queue.counters().queued == 4);
  CHECK(queue.counters().dropped == 6);
  CHECK(queue.has_room()); // nobody waits for it
  CHECK(queue.pull_all() == range(0, 4));
  CHECK(queue.counters().adds_up());
  CHECK(queue.push(11) == push_result::closed);

  Q by_link{bounded(overflow_policy::disconnect, 4)};
  CHECK_FALSE(by_link.push_run(range(0, 6), nullptr));
  CHECK(by_link.pull_all() == range(0, 4));
  CHECK(by_link.push(6) == push_result::closed);
  CHECK(by_link.counters().dropped == 3);
  by_link.end();
  CHECK(by_link.counters().adds_up());
}

TEST_CASE_TEMPLATE("a queue is full once it holds its bytes, whatever the number of messages", Q,
                   queue_under_test, outbox_under_test) {
  Q newest{bounded(overflow_policy::drop_newest, 1000, 100)};
  for (std::uint64_t i = 0; i < 5; ++i)
    newest.push(i, when_full::wait, 40);
  CHECK(newest.pull_all() == range(0, 3)); // the third one reached the bound
  Q oldest{bounded(overflow_policy::drop_oldest, 1000, 100)};
  for (std::uint64_t i = 0; i < 5; ++i)
    oldest.push(i, when_full::wait, 40);
  CHECK(oldest.pull_all() == range(2, 5));
  Q block{bounded(overflow_policy::block, 1000, 100)};
  block.push(0, when_full::wait, 99);
  CHECK(block.has_room());
  block.push(1, when_full::wait, 40);
  CHECK_FALSE(block.has_room());
}

TEST_CASE_TEMPLATE("a message larger than the whole queue passes an empty one", Q, queue_under_test,
                   outbox_under_test) {
  for (const auto policy : every_policy) {
    Q queue{bounded(policy, 10, 100)};
    CHECK(queue.push(1, when_full::wait, 5000) == push_result::taken);
    CHECK(queue.pull_all() == numbers{1});
    queue.push_run({2}, nullptr, 5000);
    CHECK(queue.pull_all() == numbers{2});
    CHECK(queue.counters().dropped == 0);
  }
}

TEST_CASE_TEMPLATE("a queue of one message works, and none counts as one", Q, queue_under_test,
                   outbox_under_test) {
  for (const auto policy : every_policy)
    for (const std::size_t capacity : {0, 1}) {
      Q queue{bounded(policy, capacity, capacity)};
      CHECK(queue.has_room());
      for (std::uint64_t i = 0; i < 3; ++i) {
        CHECK(queue.push(i) == push_result::taken);
        CHECK(queue.pull_all() == numbers{i});
        queue.push_run({i}, std::make_shared<counting_source>());
        CHECK(queue.pull_all() == numbers{i});
      }
      CHECK(queue.counters().dropped == 0);
    }
}

TEST_CASE_TEMPLATE("with policy block a publisher waits for room and nothing is lost", Q,
                   queue_under_test, outbox_under_test) {
  Q queue{bounded(overflow_policy::block, 4)};
  std::thread producer{[&] {
    for (std::uint64_t i = 0; i < 2000; ++i)
      CHECK(queue.push(i) == push_result::taken);
  }};
  numbers got;
  CHECK(eventually([&] {
    CHECK(queue.counters().queued <= 4);
    const auto some = queue.pull_all();
    got.insert(got.end(), some.begin(), some.end());
    return got.size() == 2000;
  }));
  producer.join();
  CHECK(got == range(0, 2000));
  CHECK(queue.counters().adds_up());
}

TEST_CASE_TEMPLATE("who has just seen room may exceed the bounds by its message", Q,
                   queue_under_test, outbox_under_test) {
  Q queue{bounded(overflow_policy::block, 2)};
  queue.push(0);
  CHECK(queue.has_room());
  queue.push(1);
  CHECK_FALSE(queue.has_room());
  CHECK(queue.push(2, when_full::overshoot) == push_result::taken);
  CHECK(queue.pull_all() == range(0, 3));
}

TEST_CASE_TEMPLATE("a full queue takes a run whole, pauses its source and resumes it once", Q,
                   queue_under_test, outbox_under_test) {
  Q queue{bounded(overflow_policy::block, 4)};
  auto first = std::make_shared<counting_source>();
  auto second = std::make_shared<counting_source>();
  CHECK_FALSE(queue.push_run(range(0, 3), first));
  CHECK(queue.push_run(range(3, 10), first));
  CHECK(queue.push_run(range(10, 11), second));
  CHECK(queue.push_run(range(11, 12), std::make_shared<counting_source>())); // gone by then
  CHECK(first->resumed == 0);
  CHECK(queue.pull_all() == range(0, 12));
  CHECK(first->resumed == 1);
  CHECK(second->resumed == 1);
  queue.pull_all();
  queue.push(1);
  queue.pull_all();
  queue.end();
  CHECK(first->resumed == 1);
  CHECK(queue.push_run(range(0, 9), first) == false);
  CHECK(first->resumed == 1);
}

TEST_CASE_TEMPLATE("a source that waits has its turn although others keep the queue full", Q,
                   queue_under_test, outbox_under_test) {
  Q queue{bounded(overflow_policy::block, 4)};
  for (std::uint64_t n = 0; n < 7; ++n)
    queue.push_run(range(n, n + 1), std::make_shared<counting_source>());
  auto waits = std::make_shared<counting_source>();
  CHECK(queue.push_run(range(7, 8), waits));
  std::vector<std::shared_ptr<counting_source>> others;
  for (std::uint64_t left = 0; left < 8; ++left) {
    CHECK(waits->resumed == 0);
    others.push_back(std::make_shared<counting_source>());
    CHECK(queue.push_run(range(8 + left, 9 + left), others.back()));
    CHECK(queue.pull(1) == range(left, left + 1));
  }
  CHECK(waits->resumed == 1);
  CHECK(std::ranges::all_of(others, [](const auto& each) { return each->resumed == 0; }));
  CHECK(queue.pull(1) == range(8, 9));
  CHECK(others[0]->resumed == 1);
  CHECK(others[1]->resumed == 0);
  CHECK(waits->resumed == 1);
}

TEST_CASE_TEMPLATE("the end resumes paused sources and wakes waiting publishers", Q,
                   queue_under_test, outbox_under_test) {
  Q queue{bounded(overflow_policy::block, 2)};
  auto source = std::make_shared<counting_source>();
  CHECK(queue.push_run(range(0, 2), source));
  std::vector<std::thread> producers;
  for (std::uint64_t i = 0; i < 3; ++i)
    producers.emplace_back([&, i] { CHECK(queue.push(10 + i) == push_result::closed); });
  queue.end();
  for (auto& each : producers)
    each.join();
  CHECK(source->resumed == 1);
  CHECK(queue.has_room()); // nobody waits at a closed queue
  CHECK(queue.pull_all().empty());
}

TEST_CASE_TEMPLATE("what arrives after the end is counted as dropped", Q, queue_under_test,
                   outbox_under_test) {
  Q queue{bounded(overflow_policy::block, 10)};
  queue.push(0);
  queue.push(1);
  queue.end();
  CHECK(queue.push(2) == push_result::closed);
  CHECK_FALSE(queue.push_run(range(3, 6), nullptr));
  CHECK(queue.counters().offered == 6);
  CHECK(queue.counters().dropped == 6);
  CHECK(queue.counters().queued == 0);
  CHECK(queue.counters().adds_up());
}

TEST_CASE_TEMPLATE("any sequence of operations gives what a plain list gives", Q, queue_under_test,
                   outbox_under_test) {
  std::mt19937 engine{77};
  for (int round = 0; round < 300; ++round) {
    const auto policy = every_policy[engine() % std::size(every_policy)];
    const std::size_t capacity = 1 + engine() % 9;
    const std::size_t topics = 1 + engine() % 12;
    Q queue{bounded(policy, capacity), topics};
    plain_queue plain{policy, capacity, topics};
    std::uint64_t next = 0;
    for (int step = 0; step < 40; ++step) {
      if (const auto what = engine() % 5; what < 2) {
        queue.push(next, when_full::overshoot);
        plain.offer(next++);
      } else if (what < 4) {
        const auto run = range(next, next + 1 + engine() % 6);
        queue.push_run(run, nullptr);
        for (auto each : run)
          plain.offer(each);
        next += run.size();
      } else {
        CHECK(queue.pull_all() == numbers(plain.waiting.begin(), plain.waiting.end()));
        plain.waiting.clear();
      }
      const auto now = queue.counters();
      CHECK(now.queued == plain.waiting.size());
      CHECK(now.dropped == plain.dropped);
      CHECK(now.adds_up());
    }
  }
}
