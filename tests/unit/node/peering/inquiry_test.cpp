#include "node/peering/inquiry.hpp"

#include <thread>

#include <doctest/doctest.h>

using namespace pubsub;
using namespace std::chrono_literals;
using outcome = inquiry::outcome;

TEST_CASE("an answer settles the question with its number and no other") {
  inquiries all;
  const auto first = all.open();
  const auto second = all.open();
  CHECK(first.number != second.number);
  all.answer(second.number, "text");
  all.answer(12345);
  CHECK(first.question->state() == outcome::open);
  CHECK(second.question->wait({}) == outcome::answered);
  CHECK(second.question->take_answer() == "text");
  all.answer(second.number, "again");
  CHECK(second.question->take_answer().empty());
}

TEST_CASE("at the end every open question, and every later one, is gone") {
  inquiries all;
  const auto open = all.open();
  const auto answered = all.open();
  all.answer(answered.number);
  all.end();
  CHECK(open.question->state() == outcome::gone);
  CHECK(answered.question->state() == outcome::answered);
  CHECK(all.open().question->state() == outcome::gone);
}

TEST_CASE("a question that is forgotten stays open, whatever comes") {
  inquiries all;
  const auto x = all.open();
  all.forget(x.number);
  all.answer(x.number, "late");
  CHECK(x.question->wait(deadline_after(0s)) == outcome::open);
}

TEST_CASE("who waits is woken by the answer") {
  inquiries all;
  const auto x = all.open();
  std::thread answers{[&] { all.answer(x.number, "here"); }};
  CHECK(x.question->wait({}) == outcome::answered);
  answers.join();
}
