// SPDX-License-Identifier: BSD-3-Clause
#include "node/broker_mesh/relayed_copies.hpp"

#include <memory>

#include <doctest/doctest.h>

using namespace pubsub;

TEST_CASE("what has come before with more hops left is a copy") {
  relayed_copies seen;
  CHECK_FALSE(seen.is_copy("/t 1", 16, 100));
  CHECK(seen.is_copy("/t 1", 13, 100));
  CHECK(seen.is_copy("/t 1", 1, 101));
  CHECK_FALSE(seen.is_copy("/t 2", 13, 101));
}

TEST_CASE("equal messages of one publisher are no copies of each other") {
  relayed_copies seen;
  for (const unsigned hops_left : {16U, 13U, 2U}) {
    relayed_copies fresh;
    for (int i = 0; i < 100; ++i)
      CHECK_FALSE(fresh.is_copy("/heartbeat", hops_left, 100));
  }
}

TEST_CASE("equal messages of a direct peer and its neighbour are no copies of each other") {
  relayed_copies seen;
  CHECK_FALSE(seen.is_copy("/up", 16, 100));
  CHECK_FALSE(seen.is_copy("/up", 15, 100));
  CHECK(seen.is_copy("/up", 14, 100));
}

TEST_CASE(
    "after a while an equal message is a new one, also where the clock's 16 bits begin again") {
  relayed_copies seen;
  for (const std::uint32_t now : {100U, 65'534U, 200'000U}) {
    CHECK_FALSE(seen.is_copy("/t", 16, now));
    CHECK(seen.is_copy("/t", 10, now + relayed_copies::memory_s));
    CHECK_FALSE(seen.is_copy("/t", 10, now + relayed_copies::memory_s + 1));
  }
}

TEST_CASE("hop limits beyond all bounds are as good as the highest") {
  relayed_copies seen;
  CHECK_FALSE(seen.is_copy("/t", 65'535, 100));
  CHECK(seen.is_copy("/t", 14, 100));
}
