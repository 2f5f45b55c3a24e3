// Producers, relays, a consumer and an observer at once; meant for the thread sanitizer too.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/bounded_queues.hpp"
#include "support/eventually.hpp"

#include <doctest/doctest.h>

#include <condition_variable>
#include <thread>

using namespace pubsub;
using namespace pubsub::test;

namespace {

constexpr std::uint64_t per_producer = 5000;
constexpr std::uint64_t producers = 3;

/// What a link does when it is told to pause: it stops until it is resumed.
struct waiting_source final : flow_source {
  void resume() noexcept override {
    {
      std::lock_guard lock{mutex};
      --pauses;
    }
    changed.notify_all();
  }
  void expect_resume() {
    std::lock_guard lock{mutex};
    ++pauses;
  }
  bool wait() {
    std::unique_lock lock{mutex};
    return changed.wait_for(lock, patience, [&] { return pauses <= 0; });
  }
  std::mutex mutex; // guards pauses
  std::condition_variable changed;
  int pauses = 0;
};

template <class Q>
void produce(Q& queue, std::uint64_t who) {
  for (std::uint64_t i = 0; i < per_producer; ++i)
    queue.push(who * per_producer + i);
}

template <class Q>
void relay(Q& queue, std::uint64_t who) {
  auto source = std::make_shared<waiting_source>();
  for (std::uint64_t i = 0; i < per_producer; i += 10) {
    std::vector<std::uint64_t> run;
    for (std::uint64_t k = i; k < i + 10; ++k)
      run.push_back(who * per_producer + k);
    if (queue.push_run(run, source)) {
      source->expect_resume();
      CHECK(source->wait());
    }
  }
}

} // namespace

TEST_CASE_TEMPLATE("counters add up at any moment and order holds while many threads push", Q,
                   queue_under_test, outbox_under_test) {
  for (const auto policy :
       {overflow_policy::block, overflow_policy::drop_oldest, overflow_policy::drop_newest,
        overflow_policy::conflate, overflow_policy::disconnect}) {
    Q queue{queue_options{policy, 64, 64 * usual_size}, 100};
    std::atomic<bool> done{false};
    std::vector<std::thread> threads;
    for (std::uint64_t who = 0; who < producers; ++who)
      threads.emplace_back([&, who] { who == 0 ? relay(queue, who) : produce(queue, who); });
    std::thread observer{[&] {
      bool always = true;
      while (!done)
        always = queue.counters().adds_up() && always;
      CHECK(always);
    }};
    std::vector<std::uint64_t> next(producers, 0);
    std::uint64_t delivered = 0;
    bool in_order = true;
    CHECK(eventually([&] {
      for (auto number : queue.pull_all()) {
        const auto who = number / per_producer;
        in_order = number % per_producer >= next[who] && in_order;
        next[who] = number % per_producer + 1;
        ++delivered;
      }
      const auto now = queue.counters();
      return now.offered == producers * per_producer && now.queued == 0;
    }));
    for (auto& each : threads)
      each.join();
    done = true;
    observer.join();
    CHECK(in_order);
    const auto end = queue.counters();
    CHECK(end.delivered == delivered);
    CHECK(end.offered == delivered + end.dropped);
    CHECK((policy != overflow_policy::block || end.dropped == 0));
  }
}

TEST_CASE_TEMPLATE("closing while many threads push leaves nobody waiting and nothing uncounted", Q,
                   queue_under_test, outbox_under_test) {
  for (int round = 0; round < 20; ++round) {
    Q queue{queue_options{overflow_policy::block, 8, 1 << 20}};
    std::vector<std::thread> threads;
    for (std::uint64_t who = 0; who < producers; ++who)
      threads.emplace_back([&, who] {
        for (std::uint64_t i = 0; i < 200; ++i)
          queue.push(who * 200 + i);
      });
    const auto delivered = queue.pull_all().size();
    queue.end();
    for (auto& each : threads)
      each.join();
    const auto end = queue.counters();
    CHECK(end.offered == producers * 200);
    CHECK(end.delivered == delivered);
    CHECK(end.queued == 0);
    CHECK(end.adds_up());
  }
}
