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

TEST_CASE("a slab gives up a chunk when it moves on to a fresh one") {
  slab block;
  block.reserve(slab::chunk_bytes / 2 + 1);
  block.commit(slab::chunk_bytes / 2 + 1);
  const auto held = intrusive_ptr<const chunk>::share(block.current());
  CHECK_FALSE(held->unique());
  block.reserve(slab::chunk_bytes / 2 + 1); // does not fit any more
  CHECK(block.current() != held.get());
  CHECK(held->unique());
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
