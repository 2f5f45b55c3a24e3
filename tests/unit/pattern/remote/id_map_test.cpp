// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/remote/id_map.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <vector>

using pubsub::pattern::id_map;

TEST_CASE("id_map things are found until they are given up") {
  id_map<int> all;
  CHECK(all.find(0) == nullptr);
  for (int i = 0; i < 1000; ++i)
    REQUIRE(all.add(i * 2) == static_cast<std::uint64_t>(i));
  CHECK(all.size() == 1000);
  CHECK(*all.find(999) == 1998);
  CHECK(all.find(1000) == nullptr);
  all.erase(500);
  CHECK(all.find(500) == nullptr);
  CHECK(*all.find(501) == 1002);
  CHECK(all.size() == 999);
}

TEST_CASE("id_map things are visited in their order, and may be given up meanwhile") {
  id_map<int> all;
  for (int i = 0; i < 700; ++i)
    all.add(i);
  for (std::uint64_t i = 100; i < 600; ++i)
    all.erase(i);
  std::vector<std::uint64_t> seen;
  all.for_each([&](std::uint64_t number, int) {
    seen.push_back(number);
    all.erase(number);
  });
  CHECK(seen.size() == 200);
  CHECK(seen.front() == 0);
  CHECK(seen.back() == 699);
  CHECK(all.empty());
  CHECK(all.add(1) == 700);
}

TEST_CASE("id_map things behave as a map whatever the order in which they are given up") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random{seed};
    id_map<std::uint64_t> all;
    std::map<std::uint64_t, std::uint64_t> model;
    for (int step = 0; step < 4000; ++step) {
      if (random() % 2 == 0 || model.empty()) {
        model[all.end()] = all.end() * 3;
        all.add(all.end() * 3);
      } else {
        auto at = model.lower_bound(random() % all.end());
        if (at == model.end())
          at = model.begin();
        all.erase(at->first);
        model.erase(at);
      }
      REQUIRE(all.size() == model.size());
    }
    for (std::uint64_t i = 0; i < all.end(); ++i) {
      const auto* found = all.find(i);
      REQUIRE((found != nullptr) == model.contains(i));
      if (found != nullptr)
        REQUIRE(*found == model[i]);
    }
  }
}
