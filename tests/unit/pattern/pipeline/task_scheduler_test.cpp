// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/pipeline/task_scheduler.hpp"
#include "pattern/pipeline/tuning.hpp"
#include "support/ids.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

using namespace pubsub;
using namespace pubsub::test;
using namespace pubsub::pattern;
using namespace std::chrono_literals;

namespace {

/// An exchange whose clock and queues are driven by hand.
struct exchange_by_hand {
  explicit exchange_by_hand(exchange_options options = {}) : scheduler(options) {}

  void add(std::uint64_t number, upstream_range upstream = {}) {
    data_writer value;
    value.write_count(number);
    scheduler.add({.source = id_of(99),
                   .number = number,
                   .count = 1,
                   .values = value.bytes(),
                   .upstream = upstream});
  }
  /// Places count from the first that this queue was given.
  void report(std::uint8_t queue, std::uint64_t done, std::vector<sequence_range> above = {},
              std::uint64_t credit = 100) {
    const auto found = bases.find(queue);
    const auto base = found == bases.end() ? 0 : found->second;
    queue_report x;
    x.queue = id_of(queue);
    x.credit = credit;
    x.concurrency = concurrency;
    x.received = std::numeric_limits<std::uint64_t>::max();
    x.done = x.taken = base + done;
    for (const auto& each : above) {
      x.done_above.push_back({base + each.first, each.count});
      x.taken = base + each.first + each.count;
    }
    x.timed = x.taken - base;
    x.busy_ns = static_cast<std::uint64_t>(now.time_since_epoch().count());
    scheduler.receive(x, now);
  }
  /// It has begun so many, and done none of them.
  void begin(std::uint8_t queue, std::uint64_t taken) {
    queue_report x;
    x.queue = id_of(queue);
    x.credit = 100;
    x.concurrency = concurrency;
    x.received = std::numeric_limits<std::uint64_t>::max();
    x.taken = bases[queue] + taken;
    scheduler.receive(x, now);
  }
  struct sent {
    std::uint8_t queue;
    std::uint64_t first;
    std::vector<std::uint64_t> numbers;
    bool redelivered;
  };
  std::vector<sent> send() {
    std::vector<sent> result;
    scheduler.release();
    while (auto next = scheduler.next(now)) {
      const auto queue = std::to_integer<std::uint8_t>(std::byte{next->queue.bytes()[0]});
      const auto base = bases.try_emplace(queue, next->at.first).first->second;
      sent one{queue, next->at.first - base, {}, next->tasks->redelivered};
      for (const auto& run : next->tasks->numbers.runs())
        for (std::uint64_t i = 0; i < run.count; ++i)
          one.numbers.push_back(run.first + i);
      result.push_back(std::move(one));
    }
    return result;
  }

  task_scheduler scheduler;
  std::uint64_t concurrency = 1; // of all queues
  task_scheduler::time now{};
  std::map<std::uint8_t, std::uint64_t> bases; // the first places of queues
};

/// A task of this exchange at this place.
upstream_range task_of(std::uint8_t exchange, std::uint64_t place) {
  return {nullptr, id_of(exchange), place, 1, false};
}

} // namespace

TEST_CASE("tasks wait until there is a queue, and are in flight until they are done") {
  exchange_by_hand x;
  x.add(0);
  CHECK(x.send().empty());
  CHECK(x.scheduler.in_flight() == 1);
  x.report(1, 0);
  const auto sent = x.send();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].queue == 1);
  CHECK(sent[0].first == 0);
  CHECK(sent[0].numbers == std::vector<std::uint64_t>{0});
  CHECK(x.scheduler.in_flight() == 1);
  x.report(1, 1);
  CHECK(x.scheduler.in_flight() == 0);
  CHECK(x.scheduler.counters().done == 1);
}

TEST_CASE("a slow queue gets less, and no queue more than two tasks that take long") {
  exchange_by_hand x;
  for (std::uint8_t queue = 1; queue <= 2; ++queue)
    x.report(queue, 0);
  std::map<int, std::uint64_t> given;
  std::map<int, std::uint64_t> done;
  std::uint64_t number = 0;
  for (int ms = 0; ms < 100'000; ms += 50) {
    x.now = task_scheduler::time{} + std::chrono::milliseconds{ms};
    for (const int queue : {1, 2}) {
      const int takes = queue == 1 ? 200 : 800;
      if (ms % takes == 0 && done[queue] < given[queue])
        x.report(static_cast<std::uint8_t>(queue), ++done[queue]);
    }
    while (x.scheduler.in_flight() < 20)
      x.add(number++);
    for (const auto& each : x.send())
      given[each.queue] += each.numbers.size();
    for (const int queue : {1, 2})
      CHECK(given[queue] - done[queue] <= 2);
  }
  CHECK(done[1] + done[2] >= 0.95 * (100'000 / 200 + 100'000 / 800));
}

