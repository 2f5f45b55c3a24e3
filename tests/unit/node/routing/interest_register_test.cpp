// SPDX-License-Identifier: BSD-3-Clause
#include "node/routing/interest_register.hpp"

#include "support/ids.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;

namespace {

const auto asker = id_of(1);

/// So many want the topic; the asker is none of them.
struct wanted_topic {
  std::size_t count(std::size_t most) {
    counted += std::min(wanting, most);
    return std::min(wanting, most);
  }
  auto how_many() {
    return [this](const auto&, std::size_t most) { return count(most); };
  }
  static auto wants() {
    return [](const auto&, const auto&) { return false; };
  }
  auto under() {
    return [this](const auto&) { return conditions; };
  }
  /// What the asker is told.
  std::vector<std::uint32_t> look() {
    all.look("/t", how_many(), wants(), under(), {}, news);
    return told();
  }
  std::vector<std::uint32_t> look_at_outdated() {
    all.look_at_outdated(how_many(), wants(), {}, news);
    return told();
  }
  std::vector<std::uint32_t> told() {
    std::vector<std::uint32_t> result;
    for (const auto& each : std::exchange(news, {}))
      result.push_back(each.what.number);
    return result;
  }

  interest_register all;
  std::size_t wanting = 0;
  std::vector<std::string> conditions;
  std::size_t counted = 0;
  std::vector<interest_news> news;
};

using numbers = std::vector<std::uint32_t>;

} // namespace

TEST_CASE("a client is told at once whether a topic is wanted, and later by how many") {
  wanted_topic f;
  REQUIRE(f.all.ask(asker, {"/t", 1'000}));
  CHECK(f.look() == numbers{0});
  f.wanting = 1;
  CHECK(f.look() == numbers{1});
  f.wanting = 2;
  CHECK(f.look() == numbers{2});
  f.wanting = 3;
  CHECK(f.look().empty());
  CHECK(f.all.any_outdated());
  CHECK(f.look_at_outdated() == numbers{3});
  CHECK_FALSE(f.all.any_outdated());
  f.wanting = 1;
  CHECK(f.look() == numbers{1});
  f.wanting = 0;
  CHECK(f.look() == numbers{0});
}

TEST_CASE("where many want a topic they are not counted with each that goes") {
  wanted_topic f;
  f.wanting = 10'000;
  REQUIRE(f.all.ask(asker, {"/t", 10'000}));
  CHECK(f.look() == numbers{10'000});
  f.counted = 0;
  while (f.wanting > 5'000) {
    --f.wanting;
    CHECK(f.look().empty());
  }
  CHECK(f.counted == 2 * 5'000);
  CHECK(f.look_at_outdated() == numbers{5'000});
}

TEST_CASE("who asks only whether a topic is wanted is told nothing of how many that are") {
  wanted_topic f;
  REQUIRE(f.all.ask(asker, {"/t", 1}));
  for (f.wanting = 0; f.wanting < 10; ++f.wanting)
    CHECK(f.look().size() == (f.wanting < 2 ? 1 : 0));
  CHECK_FALSE(f.all.any_outdated());
}
