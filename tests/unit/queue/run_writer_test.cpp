// Writers that keep runs open in several queues, and the room they share.
// SPDX-License-Identifier: BSD-3-Clause
#include "queue/run_writer.hpp"

#include "support/bounded_queues.hpp"
#include "support/eventually.hpp"

#include <doctest/doctest.h>

#include <thread>

using namespace pubsub;
using namespace pubsub::test;

TEST_CASE_TEMPLATE("one run serves several queues, each at its own pace", Q, queue_under_test,
                   outbox_under_test) {
  Q fast{{overflow_policy::block, 1000}};
  Q slow{{overflow_policy::block, 1000}};
  bounded_queue* const exits[] = {&fast.queue(), &slow.queue()};
  run_writer writer;
  for (std::uint64_t i = 0; i < 300; ++i) {
    CHECK(Q::write(writer, exits, i) == push_result::taken);
    if (i % 7 == 0) {
      const auto got = fast.pull_all();
      CHECK(got.back() == i);
    }
  }
  CHECK(fast.pull_all() == range(295, 300));
  CHECK(slow.pull_all() == range(0, 300));
  for (auto* each : {&fast, &slow}) {
    CHECK(each->counters().offered == 300);
    CHECK(each->counters().adds_up());
  }
}

TEST_CASE_TEMPLATE("room one writer was granted but has not used is there for another", Q,
                   queue_under_test, outbox_under_test) {
  for (const auto policy :
       {overflow_policy::block, overflow_policy::drop_newest, overflow_policy::drop_oldest}) {
    Q queue{{policy, 8}};
    bounded_queue* const exits[] = {&queue.queue()};
    run_writer idle;
    run_writer busy;
    Q::write(idle, exits, 0); // may go on until the queue is full
    for (std::uint64_t i = 1; i < 8; ++i)
      CHECK(Q::write(busy, exits, i, immediately()) == push_result::taken);
    CHECK(queue.counters().queued == 8);
    const auto full =
        policy == overflow_policy::block ? push_result::would_block : push_result::dropped;
    CHECK(Q::write(idle, exits, 8, immediately()) == full);
    CHECK(queue.counters().queued == 8);
    CHECK(queue.counters().adds_up());
    queue.pull_all();
    CHECK(Q::write(idle, exits, 9, immediately()) == push_result::taken);
    CHECK(queue.pull_all() == numbers{9});
  }
}

TEST_CASE_TEMPLATE("a source is not kept waiting for room that is only reserved", Q,
                   queue_under_test, outbox_under_test) {
  Q queue{{overflow_policy::block, 4}};
  bounded_queue* const exits[] = {&queue.queue()};
  auto source = std::make_shared<counting_source>();
  CHECK(queue.push_run(range(0, 4), source));
  CHECK(queue.pull_all() == range(0, 4));
  CHECK(source->resumed == 1);
  run_writer idle;
  Q::write(idle, exits, 4); // holds all the room
  CHECK_FALSE(queue.push_run({5}, source));
  CHECK(queue.push_run({6, 7}, source));
  queue.pull_all();
  CHECK(source->resumed == 2);
}

TEST_CASE_TEMPLATE("a message that has no room in one queue goes to none", Q, queue_under_test,
                   outbox_under_test) {
  Q large{{overflow_policy::block, 100}};
  Q small{{overflow_policy::block, 2}};
  bounded_queue* const exits[] = {&large.queue(), &small.queue()};
  run_writer writer;
  CHECK(Q::write(writer, exits, 0, immediately()) == push_result::taken);
  CHECK(Q::write(writer, exits, 1, immediately()) == push_result::taken);
  CHECK(Q::write(writer, exits, 2, immediately()) == push_result::would_block);
  CHECK(large.pull_all() == range(0, 2));
  CHECK(small.pull_all() == range(0, 2));
  CHECK(large.counters().offered == 2);
  CHECK(Q::write(writer, exits, 3, immediately()) == push_result::taken);
  CHECK(large.pull_all() == numbers{3});
}

TEST_CASE_TEMPLATE("a queue that drops takes nothing from the others", Q, queue_under_test,
                   outbox_under_test) {
  Q all{{overflow_policy::block, 100}};
  Q newest{{overflow_policy::drop_newest, 3}};
  Q oldest{{overflow_policy::drop_oldest, 3}};
  bounded_queue* const exits[] = {&all.queue(), &newest.queue(), &oldest.queue()};
  run_writer writer;
  for (std::uint64_t i = 0; i < 10; ++i)
    CHECK(Q::write(writer, exits, i) == (i < 3 ? push_result::taken : push_result::dropped));
  CHECK(all.pull_all() == range(0, 10));
  CHECK(newest.pull_all() == range(0, 3));
  CHECK(oldest.pull_all() == range(7, 10));
  CHECK(newest.counters().dropped == 7);
  CHECK(oldest.counters().dropped == 7);
  CHECK(newest.counters().adds_up());
  CHECK(oldest.counters().adds_up());
}

TEST_CASE_TEMPLATE("one that conflates or disconnects takes nothing from the others", Q,
                   queue_under_test, outbox_under_test) {
  for (const auto policy : {overflow_policy::conflate, overflow_policy::disconnect}) {
    Q all{{overflow_policy::block, 100}};
    Q other{{policy, 3}};
    Q oldest{{overflow_policy::drop_oldest, 3}};
    bounded_queue* const exits[] = {&all.queue(), &other.queue(), &oldest.queue()};
    run_writer writer;
    for (std::uint64_t i = 0; i < 10; ++i)
      Q::write(writer, exits, i);
    CHECK(all.pull_all() == range(0, 10));
    CHECK(oldest.pull_all() == range(7, 10));
    CHECK(other.pull_all() == (policy == overflow_policy::conflate ? numbers{9} : range(0, 3)));
    for (auto* each : {&all, &other, &oldest}) {
      CHECK(each->counters().offered == 10);
      CHECK(each->counters().adds_up());
    }
  }
}

