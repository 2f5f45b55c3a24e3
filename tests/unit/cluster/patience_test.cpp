// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/patience.hpp"

#include <doctest/doctest.h>

using namespace pubsub::cluster;
using namespace std::chrono_literals;

TEST_CASE("patience that was wasted comes back slowly, and up to its limit") {
  const patience::clock::time_point begin{};
  patience x{200ms, begin};
  CHECK(x.left(begin + 1h) == 200ms);
  x.wasted(200ms);
  CHECK(x.left(begin + 1h) == 0ms);
  CHECK(x.left(begin + 1h + 1s) == 1000ms / tuning::time_per_patience);
  CHECK(x.left(begin + 2h) == 200ms);
}

TEST_CASE("all waiting in vain together is a small part of the time") {
  patience x{200ms, {}};
  std::chrono::nanoseconds waited{};
  patience::clock::time_point now{};
  while (now.time_since_epoch() < 1min) { // a reader that is slow all the time
    const auto wait = x.left(now);
    x.wasted(wait);
    waited += wait;
    now += wait + 1ms;
  }
  CHECK(waited <= 200ms + 60'000ms / tuning::time_per_patience);
}
