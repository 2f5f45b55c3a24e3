// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/filter.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <set>

using namespace pubsub;

namespace {

/// Few letters, so that prefixes of one another are frequent.
std::string random_topic(std::mt19937& engine) {
  std::string out(engine() % 6, ' ');
  for (auto& c : out)
    c = "/ab"[engine() % 3];
  return out;
}

/// What a filter should be, in the plainest words.
class naive_filter {
public:
  bool add(const std::string& prefix) {
    const bool news = !matches(prefix);
    all_.insert(prefix);
    return news;
  }
  bool matches(std::string_view topic) const {
    return std::ranges::any_of(all_, [&](const auto& each) { return topic.starts_with(each); });
  }
  std::vector<std::string> minimal() const {
    std::vector<std::string> out;
    for (const auto& each : all_)
      if (std::ranges::none_of(
              all_, [&](const auto& other) { return other != each && each.starts_with(other); }))
        out.push_back(each);
    return out;
  }

private:
  std::set<std::string> all_;
};

} // namespace

TEST_CASE("a filter is minimal and sorted whatever the order of adding") {
  filter x{"/b", "/a/c", "/a", "/c/d", "/c"};
  CHECK(to_string(x) == "{/a, /b, /c}");
  CHECK_FALSE(x.add("/a"));
  CHECK_FALSE(x.add("/abc"));
  CHECK(x.add("/"));
  CHECK(to_string(x) == "{/}");
}

TEST_CASE("the empty prefix matches everything and the empty filter nothing") {
  CHECK_FALSE(filter{}.matches(""));
  CHECK_FALSE(filter{}.matches("/a"));
  const filter all{""};
  CHECK(all.matches(""));
  CHECK(all.matches("/a"));
  CHECK(all.size() == 1);
  CHECK_FALSE(filter{all}.add("/x"));
}

TEST_CASE("bytes above 127 and zero bytes are ordinary characters") {
  filter x;
  CHECK(x.add(std::string_view{"a\0b", 3}));
  CHECK(x.add("\xff"));
  CHECK(x.matches(std::string_view{"a\0bc", 4}));
  CHECK_FALSE(x.matches("a"));
  CHECK(x.matches("\xff/x"));
  CHECK(*x.begin() < "\xff"); // plain byte order
}

TEST_CASE("a filter answers like a plain list of prefixes") {
  std::mt19937 engine{2024};
  for (int round = 0; round < 300; ++round) {
    filter real;
    naive_filter naive;
    for (int i = 0; i < 20; ++i) {
      const auto prefix = random_topic(engine);
      CHECK(real.add(prefix) == naive.add(prefix));
      const auto topic = random_topic(engine) + random_topic(engine);
      CHECK(real.matches(topic) == naive.matches(topic));
    }
    CHECK(std::vector<std::string>(real.begin(), real.end()) == naive.minimal());
    CHECK(std::ranges::is_sorted(real));
  }
}

TEST_CASE("a filter made at once is the filter made one by one") {
  std::mt19937 engine{11};
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> prefixes(engine() % 20);
    std::ranges::generate(prefixes, [&] { return random_topic(engine); });
    filter one_by_one;
    for (const auto& each : prefixes)
      one_by_one.add(each);
    CHECK(filter{prefixes} == one_by_one);
  }
}

TEST_CASE("a filter of many prefixes is made quickly, even if they come in falling order") {
  std::vector<std::string> prefixes;
  for (int i = 300'000; i > 0; --i)
    prefixes.push_back("/" + std::to_string(1'000'000 + i) + "/");
  const auto begin = std::chrono::steady_clock::now();
  CHECK(filter{prefixes}.size() == prefixes.size());
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{10}); // not minutes
}

TEST_CASE("merging filters is adding their entries") {
  std::mt19937 engine{7};
  for (int round = 0; round < 200; ++round) {
    filter x;
    filter y;
    filter both;
    for (int i = 0; i < 5; ++i) {
      const auto a = random_topic(engine);
      const auto b = random_topic(engine);
      x.add(a);
      y.add(b);
      both.add(a);
      both.add(b);
    }
    const auto before = x;
    const bool changed = x.add(y);
    CHECK(changed == (x != before));
    CHECK(x == both);
  }
}