TEST_CASE_TEMPLATE("a message for a full queue and for one that conflates goes to none", Q,
                   queue_under_test, outbox_under_test) {
  Q full{{overflow_policy::block, 1}};
  Q newest{{overflow_policy::conflate, 5}};
  bounded_queue* const exits[] = {&full.queue(), &newest.queue()};
  run_writer writer;
  CHECK(Q::write(writer, exits, 0, immediately()) == push_result::taken);
  CHECK(Q::write(writer, exits, 1, immediately()) == push_result::would_block);
  CHECK(newest.pull_all() == numbers{0});
  CHECK(newest.counters().offered == 1);
}

TEST_CASE_TEMPLATE("a queue that ends leaves the others running", Q, queue_under_test,
                   outbox_under_test) {
  Q stays{{overflow_policy::block, 100}};
  Q ends{{overflow_policy::block, 100}};
  bounded_queue* const exits[] = {&stays.queue(), &ends.queue()};
  run_writer writer;
  Q::write(writer, exits, 0);
  ends.end();
  for (std::uint64_t i = 1; i < 5; ++i)
    CHECK(Q::write(writer, exits, i) == push_result::closed);
  CHECK(stays.pull_all() == range(0, 5));
  CHECK(ends.counters().dropped == 5);
  CHECK(ends.counters().adds_up());
}

TEST_CASE_TEMPLATE("what follows a sealed run comes behind what others have pushed meanwhile", Q,
                   queue_under_test, outbox_under_test) {
  Q queue{{overflow_policy::block, 100}};
  bounded_queue* const exits[] = {&queue.queue()};
  run_writer first;
  run_writer second;
  Q::write(first, exits, 0);
  Q::write(second, exits, 1);
  first.seal();
  Q::write(first, exits, 2);
  CHECK(queue.pull_all() == range(0, 3));
}

TEST_CASE("a consumer that sleeps on a growing run is woken by its next message") {
  message_queue queue{{}};
  bounded_queue* const exits[] = {&queue};
  run_writer writer;
  constexpr std::uint64_t messages = 200;
  std::atomic<std::uint64_t> seen{0};
  std::thread consumer{[&] {
    std::vector<data_message> out;
    while (queue.pull(out, 100, {}) > 0)
      seen = out.size();
  }};
  for (std::uint64_t i = 0; i < messages; ++i) {
    queue_under_test::write(writer, exits, i);
    REQUIRE(eventually([&] { return seen == i + 1; }));
  }
  queue.finish();
  consumer.join();
  CHECK(queue.counters().delivered == messages);
}

TEST_CASE("the descriptor follows a growing run") {
  message_queue queue{{}};
  bounded_queue* const exits[] = {&queue};
  run_writer writer;
  const auto fd = queue.fd(false);
  for (std::uint64_t i = 0; i < 5; ++i) {
    CHECK_FALSE(readable(fd));
    queue_under_test::write(writer, exits, i);
    CHECK(readable(fd));
    std::vector<data_message> out;
    CHECK(queue.pull(out, 10, immediately()) == 1);
  }
  CHECK_FALSE(readable(fd));
}

TEST_CASE_TEMPLATE("many writers into several queues lose nothing and keep their order", Q,
                   queue_under_test, outbox_under_test) {
  constexpr std::uint64_t writers = 3;
  constexpr std::uint64_t each_writes = 20'000;
  for (const std::size_t capacity : {7, 300, 100'000}) {
    std::vector<std::unique_ptr<Q>> queues;
    std::vector<bounded_queue*> exits;
    for (int i = 0; i < 2; ++i) {
      queues.push_back(std::make_unique<Q>(queue_options{overflow_policy::block, capacity}));
      exits.push_back(&queues.back()->queue());
    }
    std::atomic<bool> done{false};
    std::vector<std::thread> threads;
    for (std::uint64_t who = 0; who < writers; ++who)
      threads.emplace_back([&, who] {
        run_writer writer;
        for (std::uint64_t i = 0; i < each_writes; ++i) {
          Q::write(writer, exits, who * each_writes + i);
          if (i % 1000 == who)
            writer.seal();
        }
      });
    threads.emplace_back([&] {
      bool always = true;
      while (!done)
        for (const auto& queue : queues)
          always = queue->counters().adds_up() && always;
      CHECK(always);
    });
    std::vector<std::thread> readers;
    for (const auto& queue : queues)
      readers.emplace_back([&] {
        std::vector<std::uint64_t> next(writers, 0);
        std::uint64_t got = 0;
        bool in_order = true;
        auto until = std::chrono::steady_clock::now() + patience; // without anything new
        while (got < writers * each_writes && std::chrono::steady_clock::now() < until) {
          const auto numbers = queue->pull_all();
          for (auto number : numbers)
            in_order = number % each_writes == next[number / each_writes]++ && in_order;
          got += numbers.size();
          if (numbers.empty())
            std::this_thread::yield();
          else
            until = std::chrono::steady_clock::now() + patience;
        }
        CHECK(got == writers * each_writes);
        CHECK(in_order);
      });
    for (auto& each : readers)
      each.join();
    done = true;
    for (auto& each : threads)
      each.join();
    for (const auto& queue : queues) {
      CHECK(queue->counters().delivered == writers * each_writes);
      CHECK(queue->counters().dropped == 0);
    }
  }
}
