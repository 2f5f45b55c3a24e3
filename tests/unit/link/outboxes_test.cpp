// SPDX-License-Identifier: BSD-3-Clause
#include "link/native_protocol.hpp"

#include <doctest/doctest.h>

using namespace pubsub;

namespace {

constexpr std::byte empty_frame[] = {std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}};

struct outboxes_under_test {
  explicit outboxes_under_test(std::function<void()> on_work = [] {})
      : boxes{{}, {std::move(on_work)}} {}

  /// How many frames a take gives.
  std::size_t take() {
    out.clear();
    writer.take(boxes, out);
    return out.slices.size();
  }
  /// The last byte of a frame taken.
  int mark(std::size_t n) const {
    const auto& slice = out.slices.at(n).slice;
    return std::to_integer<int>(slice.run->bytes()[slice.from.bytes + slice.size.bytes - 1]);
  }

  outboxes boxes;
  native_protocol writer{nullptr};
  gathered_write out;
};

} // namespace

TEST_CASE("the writer is called by who pushes, and never while it takes") {
  int calls = 0;
  bool taking = false;
  outboxes_under_test f{[&] {
    CHECK_FALSE(taking); // it would wait for itself
    ++calls;
  }};
  CHECK(f.take() == 0);
  for (int round = 1; round <= 3; ++round) {
    f.boxes.push_last(empty_frame);
    CHECK(calls == round);
    taking = true;
    CHECK(f.take() == 1);
    CHECK(f.take() == 0); // the writer is idle again
    taking = false;
  }
}

TEST_CASE("what is pushed last goes behind all messages, and control frames before them") {
  outboxes_under_test f;
  CHECK(f.take() == 0);
  const auto marked = [](int n) {
    return std::array{std::byte{0}, std::byte{0}, std::byte{0}, static_cast<std::byte>(n)};
  };
  f.boxes.push_last(marked(3));
  f.boxes.out(0).push_control(marked(2)); // as a message would wait
  f.boxes.push_control(marked(1));
  REQUIRE(f.take() == 2);
  CHECK(f.mark(0) == 1);
  CHECK(f.mark(1) == 2);
  REQUIRE(f.take() == 1);
  CHECK(f.mark(0) == 3);
  CHECK(f.take() == 0);
}

TEST_CASE("what a link relays is bounded together, however far it has come, and apart from what is "
          "published here") {
  constexpr std::size_t capacity = 64;
  constexpr std::size_t part = capacity / queue_bounds::own_part;
  outboxes boxes{{overflow_policy::drop_newest, capacity, 1 << 20}, {[] {}}};
  auto memory = chunk::make(sizeof empty_frame);
  std::ranges::copy(empty_frame, memory->data());
  const auto push = [&](std::size_t hops) {
    return boxes.out(hops).push(message_run::of_frames(memory.get(), memory->data(), {1, 4}));
  };
  for (std::size_t hops = 1; hops < wire::max_hops; ++hops)
    for (std::size_t i = 0; i < capacity; ++i)
      CHECK(push(hops) ==
            (i < (hops == 1 ? capacity : part) ? push_result::taken : push_result::dropped));
  CHECK(boxes.counters().queued == capacity + (wire::max_hops - 2) * part);
  for (std::size_t i = 0; i < capacity; ++i)
    CHECK(push(0) == push_result::taken);
  CHECK(push(0) == push_result::dropped);
  std::vector<run_slice> taken;
  boxes.out(1).take(taken, 1000, 1'000'000);
  boxes.out(1).written({capacity, capacity * sizeof empty_frame});
  CHECK(push(2) == push_result::taken); // there is room again
}
