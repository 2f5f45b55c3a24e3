// SPDX-License-Identifier: BSD-3-Clause
#include "node/peering/back_off.hpp"

#include <set>
#include <vector>

#include <doctest/doctest.h>

using namespace pubsub;
using namespace std::chrono_literals;

namespace {

std::vector<back_off::delay> delays(back_off from, std::size_t n) {
  std::vector<back_off::delay> result;
  for (std::size_t i = 0; i < n; ++i)
    result.push_back(from.next());
  return result;
}

bool near(back_off::delay x, back_off::delay base) {
  return x >= base * 3 / 4 && x <= base * 5 / 4;
}

} // namespace

TEST_CASE("each delay is about twice the one before, up to the longest") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto all = delays({1000ms, 30'000ms, seed}, 12);
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(near(all[i], 1000ms * (1 << i)));
    for (std::size_t i = 5; i < all.size(); ++i) {
      CHECK(near(all[i], 24'000ms));
      CHECK(all[i] <= 30'000ms);
    }
  }
}

TEST_CASE("a success starts over") {
  back_off x{100ms, 10'000ms, 7};
  for (int i = 0; i < 6; ++i)
    x.next();
  x.reset();
  CHECK(near(x.next(), 100ms));
  CHECK(near(x.next(), 200ms));
}

TEST_CASE("equal seeds give equal delays, others spread over the whole jitter") {
  CHECK(delays({1000ms, 30'000ms, 5}, 8) == delays({1000ms, 30'000ms, 5}, 8));
  std::set<back_off::delay> first;
  for (std::uint64_t seed = 0; seed < 1000; ++seed)
    first.insert(back_off{1000ms, 30'000ms, seed}.next());
  CHECK(first.size() > 300);
  CHECK(*first.begin() < 760ms);
  CHECK(*first.rbegin() > 1240ms);
}

TEST_CASE("a longest delay below the first one, and a first of nothing, make no busy loop") {
  for (const auto each : delays({1000ms, 10ms, 3}, 10))
    CHECK(near(each, 1000ms));
  for (const auto each : delays({0ms, 0ms, 3}, 10))
    CHECK((each >= 1ms && each < 2ms));
}
