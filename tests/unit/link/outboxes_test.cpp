#include "link/outboxes.hpp"

#include <doctest/doctest.h>

using namespace pubsub;

namespace {

constexpr std::byte frame[] = {std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}};

/// How many frames a take gives.
std::size_t take(outboxes& from) {
  std::vector<outgoing_slice> out;
  from.take(out, 100, 1'000'000);
  return out.size();
}

} // namespace

TEST_CASE("the writer is called by who pushes, and never while it takes") {
  int calls = 0;
  bool taking = false;
  outboxes boxes{{}, {.on_work = [&] {
                   CHECK_FALSE(taking); // it would wait for itself
                   ++calls;
                 }}};
  boxes.use_credit();
  for (int round = 1; round <= 3; ++round) {
    boxes.push_last(frame);
    CHECK(calls == round);
    taking = true;
    CHECK(take(boxes) == 1);
    CHECK(take(boxes) == 0); // the writer is idle again
    taking = false;
  }
}

TEST_CASE("what is pushed last goes behind all messages, and control frames before them") {
  outboxes boxes{{}, {.on_work = [] {}}};
  boxes.use_credit();
  CHECK(take(boxes) == 0);
  boxes.push_last(frame);
  boxes.push_behind(0, frame); // as a message would wait
  boxes.push_control(frame);
  std::vector<outgoing_slice> out;
  boxes.take(out, 1, 1'000'000);
  boxes.take(out, 2, 1'000'000);
  CHECK(out.size() == 2);
  CHECK(take(boxes) == 1); // the last
  CHECK(take(boxes) == 0);
}