TEST_CASE("short tasks travel together") {
  exchange_by_hand x;
  x.report(1, 0, {}, 10'000);
  std::uint64_t done = 0;
  std::size_t longest = 0;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 1'000; ++i)
      x.add(static_cast<std::uint64_t>(round * 1'000 + i));
    for (int step = 0; step < 1'000 && x.scheduler.in_flight() > 0; ++step) {
      for (const auto& each : x.send()) {
        longest = std::max(longest, each.numbers.size());
        done += each.numbers.size();
      }
      x.now += 200us;
      x.report(1, done, {}, 10'000);
    }
  }
  CHECK(x.scheduler.in_flight() == 0);
  CHECK(longest > 100);
  CHECK(longest <= tuning::max_batch_tasks);
}

TEST_CASE("a queue that has nothing to do waits for no full batch") {
  exchange_by_hand x;
  x.report(1, 0);
  x.add(0);
  REQUIRE(x.send().size() == 1);
  x.now += 10us; // for one task: 6 of them are worth a message
  x.report(1, 1);
  REQUIRE(x.scheduler.has_idle_queue());
  for (std::uint64_t i = 1; i < 6; ++i)
    x.add(i);
  CHECK(!x.scheduler.may_send());
  x.add(6);
  REQUIRE(x.scheduler.may_send());
  CHECK(x.scheduler.next(x.now)->tasks->numbers.size() == 6);
  for (std::uint64_t i = 7; i < 19; ++i)
    x.add(i);
  CHECK(!x.scheduler.may_send()); // it is busy: the batch fills up
}

TEST_CASE("round robin waits for the queue whose turn it is") {
  exchange_options options;
  options.balance = balancing::round_robin;
  exchange_by_hand x{options};
  for (std::uint8_t queue = 1; queue <= 3; ++queue)
    x.report(queue, 0, {}, 1);
  for (std::uint64_t i = 0; i < 7; ++i)
    x.add(i);
  auto sent = x.send();
  REQUIRE(sent.size() == 3);
  for (std::uint8_t i = 0; i < 3; ++i)
    CHECK(sent[i].queue == i + 1);
  x.report(2, 1, {}, 1);
  CHECK(x.send().empty()); // it is the turn of the first
  x.report(1, 1, {}, 1);
  sent = x.send();
  REQUIRE(sent.size() == 2);
  CHECK(sent[0].queue == 1);
  CHECK(sent[1].queue == 2);
}

TEST_CASE("with data distribution every queue gets everything, and all have to be done") {
  exchange_options options;
  options.style = exchange_style::data_distribution;
  exchange_by_hand x{options};
  x.report(1, 0);
  x.report(2, 0);
  x.add(7);
  CHECK(x.send().size() == 2);
  x.report(1, 1);
  CHECK(x.scheduler.in_flight() == 1);
  x.report(2, 1);
  CHECK(x.scheduler.in_flight() == 0);
  CHECK(x.scheduler.counters().done == 1);
  x.add(8);
  CHECK(x.send().size() == 2);
  x.report(1, 2);
  x.scheduler.lose(id_of(2)); // its tasks are not waited for
  CHECK(x.scheduler.in_flight() == 0);
}

TEST_CASE("what a lost queue had not done goes to another, marked, and first") {
  exchange_by_hand x;
  x.concurrency = 2;
  x.report(1, 0);
  x.add(0);
  x.add(1);
  CHECK(x.send().size() == 2);
  x.add(2);
  CHECK(x.send().empty());
  x.report(1, 0, {{1, 1}}); // the second is done, the first is not
  CHECK(x.send().size() == 1);
  x.report(2, 0);
  x.scheduler.lose(id_of(1));
  const auto again = x.send();
  REQUIRE(again.size() == 2);
  CHECK(again[0].numbers == std::vector<std::uint64_t>{0});
  CHECK(again[1].numbers == std::vector<std::uint64_t>{2});
  for (const auto& each : again) {
    CHECK(each.queue == 2);
    CHECK(each.redelivered);
  }
  CHECK(x.scheduler.counters().redelivered == 2);
  x.report(2, 2);
  CHECK(x.scheduler.in_flight() == 0);
  CHECK(x.scheduler.counters().done == 3);
}

TEST_CASE("a queue that was taken for lost and comes back gets places it has not had") {
  exchange_by_hand x;
  x.report(1, 0);
  x.add(0);
  CHECK(x.send().size() == 1);
  x.scheduler.lose(id_of(1));
  x.report(1, 1); // of its former life here
  const auto sent = x.send();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].first == 1);
  CHECK(x.scheduler.counters().done == 0);
  x.report(1, 2);
  CHECK(x.scheduler.counters().done == 1);
}

TEST_CASE("where lost tasks are dropped they are counted") {
  exchange_options options;
  options.on_loss = worker_loss::drop;
  exchange_by_hand x{options};
  x.report(1, 0);
  x.add(0);
  CHECK(x.send().size() == 1);
  x.scheduler.lose(id_of(1));
  CHECK(x.scheduler.in_flight() == 0);
  CHECK(x.scheduler.counters().dropped == 1);
  CHECK(x.scheduler.counters().done == 0);
}

TEST_CASE("a task that is lost with queue after queue is dead, its neighbours are not") {
  exchange_by_hand x; // three losses
  for (std::uint64_t i = 0; i < 5; ++i)
    x.add(i);
  std::set<std::uint64_t> done;
  std::vector<std::shared_ptr<const task_batch>> dead;
  for (std::uint8_t queue = 1; queue < 20 && x.scheduler.in_flight() > 0; ++queue) {
    x.report(queue, 0);
    std::uint64_t places = 0;
    bool died = false;
    for (auto sent = x.send(); !sent.empty() && !died; sent = x.send())
      for (const auto& each : sent)
        for (const auto number : each.numbers) {
          died = died || number == 2; // it dies of this one
          if (died && each.redelivered)
            x.begin(queue, places + 1);
          if (died)
            break;
          CHECK(done.insert(number).second);
          x.report(queue, ++places);
        }
    if (died)
      x.scheduler.lose(id_of(queue));
    for (auto& each : x.scheduler.take_dead())
      dead.push_back(each);
  }
  CHECK(x.scheduler.in_flight() == 0);
  CHECK(done == std::set<std::uint64_t>{0, 1, 3, 4});
  REQUIRE(dead.size() == 1);
  CHECK(dead[0]->numbers.runs() == std::vector<sequence_range>{{2, 1}});
  CHECK(x.scheduler.counters().dead == 1);
}

TEST_CASE("a task that is rejected goes elsewhere, and the place is done with") {
  exchange_by_hand x;
  x.report(1, 0);
  x.add(0);
  CHECK(x.send().size() == 1);
  queue_report report;
  report.queue = id_of(1);
  report.credit = 100;
  report.received = 1;
  report.rejected = {{0, 1}};
  x.scheduler.receive(report, x.now);
  auto again = x.send();
  REQUIRE(again.size() == 1);
  CHECK(again[0].first == 1);
  CHECK(again[0].redelivered);
  x.scheduler.receive(report, x.now); // it is said again until it is known to have been heard
  CHECK(x.send().empty());
  CHECK(x.scheduler.counters().redelivered == 1);
}

TEST_CASE("what has not come is sent again to the same places") {
  exchange_by_hand x;
  queue_report report;
  report.queue = id_of(1);
  report.credit = 100;
  x.scheduler.receive(report, x.now);
  x.add(0);
  CHECK(x.send().size() == 1);
  x.now += tuning::sending_time - 1ms;
  x.scheduler.receive(report, x.now);
  CHECK(x.send().empty());
  x.now += 1ms;
  x.scheduler.receive(report, x.now);
  const auto again = x.send();
  REQUIRE(again.size() == 1);
  CHECK(again[0].first == 0);
  CHECK_FALSE(again[0].redelivered); // no other queue has had it
}

TEST_CASE("tasks of another exchange are acknowledged when their results are") {
  exchange_by_hand x;
  x.report(1, 0);
  x.add(0, task_of(50, 17));
  x.add(1);
  x.add(2, task_of(51, 3));
  x.send();
  CHECK(x.scheduler.take_done().empty());
  x.report(1, 2);
  auto done = x.scheduler.take_done();
  REQUIRE(done.size() == 1);
  CHECK(done[0].exchange == id_of(50));
  CHECK(done[0].first == 17);
  x.send();
  x.report(1, 3);
  done = x.scheduler.take_done();
  REQUIRE(done.size() == 1);
  CHECK(done[0].exchange == id_of(51));
}

TEST_CASE("a source that hears of the end does not need the stages between") {
  exchange_by_hand x;
  x.concurrency = 2;
  for (std::uint8_t queue = 1; queue <= 2; ++queue)
    x.report(queue, 0);
  for (std::uint64_t number = 0; number < 4; ++number) {
    x.add(number);
    for (const auto& each : x.send())
      CHECK(each.queue == 1 + number % 2);
  }
  x.scheduler.complete({1, 2}); // one with either queue
  CHECK(x.scheduler.in_flight() == 2);
  CHECK(x.scheduler.counters().done == 2);
  CHECK(x.scheduler.settled_below() == 0);
  x.scheduler.complete({1, 2});   // again
  x.scheduler.complete({700, 5}); // what never was
  CHECK(x.scheduler.in_flight() == 2);
  x.report(1, 1);
  CHECK(x.scheduler.settled_below() == 3);
  x.report(2, 1); // has been heard
  CHECK(x.scheduler.counters().done == 3);
  x.scheduler.complete({0, std::numeric_limits<std::uint64_t>::max()});
  CHECK(x.scheduler.in_flight() == 0);
  CHECK(x.scheduler.settled_below() == 4);
  CHECK(x.scheduler.counters().done == 4);
}

TEST_CASE("a task that was lost is complete wherever it is now") {
  exchange_by_hand x;
  x.concurrency = 2;
  x.report(1, 0);
  for (std::uint64_t number = 0; number < 2; ++number)
    x.add(number);
  x.send();
  x.report(2, 0);
  x.scheduler.lose(id_of(1));
  x.send();
  x.scheduler.complete({0, 2}); // the one that was lost had done them
  CHECK(x.scheduler.in_flight() == 0);
  CHECK(x.scheduler.counters().done == 2);
  x.report(2, 2);
  CHECK(x.scheduler.counters().done == 2);
}

TEST_CASE("whatever queues do, every task is done, dead or dropped in the end, and once") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 engine{seed};
    exchange_options options;
    options.window_tasks = 1 + engine() % 50;
    exchange_by_hand x{options};
    std::map<std::uint8_t, std::map<std::uint64_t, std::uint64_t>> at; // queue -> place -> number
    std::map<std::uint8_t, sequence_set> done;
    std::set<std::uint64_t> finished;
    std::uint64_t number = 0;
    std::uint8_t next_queue = 1;
    std::set<std::uint8_t> alive;
    const auto deliver = [&] {
      for (const auto& each : x.send())
        for (std::size_t i = 0; i < each.numbers.size(); ++i)
          at[each.queue][each.first + i] = each.numbers[i];
    };
    for (int step = 0; step < 400; ++step) {
      x.now += std::chrono::microseconds{engine() % 1'000};
      if (number < 200 && x.scheduler.has_room())
        x.add(number++);
      if (alive.size() < 3 && engine() % 10 == 0) {
        alive.insert(next_queue);
        x.report(next_queue++, 0, {}, 1 + engine() % 20);
      }
      deliver();
      CHECK(x.scheduler.in_flight() <= options.window_tasks);
      for (const auto queue : alive)
        if (!at[queue].empty() && engine() % 2 == 0) {
          auto one = std::next(at[queue].begin(), static_cast<long>(engine() % at[queue].size()));
          done[queue].insert({one->first, 1});
          finished.insert(one->second);
          at[queue].erase(one);
          x.report(queue, done[queue].low(), done[queue].above(), 1 + engine() % 20);
        }
      if (!alive.empty() && engine() % 60 == 0) {
        x.scheduler.lose(id_of(*alive.begin()));
        at.erase(*alive.begin());
        alive.erase(alive.begin());
      }
    }
    const auto& all = x.scheduler.counters();
    CHECK(all.sent == number);
    CHECK(all.sent == all.done + all.dead + all.dropped + x.scheduler.in_flight());
    CHECK(finished.size() == all.done); // none twice: what was done was never given again
  }
}
