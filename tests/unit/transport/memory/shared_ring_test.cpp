// SPDX-License-Identifier: BSD-3-Clause
#include "transport/memory/shared_ring.hpp"

#include <array>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "transport/memory/shared_region.hpp"

using namespace pubsub;

namespace {

constexpr std::size_t ring_bytes = 4096;

/// A region as its maker sees it, and its two ends of the outgoing ring.
struct ring_under_test {
  shared_region region = *shared_region::make({.ring_bytes = ring_bytes});
  ring_view ring = region.outgoing();
  ring_writer writer{ring};
  ring_reader reader{ring};

  std::optional<std::size_t> write(std::size_t bytes, std::byte fill = std::byte{1}) {
    const std::vector<std::byte> from(bytes, fill);
    const std::array pieces{asio::const_buffer{from.data(), from.size()}};
    return writer.write(pieces);
  }
  std::optional<std::size_t> read(std::size_t bytes) {
    into.assign(bytes, std::byte{});
    return reader.read({into.data(), into.size()});
  }
  std::vector<std::byte> into;
};

} // namespace

TEST_CASE_FIXTURE(ring_under_test, "a ring takes what there is room for, and gives what there is") {
  CHECK(write(3000) == 3000);
  CHECK(write(3000) == 1096);
  CHECK(write(1) == 0);
  CHECK(read(5000) == 4096);
  CHECK(read(1) == 0);
  CHECK(write(4096) == 4096);
}

TEST_CASE_FIXTURE(ring_under_test,
                  "pieces of a gathered write lie one behind the other, across the end") {
  CHECK(write(4000) == 4000);
  CHECK(read(4000) == 4000);
  std::array<std::byte, 600> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<std::byte>(i);
  const std::array pieces{asio::const_buffer{numbers.data(), 50}, asio::const_buffer{},
                          asio::const_buffer{numbers.data() + 50, 550}};
  CHECK(writer.write(pieces) == 600);
  CHECK(read(600) == 600);
  CHECK(std::equal(numbers.begin(), numbers.end(), into.begin(), into.end()));
}

TEST_CASE_FIXTURE(ring_under_test,
                  "a reader that sleeps is found once, by the write that follows") {
  CHECK(!reader.sleep_fails());
  CHECK(write(1) == 1);
  CHECK(writer.finds_reader_asleep());
  CHECK(write(1) == 1);
  CHECK(!writer.finds_reader_asleep());
  CHECK(reader.sleep_fails()); // there is something
}

TEST_CASE_FIXTURE(ring_under_test, "a writer that sleeps is found when half of the ring is free") {
  CHECK(write(4096) == 4096);
  CHECK(!writer.sleep_fails());
  CHECK(read(1000) == 1000);
  CHECK(!reader.finds_writer_asleep());
  CHECK(read(1048) == 1048);
  CHECK(reader.finds_writer_asleep());
  CHECK(!reader.finds_writer_asleep());
}

TEST_CASE_FIXTURE(ring_under_test, "a reader's position that cannot be true is no room") {
  CHECK(write(4096) == 4096);
  for (const std::uint64_t lie : {std::uint64_t{4097}, ~std::uint64_t{0}, std::uint64_t{1} << 63}) {
    CAPTURE(lie);
    ring.control->read = lie;
    CHECK(!write(1).has_value());
    CHECK(writer.sleep_fails()); // and the next write says why
  }
  ring.control->read = 1000;
  CHECK(write(1000) == 1000);
  ring.control->read = 999; // it has been further
  CHECK(!write(1).has_value());
}

TEST_CASE_FIXTURE(ring_under_test, "a writer's position that cannot be true is nothing to read") {
  CHECK(write(100) == 100);
  CHECK(read(50) == 50);
  for (const std::uint64_t lie :
       {std::uint64_t{50 + 4097}, std::uint64_t{49}, std::uint64_t{99}, ~std::uint64_t{0}}) {
    CAPTURE(lie);
    ring.control->written = lie;
    CHECK(!read(100).has_value());
    CHECK(reader.sleep_fails());
  }
}

TEST_CASE_FIXTURE(ring_under_test,
                  "whatever the peer writes meanwhile, a side stays within the ring") {
  std::atomic<bool> done{false};
  std::jthread liar{[&] {
    std::minstd_rand random{7};
    while (!done) {
      auto& word = random() % 2 ? ring.control->written : ring.control->read;
      word = random() % 3 ? word + random() % 10'000 : random() * std::uint64_t{random()};
      (random() % 2 ? ring.control->reader_sleeps : ring.control->writer_sleeps) = random();
    }
  }};
  for (int i = 0; i < 100'000; ++i) {
    ring_writer victim{ring};
    ring_reader other{ring};
    for (int calls = 0; calls < 4; ++calls) {
      const std::array<std::byte, 5000> from{};
      const std::array pieces{asio::const_buffer{from.data(), from.size()}};
      const auto written = victim.write(pieces);
      REQUIRE(written.value_or(0) <= ring_bytes);
      victim.finds_reader_asleep();
      victim.sleep_fails();
      std::array<std::byte, 9000> to{};
      const auto read = other.read({to.data(), to.size()});
      REQUIRE(read.value_or(0) <= ring_bytes);
      other.finds_writer_asleep();
      other.sleep_fails();
    }
  }
  done = true;
}

TEST_CASE_FIXTURE(ring_under_test,
                  "two threads pass every byte in order, and none sleeps for ever") {
  constexpr std::uint32_t count = 2'000'000;
  std::atomic<std::uint32_t> writer_called{0};
  std::atomic<std::uint32_t> reader_called{0};
  std::jthread writing{[&] {
    std::minstd_rand random{1};
    std::vector<std::uint32_t> numbers(1000);
    for (std::uint32_t next = 0; next < count;) {
      const auto n = std::min<std::uint32_t>(1 + random() % 1000, count - next);
      std::iota(numbers.begin(), numbers.begin() + n, next);
      asio::const_buffer left{numbers.data(), n * sizeof next};
      while (left.size() > 0) {
        const auto before = writer_called.load();
        const std::array pieces{left};
        left += writer.write(pieces).value();
        if (writer.finds_reader_asleep()) {
          ++reader_called;
          reader_called.notify_one();
        }
        if (left.size() > 0 && !writer.sleep_fails())
          writer_called.wait(before);
      }
      next += n;
    }
  }};
  std::vector<std::uint32_t> got(700);
  std::uint32_t next = 0;
  std::size_t half = 0; // bytes of a number that has come in part
  bool in_order = true;
  while (next < count) {
    const auto before = reader_called.load();
    auto* const begin = reinterpret_cast<std::byte*>(got.data());
    const auto n = reader.read({begin + half, got.size() * sizeof next - half}).value();
    if (reader.finds_writer_asleep()) {
      ++writer_called;
      writer_called.notify_one();
    }
    if (n == 0) {
      if (!reader.sleep_fails())
        reader_called.wait(before);
      continue;
    }
    const auto whole = (half + n) / sizeof next;
    for (std::size_t i = 0; i < whole; ++i)
      in_order = in_order && got[i] == next++;
    half = (half + n) % sizeof next;
    std::memcpy(begin, begin + whole * sizeof next, half);
  }
  CHECK(in_order);
}
