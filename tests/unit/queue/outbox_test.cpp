// SPDX-License-Identifier: BSD-3-Clause
#include "queue/outbox.hpp"

#include "support/bounded_queues.hpp"
#include "support/eventually.hpp"

#include <doctest/doctest.h>

#include <thread>

using namespace pubsub;
using namespace pubsub::test;

namespace {

constexpr std::size_t everything = ~std::size_t{0};

/// An outbox with memory to push from, a writer, and a count of how often the link was called.
struct fixture {
  explicit fixture(queue_options options = {}) : box(options, {.on_work = [this] { ++calls; }}) {}

  push_result push(std::uint64_t number, std::uint32_t size = usual_size) {
    return writer.push(exits, outbox_under_test::write_records(memory, {number}, size), size, {});
  }
  void push_run(const numbers& frames, std::uint32_t size = usual_size) {
    box.push_run(outbox_under_test::run_of(memory, frames, size), {});
  }
  void push_control(std::uint64_t number) {
    slab own;
    const auto* bytes = outbox_under_test::write_records(own, {number}, 13).first;
    box.push_control({bytes, 13});
  }
  std::vector<run_slice> take(std::size_t slices = everything, std::size_t bytes = everything) {
    std::vector<run_slice> out;
    box.take(out, slices, bytes);
    return out;
  }
  static numbers read(const std::vector<run_slice>& slices) {
    numbers out;
    for (const auto& each : slices)
      outbox_under_test::read_records(each, out);
    return out;
  }

  int calls = 0;
  slab memory;
  outbox box;
  bounded_queue* exits[1] = {&box};
  run_writer writer;
};

} // namespace

TEST_CASE("messages that lie one after the other are one slice") {
  fixture f;
  for (std::uint64_t i = 0; i < 100; ++i)
    f.push(i);
  const auto slices = f.take();
  REQUIRE(slices.size() == 1);
  CHECK(slices[0].size.messages == 100);
  CHECK(slices[0].size.bytes == 100 * usual_size);
  CHECK(f.read(slices).back() == 99);
  f.push(100); // the run goes on
  CHECK(f.read(f.take()) == numbers{100});
}

TEST_CASE("a slice ends where the run ends or a control frame comes between") {
  fixture f;
  f.push(1);
  f.push_control(2);
  f.memory.reserve(100);
  f.memory.commit(100); // somebody else's bytes
  f.push(3);
  const auto slices = f.take();
  CHECK(slices.size() == 3);
  CHECK(f.read(slices) == numbers{1, 2, 3});
  CHECK(slices[1].size.messages == 0);
}

TEST_CASE("dropping the oldest crosses runs and keeps messages whole") {
  fixture f{{overflow_policy::drop_oldest, 5, 1 << 20}};
  f.push_run({0, 1, 2}, 40);
  f.push_control(100);
  f.push_run({3, 4}, 200); // sizes differ: a message's end is found by its length
  f.push_run({5, 6, 7, 8}, 24);
  CHECK(f.read(f.take()) == numbers{100, 4, 5, 6, 7, 8});
  CHECK(f.box.counters().dropped_oldest == 4);
}

TEST_CASE("control frames are neither counted, bounded nor dropped") {
  for (const auto policy : {overflow_policy::drop_oldest, overflow_policy::drop_newest}) {
    fixture f{{policy, 1, 1}};
    for (std::uint64_t i = 0; i < 10; ++i)
      f.push_control(i);
    CHECK(f.box.control_bytes() == 130);
    CHECK(f.push(50) == push_result::taken);
    f.push_control(60);
    CHECK(f.read(f.take()).size() == 12);
    CHECK(f.box.control_bytes() == 0);
    CHECK(f.box.counters().offered == 1);
  }
}

TEST_CASE("what the writer has taken is in flight: it counts but cannot be dropped") {
  fixture f{{overflow_policy::drop_oldest, 2, 1 << 20}};
  f.push(0);
  f.push(1);
  const auto flying = f.take();
  CHECK(f.push(2) == push_result::taken); // nothing there to drop
  CHECK(f.push(3) == push_result::dropped);
  CHECK(f.box.counters().queued == 3);
  f.box.written({2, 2 * usual_size});
  CHECK(f.box.counters().sent == 2);
  CHECK(f.read(f.take()) == numbers{3});
  CHECK(f.read(flying) == numbers{0, 1});
}

TEST_CASE("the writer is called once when there is work again after it found none") {
  fixture f;
  CHECK(f.box.armed());
  f.push(1);
  CHECK(f.calls == 1); // idle from the beginning
  CHECK(!f.box.armed());
  f.push(2);
  CHECK(f.calls == 1);
  f.take();
  f.push(3);
  CHECK(f.calls == 1); // it took something, so it comes again by itself
  f.take();
  CHECK(!f.box.armed());
  CHECK(f.take().empty());
  CHECK(f.box.armed());
  f.push_control(4);
  CHECK(f.calls == 2);
  CHECK(!f.box.armed());
}

TEST_CASE("taking stops at the number of runs and about at the number of bytes") {
  fixture f;
  for (std::uint64_t i = 0; i < 10; ++i) {
    f.push(i, 100);
    f.writer.seal();
    f.push_control(100 + i);
  }
  CHECK(f.take(3).size() == 3);
  CHECK(f.take(everything, 150).size() == 4); // 13 + 100 + 13 are not yet 150
  CHECK(f.take(everything, 1).size() == 1);
}

TEST_CASE("closing counts what was queued or in flight as gone") {
  fixture f;
  f.push_run({1, 2, 3});
  f.take();
  f.push(4);
  f.push_control(5);
  f.box.close();
  CHECK(f.box.counters().dropped_gone == 4);
  f.box.written({3, 3 * usual_size}); // a late report changes nothing
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
  f.push_run({1, 2});
  CHECK(f.box.wait_until_empty(soon()) == 2);
  f.take();
  CHECK(f.box.wait_until_empty(soon()) == 2);
  std::thread writer{[&] { f.box.written({2, 2 * usual_size}); }};
  CHECK(f.box.wait_until_empty(late()) == 0);
  writer.join();
  f.push(3);
  std::thread closer{[&] { f.box.close(); }};
  CHECK(f.box.wait_until_empty(late()) == 0);
  closer.join();
}
