#include "transport/event_loop.hpp"

#include "support/eventually.hpp"

#include <atomic>

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;

namespace {

/// As a consumer that its loop's own thread has woken, which comes back at once, and does what is
/// ready.
bool obtains(event_loop& loop) {
  const bool entered = at_last([&] {
    const auto answer = loop.enter();
    if (answer == shared_loop::answer::later) {
      loop.offer();
      loop.interrupt(); // its own thread looks whether somebody wants its place
    }
    return answer == shared_loop::answer::entered;
  });
  loop.run_ready();
  return entered;
}

} // namespace

TEST_CASE("a loop stays open to a consumer that was away while there was nothing to do") {
  event_loop loop;
  loop.start();
  REQUIRE(obtains(loop));
  loop.leave();
  bool refused = false;
  CHECK(eventually([&] {
    const auto answer = loop.enter();
    refused = refused || answer == shared_loop::answer::refused;
    if (answer == shared_loop::answer::entered) // its own thread was not there yet
      loop.leave();
    return answer == shared_loop::answer::later;
  }));
  CHECK(!refused);
}

TEST_CASE("a loop refuses consumers once something has waited for one that was away") {
  event_loop loop;
  loop.start();
  CHECK(eventually([&] { // the first times are short ones
    REQUIRE(obtains(loop));
    std::atomic<bool> done{false};
    asio::post(*loop.context(), [&] { done = true; });
    loop.leave();
    CHECK(eventually([&] { return done.load(); }));
    return loop.enter() == shared_loop::answer::refused;
  }));
  CHECK(obtains(loop)); // after a while
  loop.leave();
}
