// SPDX-License-Identifier: BSD-3-Clause
#include "message/slab.hpp"

#include "support/allocations.hpp"
#include "support/slices.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace pubsub;
using namespace pubsub::test;

TEST_CASE("a chunk lives as long as its last slice") {
  data_message last;
  {
    slab block;
    auto first = slice_of(block, "/t", count{1});
    last = slice_of(block, "/t", count{2});
    CHECK_FALSE(block.current()->unique());
  }
  CHECK(get_data(last) == data{count{2}});
}

TEST_CASE("a slab uses a chunk again once nobody points into it") {
  slab block;
  auto fill = [&] { // most of a chunk
    auto* bytes = block.reserve(slab::chunk_bytes / 2 + 1);
    block.commit(slab::chunk_bytes / 2 + 1);
    return bytes;
  };
  const auto* first = fill();
  auto held = intrusive_ptr<const chunk>::share(block.current());
  const auto* second = fill();
  CHECK(second != first);
  const auto* third = fill();
  CHECK(third != first); // held; and the second is the slab's own current one until now
  held = {};
  const auto before = allocations();
  for (int i = 0; i < 10; ++i)
    fill();
  CHECK(allocations() == before);
}

TEST_CASE("a message larger than a chunk gets a chunk of its own") {
  slab block;
  auto* small = block.reserve(10);
  block.commit(10);
  auto* large = block.reserve(3 * slab::chunk_bytes);
  CHECK(block.current()->capacity() == 3 * slab::chunk_bytes);
  CHECK(large == block.current()->data());
  CHECK(small != large);
}

TEST_CASE("what is not committed is handed out again") {
  slab block;
  auto* first = block.reserve(100);
  CHECK(block.reserve(50) == first);
  block.commit(50);
  CHECK(block.reserve(1) == first + 50);
}

TEST_CASE("hundreds of messages share one heap block") {
  slab block;
  block.reserve(1);
  const auto before = allocations();
  for (int i = 0; i < 600; ++i) {
    block.reserve(100);
    block.commit(100);
  }
  CHECK(allocations() - before <= 1);
}
