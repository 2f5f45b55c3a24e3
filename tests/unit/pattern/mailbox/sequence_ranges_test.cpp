// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/mailbox/sequence_ranges.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>

using namespace pubsub;

TEST_CASE("numbers that follow one another are one run") {
  sequence_list all;
  for (const auto each : {5, 6, 7, 3, 4, 9})
    all.append(static_cast<std::uint64_t>(each));
  CHECK(all.size() == 6);
  CHECK(all.runs() == std::vector<sequence_range>{{5, 3}, {3, 2}, {9, 1}});
  all.clear();
  CHECK(all.size() == 0);
  CHECK(all.runs().empty());
}

TEST_CASE("a part of some runs is where it should be, whatever they are cut into") {
  const std::vector<sequence_range> runs{{10, 3}, {20, 1}, {30, 5}};
  const auto part = [&](std::uint64_t skipped, std::uint64_t n) {
    std::vector<sequence_range> result;
    for_each_part(runs, skipped, n, [&](const sequence_range& x) { result.push_back(x); });
    return result;
  };
  CHECK(part(0, 9) == runs);
  CHECK(part(1, 2) == std::vector<sequence_range>{{11, 2}});
  CHECK(part(2, 4) == std::vector<sequence_range>{{12, 1}, {20, 1}, {30, 2}});
  CHECK(part(3, 1) == std::vector<sequence_range>{{20, 1}});
  CHECK(part(8, 5) == std::vector<sequence_range>{{34, 1}});
  CHECK(part(9, 1).empty());
  CHECK(part(4, 0).empty());
}

TEST_CASE("a set of numbers answers like a plain set, whatever the order") {
  std::mt19937 engine{7};
  for (int round = 0; round < 200; ++round) {
    sequence_set all;
    std::set<std::uint64_t> plain;
    for (int i = 0; i < 60; ++i) {
      const auto number = engine() % 40;
      all.insert({number, 1});
      plain.insert(number);
      const sequence_range run{engine() % 40, 1 + engine() % 9};
      if (engine() % 4 == 0) {
        std::uint64_t fresh = 0;
        all.insert(run, [&](const sequence_range& part) {
          for (auto each = part.first; each < part.first + part.count; ++each, ++fresh)
            CHECK(!plain.contains(each));
        });
        const auto before = plain.size();
        for (std::uint64_t each = 0; each < run.count; ++each)
          plain.insert(run.first + each);
        CHECK(fresh == plain.size() - before);
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
    }
  }
}
