// SPDX-License-Identifier: BSD-3-Clause
#include "queue/waiter.hpp"

#include "support/eventually.hpp"

#include <thread>

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;

namespace {

using clock_type = waiter::clock;

/// A loop that brings something when it is run, and writes down what a consumer does with it.
class hand_driven_loop final : public shared_loop {
public:
  bool open = true;
  bool unattended = false; // seen by a consumer that goes to sleep
  int entered = 0;
  int ran = 0;
  int left = 0;
  int sleeping = 0;
  bool* brings = nullptr;

  bool enter() noexcept override {
    entered += open ? 1 : 0;
    return open;
  }
  bool run_one(const deadline&) noexcept override {
    ++ran;
    if (brings != nullptr)
      *brings = true;
    return brings != nullptr;
  }
  void run_ready() noexcept override {}
  void leave() noexcept override { ++left; }
  void interrupt() noexcept override {}
  bool begin_sleep(bool wants) noexcept override {
    if (wants && unattended) {
      unattended = false;
      ++entered;
      return true;
    }
    ++sleeping;
    return false;
  }
  void end_sleep() noexcept override { --sleeping; }
};

struct consumer {
  explicit consumer(shared_loop* loop = nullptr) : waits{loop} {}

  /// True if there is something in the end.
  bool wait(const deadline& until) {
    std::unique_lock lock{mutex};
    waits.wait(
        lock, until, [this] { return something; },
        [this] {
          armed = true;
          return true;
        });
    return something;
  }
  void bring() {
    std::unique_lock lock{mutex};
    something = true;
    waits.wake(lock);
  }

  std::mutex mutex;
  bool something = false;
  bool armed = false;
  waiter waits;
};

deadline soon() {
  return clock_type::now() + std::chrono::milliseconds{5};
}
deadline late() {
  return clock_type::now() + patience;
}

} // namespace

TEST_CASE("a consumer that does not want to wait does not touch the loop") {
  hand_driven_loop loop;
  consumer one{&loop};
  CHECK(!one.wait(clock_type::time_point::min()));
  CHECK(loop.entered == 0);
  CHECK(!one.armed);
}

TEST_CASE("a consumer that waits runs the loop, and leaves it with what that brings") {
  hand_driven_loop loop;
  consumer one{&loop};
  loop.brings = &one.something;
  CHECK(one.wait(late()));
  CHECK(loop.entered == 1);
  CHECK(loop.ran == 1);
  CHECK(loop.left == 1);
  CHECK(loop.sleeping == 0);
}

TEST_CASE("a consumer that the loop does not let in sleeps, and is counted while it does") {
  hand_driven_loop loop;
  loop.open = false;
  consumer one{&loop};
  CHECK(!one.wait(soon()));
  CHECK(loop.sleeping == 0);
  std::thread waiting{[&] { CHECK(one.wait({})); }};
  CHECK(eventually([&] {
    std::lock_guard lock{one.mutex};
    return loop.sleeping == 1;
  }));
  one.bring();
  waiting.join();
  CHECK(loop.sleeping == 0);
  CHECK(loop.left == 0);
}

TEST_CASE("a consumer that finds the loop unattended before it sleeps runs it") {
  hand_driven_loop loop;
  loop.open = false;
  loop.unattended = true;
  consumer one{&loop};
  loop.brings = &one.something;
  CHECK(one.wait(late()));
  CHECK(loop.ran == 1);
  CHECK(loop.left == 1);
}

TEST_CASE("a consumer that finds many messages at a look leaves the loop to its own thread") {
  hand_driven_loop loop;
  consumer one{&loop};
  one.waits.found(tuning::few_messages + 1, false);
  CHECK(!one.wait(soon()));
  CHECK(loop.entered == 0);
  one.waits.found(1, false);
  CHECK(!one.wait(soon()));
  CHECK(loop.entered > 0);
}

TEST_CASE("a wait that ends within the clock of the loop is none for the loop") {
  hand_driven_loop loop;
  consumer one{&loop};
  CHECK(!one.wait(clock_type::now() + tuning::loop_clock / 2));
  CHECK(loop.entered == 0);
}

TEST_CASE("a wait ends at its deadline, asleep and in a loop that brings nothing") {
  hand_driven_loop loop;
  for (auto* const each : {static_cast<shared_loop*>(nullptr), static_cast<shared_loop*>(&loop)}) {
    consumer one{each};
    const auto until = soon();
    CHECK(!one.wait(until));
    CHECK(clock_type::now() >= *until);
  }
}

TEST_CASE("the descriptor is readable once something has come, whoever waits") {
  consumer one;
  const auto fd = one.waits.fd(false);
  CHECK(!readable(fd));
  one.bring();
  CHECK(readable(fd));
  one.waits.set_readable(false);
  CHECK(!readable(fd));
}
