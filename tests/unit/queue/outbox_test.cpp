#include "queue/outbox.hpp"

#include "support/bounded_queues.hpp"
#include "support/eventually.hpp"

#include <doctest/doctest.h>

#include <thread>

using namespace pubsub;
using namespace pubsub::test;

namespace {

using numbers = std::vector<std::uint64_t>;
constexpr std::size_t everything = ~std::size_t{0};

/// An outbox with memory to push from and a count of how often its writer was called.
struct fixture {
  explicit fixture(queue_options options = {}) : box(options, [this] { ++calls; }) {}

  push_result push(const numbers& frames, std::uint32_t size = usual_size) {
    const auto* bytes = outbox_under_test::write_frames(memory, frames, size);
    return box.push(memory.current(), bytes, frames.size() * size,
                    static_cast<std::uint32_t>(frames.size()), when_full::wait);
  }
  void push_run(const numbers& frames, std::uint32_t size = usual_size) {
    const auto* bytes = outbox_under_test::write_frames(memory, frames, size);
    box.push_from(memory.current(), bytes, frames.size() * size,
                  static_cast<std::uint32_t>(frames.size()), {});
  }
  void push_control(std::uint64_t number) {
    slab own;
    const auto* bytes = outbox_under_test::write_frames(own, {number}, 12);
    box.push_control({bytes, 12});
  }
  std::vector<frame_run> take(std::size_t runs = everything, std::size_t bytes = everything) {
    std::vector<frame_run> out;
    box.take(out, runs, bytes);
    return out;
  }
  static numbers read(const std::vector<frame_run>& runs) {
    numbers out;
    for (const auto& each : runs)
      outbox_under_test::read_frames(each, out);
    return out;
  }

  int calls = 0;
  slab memory;
  outbox box;
};

} // namespace

TEST_CASE("frames that lie one after the other become one run") {
  fixture f;
  for (std::uint64_t i = 0; i < 100; ++i)
    f.push({i});
  const auto runs = f.take();
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].messages == 100);
  CHECK(runs[0].size_bytes == 100 * usual_size);
  CHECK(f.read(runs).back() == 99);
}

TEST_CASE("a run ends where memory or the kind of frame changes") {
  fixture f;
  f.push({1});
  f.push_control(2);
  f.push({3});
  f.memory.reserve(100);
  f.memory.commit(100); // somebody else's bytes
  f.push({4});
  const auto runs = f.take();
  CHECK(runs.size() == 4);
  CHECK(f.read(runs) == numbers{1, 2, 3, 4});
  CHECK(runs[1].messages == 0);
}

TEST_CASE("a long stream is cut into runs, so that memory returns piece by piece") {
  fixture f{{overflow_policy::block, 1 << 20, 1 << 30}};
  const auto* bytes = f.memory.reserve(4 << 20);
  for (int i = 0; i < 4 * 1024; ++i) {
    store_be(const_cast<std::byte*>(bytes) + i * 1024, 1020);
    f.box.push(f.memory.current(), bytes + i * 1024, 1024, 1, when_full::wait);
  }
  CHECK(f.take().size() == 4);
}

TEST_CASE("dropping the oldest crosses runs and keeps frames whole") {
  fixture f{{overflow_policy::drop_oldest, 5, 1 << 20}};
  f.push_run({0, 1, 2}, 40);
  f.push_control(100);
  f.push_run({3, 4}, 200); // sizes differ: a frame's end is found by its length
  f.push_run({5, 6, 7, 8}, 24);
  CHECK(f.read(f.take()) == numbers{100, 4, 5, 6, 7, 8});
  CHECK(f.box.counters().dropped_oldest == 4);
}

TEST_CASE("control frames are neither counted, bounded nor dropped") {
  for (const auto policy : {overflow_policy::drop_oldest, overflow_policy::drop_newest}) {
    fixture f{{policy, 1, 1}};
    for (std::uint64_t i = 0; i < 10; ++i)
      f.push_control(i);
    CHECK(f.box.control_bytes() == 120);
    CHECK(f.push({50}) == push_result::taken);
    f.push_control(60);
    CHECK(f.read(f.take()).size() == 12);
    CHECK(f.box.control_bytes() == 0);
    CHECK(f.box.counters().offered == 1);
  }
}

TEST_CASE("what the writer has taken is in flight: it counts but cannot be dropped") {
  fixture f{{overflow_policy::drop_oldest, 2, 1 << 20}};
  f.push({0});
  f.push({1});
  const auto flying = f.take();
  CHECK(f.push({2}) == push_result::taken); // nothing there to drop
  CHECK(f.push({3}) == push_result::dropped);
  CHECK(f.box.counters().queued == 3);
  f.box.written(2, 2 * usual_size);
  CHECK(f.box.counters().sent == 2);
  CHECK(f.read(f.take()) == numbers{3});
  CHECK(f.read(flying) == numbers{0, 1});
}

TEST_CASE("the writer is called once when there is work again after it found none") {
  fixture f;
  f.push({1});
  CHECK(f.calls == 1); // idle from the beginning
  f.push({2});
  CHECK(f.calls == 1);
  f.take();
  f.push({3});
  CHECK(f.calls == 1); // it took something, so it comes again by itself
  f.take();
  CHECK(f.take().empty());
  f.push_control(4);
  CHECK(f.calls == 2);
}

TEST_CASE("taking stops at the number of runs and about at the number of bytes") {
  fixture f;
  for (std::uint64_t i = 0; i < 10; ++i) {
    f.push({i}, 100);
    f.push_control(100 + i);
  }
  CHECK(f.take(3).size() == 3);
  CHECK(f.take(everything, 150).size() == 4); // 12 + 100 + 12 are not yet 150
  CHECK(f.take(everything, 1).size() == 1);
}

TEST_CASE("closing counts what was queued or in flight as gone") {
  fixture f;
  f.push({1, 2, 3});
  f.take();
  f.push({4});
  f.push_control(5);
  f.box.close();
  CHECK(f.box.counters().dropped_gone == 4);
  f.box.written(3, 3 * usual_size); // a late report changes nothing
  f.push_control(6);
  CHECK(f.take().empty());
  CHECK(f.box.counters().sent == 0);
  CHECK(f.box.counters().dropped_gone == 4);
  f.box.close();
  CHECK(f.box.counters().dropped_gone == 4);
}

TEST_CASE("waiting until all is written ends then, at the deadline, or with the end") {
  fixture f;
  const auto soon = [] { return std::chrono::steady_clock::now() + std::chrono::milliseconds{5}; };
  const auto late = [] { return std::chrono::steady_clock::now() + patience; };
  CHECK(f.box.wait_until_empty(late()) == 0);
  f.push({1, 2});
  CHECK(f.box.wait_until_empty(soon()) == 2);
  f.take();
  CHECK(f.box.wait_until_empty(soon()) == 2);
  std::thread writer{[&] { f.box.written(2, 2 * usual_size); }};
  CHECK(f.box.wait_until_empty(late()) == 0);
  writer.join();
  f.push({3});
  std::thread closer{[&] { f.box.close(); }};
  CHECK(f.box.wait_until_empty(late()) == 0);
  closer.join();
}
