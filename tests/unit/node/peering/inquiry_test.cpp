#include "node/peering/inquiry.hpp"

#include <thread>

#include <doctest/doctest.h>

using namespace pubsub;
using namespace std::chrono_literals;

namespace {

bool settled(const inquiries::ticket& x) {
  return wait_until_settled(x.answer, immediately());
}

} // namespace

TEST_CASE("an answer settles the question with its number and no other") {
  inquiries all;
  const auto first = all.open();
  const auto second = all.open();
  CHECK(first.number != second.number);
  all.answer(second.number, "text");
  all.answer(12345, "none");
  CHECK_FALSE(settled(first));
  CHECK(wait_until_settled(second.answer, {}));
  CHECK(second.answer.get() == "text");
  all.answer(second.number, "again");
  CHECK(second.answer.get() == "text");
}

TEST_CASE("at the end no open question, and no later one, has an answer") {
  inquiries all;
  const auto open = all.open();
  const auto answered = all.open();
  all.answer(answered.number, "");
  all.end();
  REQUIRE(settled(open));
  CHECK_FALSE(open.answer.get());
  CHECK(answered.answer.get() == "");
  const auto later = all.open();
  REQUIRE(settled(later));
  CHECK_FALSE(later.answer.get());
}

TEST_CASE("a question that is forgotten has no answer, whatever comes") {
  inquiries all;
  const auto x = all.open();
  CHECK_FALSE(wait_until_settled(x.answer, deadline_after(0s)));
  all.forget(x.number);
  all.answer(x.number, "late");
  CHECK_FALSE(x.answer.get());
}

TEST_CASE("who waits is woken by the answer") {
  inquiries all;
  const auto x = all.open();
  std::thread answers{[&] { all.answer(x.number, "here"); }};
  CHECK(wait_until_settled(x.answer, {}));
  answers.join();
}
