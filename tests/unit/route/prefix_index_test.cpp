// SPDX-License-Identifier: BSD-3-Clause
#include "route/prefix_index.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>

using namespace pubsub;

namespace {

using index_type = prefix_index<int>;
using found_type = std::vector<std::pair<std::uint64_t, int>>;

found_type match(const index_type& index, std::string_view topic) {
  std::vector<const index_type::target*> found;
  index.match(topic, found);
  found_type result;
  for (const auto* each : found)
    result.emplace_back(each->who, each->exit);
  CHECK(index.count(topic) == result.size());
  return result;
}

/// The index in the plainest words.
struct plain_index {
  std::set<std::pair<std::string, std::uint64_t>> entries;

  found_type match(std::string_view topic) const {
    std::map<std::uint64_t, int> result;
    for (const auto& [prefix, who] : entries)
      if (topic.starts_with(prefix))
        result.emplace(who, static_cast<int>(who) * 10);
    return {result.begin(), result.end()};
  }
};

/// Few letters, so that prefixes meet; among them the bytes that keys spell otherwise.
std::string random_topic(std::mt19937& engine, std::size_t longest) {
  static constexpr std::string_view letters{"/ab\0\1\2\xff", 7};
  std::string out(engine() % (longest + 1), ' ');
  for (auto& c : out)
    c = letters[engine() % 3 == 0 ? engine() % letters.size() : engine() % 3];
  return out;
}

} // namespace

TEST_CASE("an index without entries matches nothing") {
  CHECK(match({}, "").empty());
  CHECK(match({}, "/a").empty());
}

TEST_CASE("a target with several matching prefixes is found once") {
  index_type index;
  CHECK(index.add("/a", 3, 30));
  CHECK(index.add("/a/b", 3, 30));
  CHECK(index.add("", 3, 30));
  CHECK(index.add("/a/b", 1, 10));
  CHECK(match(index, "/a/b/c") == found_type{{1, 10}, {3, 30}});
  CHECK(match(index, "/a") == found_type{{3, 30}});
  CHECK(match(index, "") == found_type{{3, 30}});
}

TEST_CASE("an entry is added once and removed once") {
  index_type index;
  CHECK(index.add("/a", 1, 10));
  CHECK_FALSE(index.add("/a", 1, 11));
  CHECK(match(index, "/a") == found_type{{1, 10}});
  CHECK_FALSE(index.remove("/", 1));
  CHECK_FALSE(index.remove("/a", 2));
  CHECK_FALSE(index.remove("/ab", 1));
  CHECK(index.remove("/a", 1));
  CHECK_FALSE(index.remove("/a", 1));
  CHECK(match(index, "/a").empty());
}

TEST_CASE("targets of one prefix come in the order of their numbers") {
  index_type index;
  const std::vector<std::uint64_t> numbers{0, 1, 255, 256, 65'535, 1u << 16, 1ull << 40, ~0ull};
  for (auto who = numbers.rbegin(); who != numbers.rend(); ++who)
    CHECK(index.add("/a", *who, 0));
  found_type wanted;
  for (const auto who : numbers)
    wanted.emplace_back(who, 0);
  CHECK(match(index, "/a/b") == wanted);
}

TEST_CASE("an index finds what comparing with every prefix finds, after any changes") {
  std::mt19937 engine{99};
  for (int round = 0; round < 40; ++round) {
    index_type index;
    plain_index plain;
    for (int step = 0; step < 500; ++step) {
      const auto prefix = random_topic(engine, 6);
      const std::uint64_t who = engine() % 300;
      if (engine() % (1 + step / 100) < 2)
        CHECK(index.add(prefix, who, static_cast<int>(who) * 10) ==
              plain.entries.emplace(prefix, who).second);
      else if (engine() % 2 == 0 || plain.entries.empty())
        CHECK(index.remove(prefix, who) == (plain.entries.erase({prefix, who}) > 0));
      else {
        auto entry = plain.entries.lower_bound({prefix, 0});
        if (entry == plain.entries.end())
          entry = plain.entries.begin();
        CHECK(index.remove(entry->first, entry->second));
        plain.entries.erase(entry);
      }
      const auto topic = random_topic(engine, 9);
      CHECK(match(index, topic) == plain.match(topic));
    }
    while (!plain.entries.empty()) {
      const auto [held, by] = *plain.entries.begin();
      CHECK(index.remove(held, by));
      plain.entries.erase(plain.entries.begin());
      CHECK(match(index, held) == plain.match(held));
    }
  }
}

TEST_CASE("copies of an index answer as of their time") {
  std::mt19937 engine{7};
  index_type index;
  plain_index plain;
  std::vector<std::pair<index_type, plain_index>> past;
  for (int step = 0; step < 2000; ++step) {
    const auto prefix = random_topic(engine, 5);
    const std::uint64_t who = engine() % 20;
    if (engine() % 2 == 0) {
      index.add(prefix, who, static_cast<int>(who) * 10);
      plain.entries.emplace(prefix, who);
    } else {
      index.remove(prefix, who);
      plain.entries.erase({prefix, who});
    }
    if (step % 40 == 0)
      past.emplace_back(index, plain);
    if (step % 200 == 199)
      past.erase(past.begin() + static_cast<std::ptrdiff_t>(engine() % past.size()));
  }
  for (const auto& [then, expected] : past)
    for (int i = 0; i < 50; ++i) {
      const auto topic = random_topic(engine, 8);
      CHECK(match(then, topic) == expected.match(topic));
    }
}

TEST_CASE("a visit ends when it is told to") {
  index_type index;
  index.add("", 1, 1);
  index.add("/a", 2, 2);
  index.add("/a/b", 3, 3);
  int visits = 0;
  CHECK_FALSE(index.visit("/a/b", [&](const auto& each) { return ++visits, each.who != 2; }));
  CHECK(visits == 2);
  CHECK(index.visit("/a/b", [&](const auto&) { return ++visits, true; }));
  CHECK(visits == 5);
}

TEST_CASE("a target that has had a prefix only since later does not match with it") {
  index_type index;
  CHECK(index.add("/t", 1, 10, 5));
  CHECK(index.add("/t/x", 1, 10, 3));
  CHECK(index.add("/t", 2, 20, 4));
  const auto until = [&](std::uint64_t number) {
    std::vector<const index_type::target*> found;
    index.match("/t/x", found, number);
    std::vector<std::uint64_t> result;
    for (const auto* each : found)
      result.push_back(each->who);
    return result;
  };
  CHECK(until(2).empty());
  CHECK(until(3) == std::vector<std::uint64_t>{1});
  CHECK(until(4) == std::vector<std::uint64_t>{1, 2});
  CHECK(until(index_type::whenever) == std::vector<std::uint64_t>{1, 2});
}
