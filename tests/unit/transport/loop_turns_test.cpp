#include "transport/loop_turns.hpp"

#include "support/eventually.hpp"

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
  explicit own_thread(loop_turns& turns) : turns_(turns), thread_{[this] { run(); }} {
    CHECK(eventually([&] { return turns_.welcome(); }));
  }
  ~own_thread() {
    end_ = true;
    turns_.stop();
    thread_.join();
  }
  /// Lets it look whether somebody wants its place.
  void turn_round() {
    const auto before = rounds_.load();
    CHECK(eventually([&] { return rounds_ > before + 1 || !turns_.own_thread_has_it(); }));
  }

private:
  void run() {
    turns_.begin();
    bool mine = true;
    while (mine && !end_) {
      ++rounds_;
      if (turns_.asked())
        mine = turns_.stand_by() != loop_turns::reason::stopped;
      else
        std::this_thread::yield();
    }
    if (mine)
      turns_.give_back();
  }

  loop_turns& turns_;
  std::atomic<bool> end_{false};
  std::atomic<std::uint64_t> rounds_{0};
  std::thread thread_;
};

/// As a waiter that its own thread has woken, and which comes back in time.
bool obtains(loop_turns& turns) {
  return at_last([&] {
    turns.offer();
    return turns.take();
  });
}

} // namespace

TEST_CASE("nobody is welcome before its own thread has begun") {
  loop_turns turns;
  CHECK(!turns.welcome());
}

TEST_CASE("its own thread lets go where it is asked to, and steps in where nobody comes back") {
  loop_turns turns;
  const own_thread own{turns};
  CHECK(!turns.take());
  REQUIRE(obtains(turns));
  CHECK(!turns.own_thread_has_it());
  turns.leave();
  CHECK(eventually([&] { return turns.own_thread_has_it(); }));
  CHECK(turns.welcome()); // nothing had waited
  CHECK(obtains(turns));
  turns.leave();
}

TEST_CASE("its own thread knows whether it was called or nobody came back") {
  loop_turns turns;
  turns.begin();
  turns.offer();
  REQUIRE(turns.asked());
  CHECK(turns.stand_by() == loop_turns::reason::absence);
  turns.refuse();
  CHECK(!turns.welcome());
  turns.begin_blocking(true);
  CHECK(turns.stand_by() == loop_turns::reason::called); // it keeps the loop
  turns.end_blocking(true);
  turns.stop();
  CHECK(turns.stand_by() == loop_turns::reason::stopped);
}

TEST_CASE("its own thread lets nobody go in beside one who is keen and sleeps") {
  loop_turns turns;
  own_thread own{turns};
  turns.begin_blocking(true);
  CHECK(!turns.welcome());
  turns.offer();
  own.turn_round();
  CHECK(turns.own_thread_has_it());
  turns.end_blocking(true);
  CHECK(turns.welcome());
}

TEST_CASE("who goes to sleep where nobody has it calls its own thread") {
  for (const bool keen : {true, false}) {
    loop_turns turns;
    const own_thread own{turns};
    REQUIRE(obtains(turns));
    turns.begin_blocking(keen);
    turns.leave();
    turns.begin_blocking(false);
    CHECK(eventually([&] { return turns.own_thread_has_it(); }));
    CHECK((!keen || !turns.welcome()));
  }
}

TEST_CASE("one who is keen has the loop where its own thread has let go meanwhile") {
  loop_turns turns;
  const own_thread own{turns};
  CHECK(eventually([&] {
    REQUIRE(obtains(turns));
    turns.leave();
    if (turns.begin_blocking(true))
      return true;
    turns.end_blocking(true); // its own thread was there before
    return false;
  }));
  CHECK(!turns.own_thread_has_it());
  turns.leave();
}

TEST_CASE("the more often somebody made others wait the longer all are refused") {
  loop_turns turns;
  turns.begin();
  const auto refused_for = [&] {
    const auto begin = loop_turns::clock::now();
    turns.refuse();
    CHECK(eventually([&] { return turns.welcome(); }));
    return loop_turns::clock::now() - begin;
  };
  CHECK(refused_for() >= std::chrono::milliseconds{5});
  CHECK(eventually([&] { return refused_for() >= std::chrono::milliseconds{100}; }));
  turns.give_back();
}

TEST_CASE("many threads that take turns, one at a time") {
  constexpr int threads = 3;
  constexpr int times = 20'000;
  loop_turns turns;
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  {
    const own_thread own{turns};
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i)
      all.emplace_back([&] {
        for (int n = 0; n < times; ++n) {
          const bool keen = n % 2 == 0;
          if (turns.take() || turns.begin_blocking(keen)) {
            most = std::max(most.load(), ++inside);
            --inside;
            turns.leave();
          } else {
            turns.end_blocking(keen);
            turns.offer();
            std::this_thread::yield();
          }
        }
      });
    for (auto& each : all)
      each.join();
    CHECK(eventually([&] { return turns.own_thread_has_it(); }));
  }
  CHECK(most == 1);
  CHECK(turns.take());
}
