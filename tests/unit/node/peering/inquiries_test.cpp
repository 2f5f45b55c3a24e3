// SPDX-License-Identifier: BSD-3-Clause
#include "node/peering/inquiries.hpp"

#include <thread>
#include <vector>

#include <doctest/doctest.h>

using namespace pubsub;
using namespace std::chrono_literals;

namespace {

using wire::reply_outcome;

bool settled(const inquiries::ticket& x) {
  return wait_until_settled(x.answer, immediately());
}

wire::reply saying(std::string text) {
  return {.body = std::move(text)};
}

/// Opens questions whose answers may be long, and notes what is asked and what comes of it.
struct asker {
  std::uint32_t ask(std::size_t most_bytes) {
    return all.open(
        most_bytes, [this](auto number) { asked.push_back(number); },
        [this](auto answer) { outcomes.push_back(answer.outcome); });
  }
  inquiries all;
  std::vector<std::uint32_t> asked;
  std::vector<reply_outcome> outcomes;
};

const inquiries::send not_sent = [](std::uint32_t) {};

} // namespace

TEST_CASE("an answer settles the question with its number and no other") {
  inquiries all;
  const auto first = all.open(not_sent);
  const auto second = all.open(not_sent);
  CHECK(first.number != second.number);
  all.answer(second.number, saying("text"));
  all.answer(12345, saying("none"));
  CHECK_FALSE(settled(first));
  CHECK(wait_until_settled(second.answer, {}));
  CHECK(second.answer.get().body == "text");
  all.answer(second.number, saying("again"));
  CHECK(second.answer.get().body == "text");
}

TEST_CASE("at the end no open question, and no later one, has an answer") {
  inquiries all;
  const auto open = all.open(not_sent);
  const auto answered = all.open(not_sent);
  all.answer(answered.number, {});
  all.end();
  REQUIRE(settled(open));
  CHECK(open.answer.get().outcome == reply_outcome::lost);
  CHECK(answered.answer.get().outcome == reply_outcome::answer);
  const auto later = all.open(not_sent);
  REQUIRE(settled(later));
  CHECK(later.answer.get().outcome == reply_outcome::lost);
}

TEST_CASE("a question that was given up has no other answer, whatever comes") {
  inquiries all;
  const auto x = all.open(not_sent);
  CHECK_FALSE(wait_until_settled(x.answer, deadline_after(0s)));
  all.answer(x.number, {.outcome = reply_outcome::too_late, .body = {}});
  all.answer(x.number, saying("late"));
  CHECK(x.answer.get().outcome == reply_outcome::too_late);
}

TEST_CASE("who waits is woken by the answer") {
  inquiries all;
  const auto x = all.open(not_sent);
  std::thread answers{[&] { all.answer(x.number, saying("here")); }};
  CHECK(wait_until_settled(x.answer, {}));
  answers.join();
}

TEST_CASE("no more is asked at a time than a peer answers; the rest waits for its turn") {
  asker x;
  const auto half = peering_tuning::most_bytes_asked / 2;
  const auto first = x.ask(half);
  const auto second = x.ask(half);
  const auto third = x.ask(1);
  const auto given_up = x.ask(1);
  const auto ticket = x.all.open([&](auto number) { x.asked.push_back(number); });
  CHECK(x.asked == std::vector{first, second, ticket.number}); // the last has no body
  x.all.answer(given_up, {.outcome = reply_outcome::too_late, .body = {}});
  x.all.answer(first, saying("a"));
  CHECK(x.asked == std::vector{first, second, ticket.number, third});
  x.all.end();
  CHECK(x.outcomes == std::vector{reply_outcome::too_late, reply_outcome::answer,
                                  reply_outcome::lost, reply_outcome::lost});
}

TEST_CASE(
    "one question whose answer may be longer than all that is asked at a time is asked alone") {
  asker x;
  const auto large = x.ask(2 * peering_tuning::most_bytes_asked);
  const auto next = x.ask(1);
  CHECK(x.asked == std::vector{large});
  x.all.answer(large, {});
  CHECK(x.asked == std::vector{large, next});
}
