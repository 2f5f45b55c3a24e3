// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <array>
#include <filesystem>

#include <unistd.h>

#include "versioned/version_history.hpp"

using namespace pubsub::tool::bench;

namespace {

/// Messages first, first + 1 ... of a client, under as many numbers.
history run_of(std::uint64_t first, std::uint64_t n, std::uint64_t epoch = 1) {
  history result;
  for (auto i = first; i < first + n; ++i)
    result.push_back({epoch, i + 100, 7, i, i * i});
  return result;
}

std::uint64_t violations(const history& a, const history& b, const history& acknowledged = {}) {
  const std::array both{a, b};
  return check_histories(both, acknowledged, versions::promised).violations;
}

} // namespace

TEST_CASE("replicas that have handed out the same are in order") {
  const auto all = run_of(1, 50);
  CHECK(violations(all, all, all) == 0);
  CHECK(violations({}, {}) == 0);
}

TEST_CASE("a replica may have begun later, or be behind") {
  const auto all = run_of(1, 50);
  CHECK(violations(all, run_of(20, 31)) == 0);
  CHECK(violations(all, run_of(1, 20)) == 0);
}

TEST_CASE("a gap, a step back and an older epoch are found") {
  auto gap = run_of(1, 50);
  gap.erase(gap.begin() + 20);
  CHECK(violations(gap, gap) == 2);
  auto back = run_of(1, 50);
  std::swap(back[10], back[11]);
  CHECK(violations(back, back) > 0);
  auto epochs = run_of(1, 10, 2);
  const auto older = run_of(11, 10, 1);
  epochs.insert(epochs.end(), older.begin(), older.end());
  CHECK(violations(epochs, epochs) == 2);
}

TEST_CASE("another message under a number is found, and another epoch of it") {
  const auto all = run_of(1, 50);
  auto other = all;
  other[30].digest = 1;
  CHECK(violations(all, other) == 1);
  other = all;
  for (auto& x : other)
    x.epoch = 2;
  CHECK(violations(all, other) == 50);
}

TEST_CASE("a message that came under two numbers is found") {
  auto twice = run_of(1, 50);
  auto again = twice[3];
  again.number = twice.back().number + 1;
  twice.push_back(again);
  CHECK(violations(twice, twice) == 2);
}

TEST_CASE("what was acknowledged and is missing, or has another version or value, is found") {
  const auto all = run_of(1, 50);
  CHECK(violations(all, run_of(1, 49), all) == 1);
  auto told = all;
  told[5].number = 1;
  CHECK(violations(all, all, told) == 2);
  auto sent = all;
  sent[5].digest = 1;
  CHECK(violations(all, all, sent) == 2);
}

TEST_CASE("without versions the order is free and a message may come twice, but none is missing") {
  auto a = run_of(1, 50);
  const auto all = a;
  for (auto& x : a)
    x.number = x.epoch = 0;
  auto b = a;
  std::swap(b[3], b[40]);
  auto check = [&](const history& first, const history& second) {
    const std::array both{first, second};
    return check_histories(both, all, versions::none).violations;
  };
  CHECK(check(a, b) == 0);
  b.pop_back();
  CHECK(check(a, b) == 1);
  a.push_back(a.front());
  CHECK(check(a, b) == 1);
}

TEST_CASE("of many violations the first ones are said, and all are counted") {
  const std::array both{run_of(1, 100), run_of(1, 50)};
  const auto verdict = check_histories(both, run_of(1, 100), versions::promised);
  CHECK(verdict.violations == 50);
  CHECK(verdict.sentences.size() == 10);
  CHECK(verdict.sentences.front() ==
        "replica 1 lacks message 51 of client 7, acknowledged as 1.151");
  CHECK(verdict.checked == 150);
  CHECK_FALSE(verdict.fine());
}

TEST_CASE("a history is read as it was written") {
  const auto file = (std::filesystem::temp_directory_path() /
                     ("version_history_test_" + std::to_string(::getpid())))
                        .string();
  const auto all = run_of(1, 50);
  REQUIRE(write_history(file, all));
  const auto found = read_history(file);
  REQUIRE(found);
  CHECK(*found == all);
  std::filesystem::remove(file);
  CHECK_FALSE(read_history(file));
}

TEST_CASE("digests tell values apart") {
  std::array<std::byte, 19> bytes{};
  const auto sum = digest_of(bytes);
  CHECK(digest_of(bytes) == sum);
  CHECK(digest_of(std::span{bytes}.first(18)) != sum);
  for (auto& x : bytes) {
    x = std::byte{1};
    CHECK(digest_of(bytes) != sum);
    x = std::byte{0};
  }
}
