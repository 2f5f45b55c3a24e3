// SPDX-License-Identifier: BSD-3-Clause
#include "message/chunk.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "support/process_usage.hpp"

using namespace pubsub;
using namespace pubsub::test;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool reused = false;
#else
constexpr bool reused = true;
#endif

std::span<std::byte> all_of(chunk& x) {
  return {x.data(), x.capacity()};
}

} // namespace

TEST_CASE("a large chunk takes the block of one that is gone, where that is long enough") {
  constexpr std::size_t length = 128 * 1024;
  auto first = chunk::make(length - 1000);
  const auto* const place = first->data();
  first = {};
  const auto second = chunk::make(length);
  CHECK(second->capacity() == length);
  CHECK((second->data() == place) == reused);
  std::ranges::fill(all_of(*second), std::byte{1});
  const auto third = chunk::make(length); // the block is not free
  CHECK(third->data() != second->data());
  CHECK(chunk::make(length + 1)->data() != place);
}

TEST_CASE("chunks of any size, made and let go by several threads, do not meet") {
  const auto work = [](std::byte mark) {
    std::size_t wrong = 0;
    for (std::size_t size = 1000; size < (std::size_t{8} << 20); size += size / 2) {
      std::vector<intrusive_ptr<chunk>> held;
      for (int i = 0; i < 4; ++i) {
        held.push_back(chunk::make(size));
        std::ranges::fill(all_of(*held.back()), mark);
      }
      for (const auto& each : held)
        wrong += !std::ranges::all_of(all_of(*each), [&](std::byte x) { return x == mark; });
    }
    return wrong;
  };
  std::size_t there = 0;
  std::thread other{[&] { there = work(std::byte{2}); }};
  CHECK(work(std::byte{1}) == 0);
  other.join();
  CHECK(there == 0);
}

TEST_CASE("chunks that are gone keep no memory but that of the idle blocks" *
          doctest::skip(!memory_is_ours)) { // sanitizers keep memory of their own
  constexpr std::size_t length = 64 * 1024;
  std::vector<intrusive_ptr<chunk>> chunks;
  std::vector<std::unique_ptr<std::byte[]>> between; // keeps the heap from shrinking at its end
  for (int i = 0; i < 1024; ++i) {
    chunks.push_back(chunk::make(length));
    std::ranges::fill(all_of(*chunks.back()), std::byte{1});
    between.push_back(std::make_unique<std::byte[]>(100));
  }
  const auto full = resident_bytes();
  chunks.clear();
  const auto left = resident_bytes() + 1024 * length - full;
  CHECK(left < 40 * 1024 * 1024); // 32 MiB idle, and what stands between
}
