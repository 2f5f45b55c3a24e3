// SPDX-License-Identifier: BSD-3-Clause
#include "route/radix_tree.hpp"

#include "support/allocations.hpp"

#include <pubsub/topic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <thread>

using namespace pubsub;

namespace {

using tree = radix_tree<std::size_t>;

std::string key_of(std::size_t n) {
  auto digits = std::to_string(n);
  return "/site/sensor/" + std::string(7 - digits.size(), '0') + digits + '\n';
}

tree filled(std::size_t n) {
  tree result;
  for (std::size_t i = 0; i < n; ++i)
    result.insert(key_of(i), i);
  return result;
}

std::vector<std::size_t> found(const tree& in, std::string_view text) {
  std::vector<std::size_t> result;
  in.visit_prefixes(text, '\n', [&](std::size_t value) {
    result.push_back(value);
    return true;
  });
  return result;
}

} // namespace

TEST_CASE("a key is inserted once and erased once, and the last one leaves nothing") {
  tree x;
  CHECK(x.empty());
  CHECK(x.insert("a\n", 1));
  CHECK(x.insert("ab\n", 2));
  CHECK_FALSE(x.insert("ab\n", 3));
  CHECK(x.contains("a\n"));
  CHECK_FALSE(x.contains("a"));
  CHECK_FALSE(x.contains("ab\n\n"));
  CHECK(found(x, "abc") == std::vector<std::size_t>{1, 2});
  CHECK(x.erase("a\n"));
  CHECK_FALSE(x.erase("a\n"));
  CHECK(found(x, "abc") == std::vector<std::size_t>{2});
  CHECK(x.erase("ab\n"));
  CHECK(x.empty());
}

TEST_CASE("a change among 100,000 entries that somebody looks at takes a few heap blocks") {
  auto x = filled(100'000);
  constexpr std::uint64_t few = 12; // a node on each of some ten levels
  for (const std::size_t n : {0u, 77'777u, 99'999u}) {
    const auto looked_at = x;
    const auto key = key_of(n);
    auto before = test::allocations();
    CHECK(x.erase(key));
    CHECK(test::allocations() - before <= few);
    CHECK(found(looked_at, key.substr(0, 20)) == std::vector{n});
    CHECK(found(x, key.substr(0, 20)).empty());

    const auto looked_at_too = x;
    before = test::allocations();
    CHECK(x.insert(key, n));
    CHECK(test::allocations() - before <= few);
    CHECK(found(looked_at_too, key.substr(0, 20)).empty());
    CHECK(found(x, key.substr(0, 20)) == std::vector{n});
  }
}

TEST_CASE("a change that nobody looks at replaces one node") {
  auto x = filled(10'000);
  const auto key = key_of(5'000);
  auto before = test::allocations();
  CHECK(x.erase(key));
  CHECK(test::allocations() - before == 1);
  before = test::allocations();
  CHECK(x.insert(key, 5'000));
  CHECK(test::allocations() - before == 2); // and the leaf
}

TEST_CASE("a copy costs no heap block") {
  const auto x = filled(1'000);
  const auto before = test::allocations();
  const auto copy = x;
  CHECK(test::allocations() == before);
  CHECK(copy.contains(key_of(999)));
}

TEST_CASE("a tree as deep as the longest topic is searched, changed and destroyed") {
  std::string longest(topic::max_size_bytes, 'x');
  tree x;
  for (std::size_t n = longest.size() + 3; n >= 3; n -= 3) // each goes in near the root
    x.insert(longest.substr(0, n - 3) + '\n', n - 3);
  CHECK(found(x, longest).size() == longest.size() / 3 + 1);
  const auto copy = x;
  CHECK(x.erase(longest + '\n'));
  CHECK(found(copy, longest).back() == longest.size());
  CHECK(found(x, longest).back() == longest.size() - 3);
}

TEST_CASE("a million entries are found one by one, and destroyed") {
  const auto x = filled(1'000'000);
  std::size_t missing = 0;
  for (std::size_t i = 0; i < 1'000'000; i += 7)
    missing += found(x, key_of(i).substr(0, 20)) != std::vector{i};
  CHECK(missing == 0);
}

TEST_CASE("copies are read and destroyed by other threads while the tree changes") {
  auto x = filled(300);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread> readers;
    for (int n = 0; n < 2; ++n)
      readers.emplace_back([copy = x]() mutable {
        std::size_t present = 0;
        for (std::size_t i = 0; i < 300; ++i)
          present += found(copy, key_of(i).substr(0, 20)).size();
        if (present != 300)
          std::abort();
        copy = {};
      });
    for (std::size_t i = 0; i < 300; i += 2)
      x.erase(key_of(i));
    for (std::size_t i = 0; i < 300; i += 2)
      x.insert(key_of(i), i);
    for (auto& each : readers)
      each.join();
  }
  CHECK(found(x, key_of(299).substr(0, 20)) == std::vector<std::size_t>{299});
}
