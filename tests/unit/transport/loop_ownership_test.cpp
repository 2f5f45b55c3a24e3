// SPDX-License-Identifier: BSD-3-Clause
#include "transport/loop_ownership.hpp"

#include "support/eventually.hpp"
#include "transport/tuning.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;

namespace {

/// The loop's own thread, without a loop.
class own_thread {
public:
  explicit own_thread(loop_ownership& loop) : loop_(loop), thread_{[this] { run(); }} {}
  ~own_thread() {
    end_ = true;
    loop_.stop();
    thread_.join();
  }
  bool has_it() const noexcept { return has_it_; }

private:
  void run() {
    loop_.begin();
    has_it_ = true;
    while (has_it_ && !end_) {
      if (loop_.asked()) {
        has_it_ = false;
        has_it_ = loop_.stand_by() != loop_ownership::reason::stopped;
      } else {
        std::this_thread::yield();
      }
    }
    if (has_it_)
      loop_.give_back();
  }

  loop_ownership& loop_;
  std::atomic<bool> end_{false};
  std::atomic<bool> has_it_{false};
  std::thread thread_;
};

bool enters_at_last(loop_ownership& loop) {
  return at_last([&] { return loop.enter(); });
}

} // namespace

TEST_CASE("a loop is closed to consumers before its own thread has begun") {
  loop_ownership loop;
  CHECK(!loop.enter());
  CHECK(!loop.asked());
}

TEST_CASE("its own thread lets go where a consumer asks, and takes the loop when that stays away") {
  loop_ownership loop;
  const own_thread own{loop};
  REQUIRE(enters_at_last(loop));
  CHECK(!own.has_it());
  CHECK(!loop.enter()); // one at a time
  loop.leave();
  CHECK(eventually([&] { return own.has_it(); }));
  CHECK(enters_at_last(loop)); // nothing had waited
  loop.leave();
}

TEST_CASE("its own thread keeps the loop while a consumer sleeps") {
  loop_ownership loop;
  loop.begin();
  CHECK(!loop.enter());
  CHECK(loop.asked());
  CHECK(!loop.begin_sleep(true));
  CHECK(!loop.asked());
  loop.end_sleep();
  CHECK(loop.asked());
  CHECK(loop.stand_by() == loop_ownership::reason::absence);
  CHECK(!loop.asked());
  loop.begin_sleep(false);
  CHECK(loop.stand_by() == loop_ownership::reason::needed);
  loop.stop();
  loop.end_sleep();
  CHECK(loop.stand_by() == loop_ownership::reason::stopped);
}

TEST_CASE("a consumer that goes to sleep beside an unattended loop takes it or calls its thread") {
  loop_ownership loop;
  const own_thread own{loop};
  REQUIRE(enters_at_last(loop));
  loop.leave();
  if (loop.begin_sleep(true)) // unless its own thread was there before
    loop.leave();
  else
    loop.end_sleep();
  loop.begin_sleep(false);
  CHECK(at_last([&] { return own.has_it(); }));
  CHECK(!loop.enter());
  loop.end_sleep();
  CHECK(enters_at_last(loop));
  loop.leave();
}

TEST_CASE(
    "a consumer that leaves another one asleep hands the loop over, and is kept out a while") {
  loop_ownership loop;
  const own_thread own{loop};
  REQUIRE(enters_at_last(loop));
  CHECK(!loop.begin_sleep(true));
  loop.leave();
  CHECK(at_last([&] { return own.has_it(); }));
  loop.end_sleep();
  CHECK(!loop.enter());
  CHECK(own.has_it());
  CHECK(enters_at_last(loop));
  loop.leave();
}

TEST_CASE("a consumer that comes and goes is noticed all the same when it stays away") {
  using clock = loop_ownership::clock;
  loop_ownership loop;
  const own_thread own{loop};
  for (const bool leaves_one_asleep : {false, true}) {
    REQUIRE(enters_at_last(loop));
    const auto end = clock::now() + 10 * tuning::longest_absence;
    do {
      loop.leave();
      REQUIRE(enters_at_last(loop));
    } while (clock::now() < end);
    if (leaves_one_asleep)
      loop.begin_sleep(false);
    loop.leave();
    CHECK(eventually([&] { return own.has_it(); }));
    if (leaves_one_asleep)
      loop.end_sleep();
  }
}

TEST_CASE("a loop is closed for a while where something has waited") {
  loop_ownership loop;
  loop.begin();
  loop.close_to_consumers();
  loop.enter();
  CHECK(!loop.asked());
  CHECK(at_last([&] {
    loop.enter();
    return loop.asked();
  }));
  loop.give_back();
}

TEST_CASE("many threads take turns, one at a time, and the loop is never forgotten") {
  constexpr int threads = 3;
  constexpr int times = 20'000;
  loop_ownership loop;
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  {
    const own_thread own{loop};
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i)
      all.emplace_back([&] {
        for (int n = 0; n < times; ++n) {
          if (loop.enter() || loop.begin_sleep(n % 2 == 0)) {
            most = std::max(most.load(), ++inside);
            --inside;
            loop.leave();
          } else {
            loop.end_sleep();
            std::this_thread::yield();
          }
        }
      });
    for (auto& each : all)
      each.join();
    CHECK(eventually([&] { return own.has_it(); }));
  }
  CHECK(most == 1);
  CHECK(loop.take());
}
