// SPDX-License-Identifier: BSD-3-Clause
#include "transport/event_loop.hpp"

#include "support/eventually.hpp"
#include "transport/tuning.hpp"

#include <atomic>
#include <thread>

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;

namespace {

/// As a consumer that does not sleep meanwhile: the loop's own thread looks whether it is asked
/// after each handler.
bool enters_at_last(event_loop& loop) {
  return at_last([&] {
    if (loop.enter())
      return true;
    loop.interrupt();
    return false;
  });
}

/// The thread that runs what is posted; `meanwhile` is called after that.
template <class F>
std::thread::id thread_of_handlers(event_loop& loop, F meanwhile) {
  std::atomic<std::thread::id> result{};
  asio::post(*loop.context(), [&] { result = std::this_thread::get_id(); });
  meanwhile();
  CHECK(at_last([&] { return result.load() != std::thread::id{}; }));
  return result;
}

} // namespace

TEST_CASE(
    "a consumer that has entered runs the handlers, and the loop's own thread those after it") {
  event_loop loop;
  loop.start();
  REQUIRE(enters_at_last(loop));
  CHECK(thread_of_handlers(loop, [&] { loop.run_ready(); }) == std::this_thread::get_id());
  loop.leave();
  CHECK(thread_of_handlers(loop, [] {}) != std::this_thread::get_id());
}

TEST_CASE("a wait in the loop ends at its deadline, when interrupted, and when the loop stops") {
  event_loop loop;
  loop.start();
  REQUIRE(enters_at_last(loop));
  loop.run_ready();
  const auto until = event_loop::clock::now() + std::chrono::milliseconds{5};
  CHECK(!loop.run_one(until));
  CHECK(event_loop::clock::now() >= until);
  std::thread other{[&] { loop.interrupt(); }};
  CHECK(loop.run_one({}));
  other.join();
  loop.context()->stop();
  CHECK(!loop.run_one({}));
  loop.leave();
}

TEST_CASE("a loop is closed to consumers once something has waited for one that was away") {
  event_loop loop;
  loop.start();
  CHECK(eventually([&] { // its own thread may come before what is posted
    REQUIRE(enters_at_last(loop));
    std::atomic<bool> done{false};
    asio::post(*loop.context(), [&] { done = true; });
    loop.leave();
    CHECK(at_last([&] { return done.load(); }));
    const auto begin = event_loop::clock::now();
    REQUIRE(enters_at_last(loop));
    loop.leave();
    return event_loop::clock::now() - begin >= tuning::closed_for / 2;
  }));
}
