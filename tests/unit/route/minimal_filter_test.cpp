#include "route/minimal_filter.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>

using namespace pubsub;

TEST_CASE("a filter made at once is the filter made one by one") {
  std::mt19937 engine{5};
  CHECK(minimal_filter({}) == filter{});
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> prefixes(engine() % 20);
    for (auto& each : prefixes)
      for (auto n = engine() % 4; n > 0; --n)
        each += "ab\xff"[engine() % 3];
    filter one_by_one;
    for (const auto& each : prefixes)
      one_by_one.add(each);
    CHECK(minimal_filter({prefixes.begin(), prefixes.end()}) == one_by_one);
  }
}
