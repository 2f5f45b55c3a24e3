#include "route/prefix_index.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>

using namespace pubsub;

namespace {

std::string random_topic(std::mt19937& engine, std::size_t longest) {
  std::string out(engine() % (longest + 1), ' ');
  for (auto& c : out)
    c = "/ab"[engine() % 3];
  return out;
}

} // namespace

TEST_CASE("an index without entries matches nothing") {
  CHECK(prefix_index{}.match("").empty());
  CHECK(prefix_index{}.match("/a").empty());
}

TEST_CASE("a target with several matching prefixes is found once") {
  prefix_index index;
  index.add("/a", 3);
  index.add("/a/b", 3);
  index.add("", 3);
  index.add("/a/b", 1);
  CHECK(index.match("/a/b/c") == std::vector<prefix_index::target>{1, 3});
  CHECK(index.match("/a") == std::vector<prefix_index::target>{3});
  CHECK(index.match("") == std::vector<prefix_index::target>{3});
}

TEST_CASE("an index finds what comparing with every prefix finds") {
  std::mt19937 engine{99};
  for (int round = 0; round < 200; ++round) {
    prefix_index index;
    std::vector<std::pair<std::string, prefix_index::target>> entries;
    for (int i = 0; i < 30; ++i) {
      entries.emplace_back(random_topic(engine, 5), engine() % 8);
      index.add(entries.back().first, entries.back().second);
    }
    for (int i = 0; i < 50; ++i) {
      const auto topic = random_topic(engine, 8);
      std::set<prefix_index::target> wanted;
      for (const auto& [prefix, target] : entries)
        if (topic.starts_with(prefix))
          wanted.insert(target);
      CHECK(index.match(topic) == std::vector<prefix_index::target>(wanted.begin(), wanted.end()));
    }
  }
}
