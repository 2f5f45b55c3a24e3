#include "link/native_protocol.hpp"

#include <doctest/doctest.h>

using namespace pubsub;

namespace {

constexpr std::byte frame[] = {std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}};

struct fixture {
  explicit fixture(std::function<void()> on_work = [] {}) : boxes{{}, {std::move(on_work)}} {}

  /// How many frames a take gives.
  std::size_t take(std::size_t max_slices = 100) {
    std::vector<outgoing_slice> out;
    writer.take(boxes, out, max_slices, 1'000'000);
    return out.size();
  }

  outboxes boxes;
  native_protocol writer{nullptr};
};

} // namespace

TEST_CASE("the writer is called by who pushes, and never while it takes") {
  int calls = 0;
  bool taking = false;
  fixture f{[&] {
    CHECK_FALSE(taking); // it would wait for itself
    ++calls;
  }};
  CHECK(f.take() == 0);
  for (int round = 1; round <= 3; ++round) {
    f.boxes.push_last(frame);
    CHECK(calls == round);
    taking = true;
    CHECK(f.take() == 1);
    CHECK(f.take() == 0); // the writer is idle again
    taking = false;
  }
}

TEST_CASE("what is pushed last goes behind all messages, and control frames before them") {
  fixture f;
  CHECK(f.take() == 0);
  f.boxes.push_last(frame);
  f.boxes.push_behind(0, frame); // as a message would wait
  f.boxes.push_control(frame);
  CHECK(f.take(1) == 1);
  CHECK(f.take(1) == 1);
  CHECK(f.take() == 1); // the last
  CHECK(f.take() == 0);
}
