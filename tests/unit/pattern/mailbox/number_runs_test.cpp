#include "pattern/mailbox/number_runs.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>

using namespace pubsub;

TEST_CASE("numbers that follow one another are one run") {
  number_list all;
  for (const auto each : {5, 6, 7, 3, 4, 9})
    all.append(static_cast<std::uint64_t>(each));
  CHECK(all.size() == 6);
  CHECK(all.runs() == std::vector<number_run>{{5, 3}, {3, 2}, {9, 1}});
  all.clear();
  CHECK(all.size() == 0);
  CHECK(all.runs().empty());
}

TEST_CASE("a set of numbers answers like a plain set, whatever the order") {
  std::mt19937 engine{7};
  for (int round = 0; round < 200; ++round) {
    number_set all;
    std::set<std::uint64_t> plain;
    for (int i = 0; i < 60; ++i) {
      const auto number = engine() % 40;
      CHECK(all.insert(number) == plain.insert(number).second);
      const number_run run{engine() % 40, 1 + engine() % 3};
      if (engine() % 4 == 0) {
        all.insert(run);
        for (std::uint64_t each = 0; each < run.count; ++each)
          plain.insert(run.first + each);
      }
      std::uint64_t low = 0;
      while (plain.contains(low))
        ++low;
      CHECK(all.low() == low);
      std::set<std::uint64_t> again;
      for (const auto& [first, count] : all.above())
        for (auto each = first; each < first + count; ++each)
          CHECK(again.insert(each).second);
      for (const auto each : plain)
        CHECK((each < low || again.contains(each)));
      CHECK(again.size() + low == plain.size());
      if (engine() % 20 == 0) {
        const auto below = engine() % 12;
        all.raise(below);
        for (std::uint64_t each = 0; each < below; ++each)
          plain.insert(each);
      }
      const auto other = engine() % 45;
      CHECK(all.contains(other) == plain.contains(other));
    }
  }
}
