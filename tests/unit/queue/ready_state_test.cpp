// SPDX-License-Identifier: BSD-3-Clause
#include "queue/ready_state.hpp"

#include <thread>

#include <poll.h>

#include <doctest/doctest.h>

using namespace pubsub;

namespace {

bool readable(ready_state& x) {
  pollfd p{x.fd(), POLLIN, 0};
  return ::poll(&p, 1, 0) == 1;
}

} // namespace

TEST_CASE("all parts have to end before it is ready, and then it stays so") {
  ready_state x;
  x.add_part();
  CHECK_FALSE(readable(x));
  x.end_part();
  CHECK_FALSE(x.ready());
  CHECK_FALSE(x.wait(immediately()));
  std::thread other{[&] { x.end_part(); }};
  CHECK(x.wait({}));
  other.join();
  CHECK(x.ready());
  CHECK(readable(x));
  x.close();
  CHECK(x.ready());
  CHECK_FALSE(x.closed());
}

TEST_CASE("what is closed before it is ready ends waits, and never is") {
  ready_state x;
  std::thread other{[&] { x.close(); }};
  CHECK_FALSE(x.wait({}));
  other.join();
  x.end_part();
  CHECK(x.closed());
  CHECK_FALSE(x.ready());
  CHECK(readable(x));
  ready_state full{[] { return true; }}; // found when it would be ready
  full.end_part();
  CHECK(full.closed());
}
