// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <random>
#include <vector>

#include "stream/sequence_checker.hpp"

using pubsub::tool::bench::sequence_checker;
using pubsub::tool::bench::sequence_result;

namespace {

sequence_result check(std::uint64_t published, const std::vector<std::uint64_t>& arrivals) {
  sequence_checker checker;
  for (auto number : arrivals)
    checker.visit(number);
  return checker.result(published);
}

void check_counts(const sequence_result& x, std::uint64_t delivered, std::uint64_t duplicated,
                  std::uint64_t reordered, std::uint64_t missing) {
  CHECK(x.delivered == delivered);
  CHECK(x.duplicated == duplicated);
  CHECK(x.reordered == reordered);
  CHECK(x.missing == missing);
  CHECK(x.published == x.delivered + x.missing);
}

} // namespace

TEST_CASE("a complete stream in order is perfect") {
  auto result = check(4, {0, 1, 2, 3});
  check_counts(result, 4, 0, 0, 0);
  CHECK(result.perfect());
  CHECK(check(0, {}).perfect());
}

TEST_CASE("loss at the start, inside and at the end is counted") {
  check_counts(check(4, {1, 2, 3}), 3, 0, 0, 1);
  check_counts(check(6, {0, 3, 5}), 3, 0, 0, 3);
  check_counts(check(4, {0, 1}), 2, 0, 0, 2);
  check_counts(check(4, {}), 0, 0, 0, 4);
  CHECK_FALSE(check(4, {0, 1, 2}).perfect());
}

TEST_CASE("a number that comes again is a duplicate, whenever it comes") {
  check_counts(check(3, {0, 0, 1, 2}), 3, 1, 0, 0);
  check_counts(check(3, {0, 1, 2, 0, 1, 2}), 3, 3, 0, 0);
  check_counts(check(4, {0, 3, 3}), 2, 1, 0, 2);
  CHECK_FALSE(check(3, {0, 0, 1, 2}).perfect());
}

TEST_CASE("a number that comes late is reordered, not lost and not a duplicate") {
  check_counts(check(4, {0, 2, 1, 3}), 4, 0, 1, 0);
  check_counts(check(6, {0, 5, 2, 1, 3, 4}), 6, 0, 4, 0);
  check_counts(check(4, {0, 2, 1, 1, 3}), 4, 1, 1, 0);
  CHECK_FALSE(check(4, {0, 2, 1, 3}).perfect());
}

TEST_CASE("numbers beyond the total are no part of the stream") {
  auto result = check(2, {0, 1, 2, 5});
  check_counts(result, 2, 0, 0, 0);
  CHECK(result.unexpected == 2);
  CHECK_FALSE(result.perfect());
  CHECK(check(3, {0, 5}).missing == 2);
}

TEST_CASE("counts agree with a plain reckoning for random loss, repetition and order") {
  std::mt19937 random{7};
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> arrivals;
    std::uint64_t published = 60;
    for (std::uint64_t i = 0; i < published; ++i)
      for (unsigned n = random() % 4; n > 0 && arrivals.size() < 200; --n)
        arrivals.push_back(i);
    std::shuffle(arrivals.begin(), arrivals.end(), random);
    std::vector<bool> seen(published);
    std::uint64_t highest = 0;
    sequence_result expected;
    for (auto number : arrivals) {
      if (seen[number])
        ++expected.duplicated;
      else if (number < highest)
        ++expected.reordered;
      expected.delivered += seen[number] ? 0 : 1;
      seen[number] = true;
      highest = std::max(highest, number);
    }
    check_counts(check(published, arrivals), expected.delivered, expected.duplicated,
                 expected.reordered, published - expected.delivered);
  }
}

TEST_CASE("too many holes cost precision for late arrivals, never the count of losses") {
  sequence_checker checker{2};
  for (std::uint64_t number : {0, 2, 4, 6}) // holes 1, 3, 5: the first is given up
    checker.visit(number);
  checker.visit(1);
  auto result = checker.result(7);
  CHECK(result.delivered == 4);
  CHECK(result.missing == 3);
  CHECK(result.duplicated == 1);
}
