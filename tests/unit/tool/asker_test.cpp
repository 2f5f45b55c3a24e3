// SPDX-License-Identifier: BSD-3-Clause
#include "top/asker.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <vector>

#include "support/eventually.hpp"

using namespace pubsub;
using namespace pubsub::tool;

namespace {

/// The answers, once there are so many.
std::vector<answer> wait_for(asker& from, std::size_t n) {
  std::vector<answer> result;
  CHECK(test::eventually([&] {
    for (auto& each : from.take())
      result.push_back(std::move(each));
    return result.size() >= n;
  }));
  return result;
}

} // namespace

TEST_CASE("each question has its answer") {
  asker x{4};
  for (int i = 0; i < 200; ++i)
    x.ask(std::to_string(i), expectation::soon,
          [i]() -> expected<std::string> { return "of " + std::to_string(i); });
  const auto answers = wait_for(x, 200);
  CHECK(answers.size() == 200);
  for (const auto& each : answers)
    CHECK(*each.text == "of " + each.about);
  CHECK(x.settled());
}

TEST_CASE("about the same one question is asked at a time") {
  test::gate go_on;
  std::atomic<int> asked = 0;
  asker x{4};
  const auto question = [&]() -> expected<std::string> {
    ++asked;
    go_on.wait();
    return std::string{};
  };
  for (int i = 0; i < 10; ++i)
    x.ask("a", expectation::soon, question);
  CHECK_FALSE(x.settled());
  go_on.open();
  wait_for(x, 1);
  CHECK(asked == 1);
  x.ask("a", expectation::soon, question);
  wait_for(x, 1);
  CHECK(asked == 2);
}

TEST_CASE("who answers late keeps nobody else waiting") {
  test::gate time_is_over;
  std::atomic<int> waiting = 0;
  asker x{4};
  for (int i = 0; i < 50; ++i)
    x.ask("late " + std::to_string(i), expectation::late, [&]() -> expected<std::string> {
      ++waiting;
      time_is_over.wait();
      return error{errc::request_timeout};
    });
  for (int i = 0; i < 50; ++i)
    x.ask(std::to_string(i), expectation::soon,
          []() -> expected<std::string> { return std::string{}; });
  wait_for(x, 50);
  CHECK(waiting <= 2);
  CHECK(x.settled());
  time_is_over.open();
  wait_for(x, 50);
  CHECK(x.settled());
}
