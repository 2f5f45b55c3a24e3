// Counts heap blocks: this file replaces operator new for the whole executable.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/allocations.hpp"
#include "support/published.hpp"
#include "support/slices.hpp"

#include <pubsub/endpoint.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

thread_local std::uint64_t of_this_thread = 0;
std::atomic<std::uint64_t> of_all_threads{0};

void* count_and_allocate(std::size_t size) {
  ++of_this_thread;
  of_all_threads.fetch_add(1, std::memory_order_relaxed);
  if (void* block = std::malloc(size == 0 ? 1 : size))
    return block;
  throw std::bad_alloc{};
}

} // namespace

void* operator new(std::size_t size) {
  return count_and_allocate(size);
}
void* operator new[](std::size_t size) {
  return count_and_allocate(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size == 0 ? 1 : size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete[](void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}
void operator delete[](void* block, std::size_t) noexcept {
  std::free(block);
}

std::uint64_t pubsub::test::allocations() noexcept {
  return of_this_thread;
}
std::uint64_t pubsub::test::allocations_of_all_threads() noexcept {
  return of_all_threads.load();
}

using namespace pubsub;
using namespace pubsub::test;

namespace {

data long_value() {
  return vector{std::string(500, 'x'), std::string(500, 'y'), count{1}};
}

/// Heap blocks this thread asks for while `work` runs.
template <class F>
std::uint64_t blocks_for(F work) {
  const auto before = allocations();
  work();
  return allocations() - before;
}

} // namespace

TEST_CASE("copying, moving and dropping a message allocates nothing") {
  slab block;
  for (const auto& msg :
       {make_data_message("/t", long_value()), slice_of(block, "/t", long_value())}) {
    std::vector<data_message> copies(100);
    CHECK(blocks_for([&] {
            for (auto& each : copies)
              each = msg;
            auto moved = std::move(copies[0]);
            copies.clear();
          }) == 0);
  }
}

TEST_CASE("a locally published message costs its subscribers a reference and no copy") {
  endpoint ep;
  std::vector<subscriber> subscribers;
  for (int i = 0; i < 50; ++i)
    subscribers.push_back(ep.make_subscriber({"/t"}));
  auto pub = ep.make_publisher("/t");
  constexpr std::uint64_t messages = 2000;
  auto many = [&] {
    for (std::uint64_t i = 0; i < messages; ++i)
      sent(pub.publish(count{i}));
  };
  many(); // warms up routes and queues
  // The storage of each value, and now and then the run that all queues share.
  CHECK(blocks_for(many) < messages * 3 / 2);
  while (subscribers.size() > 1)
    subscribers.pop_back();
  many();
  CHECK(blocks_for(many) >= messages);
}

TEST_CASE("all local subscribers read the very value that was published") {
  endpoint ep;
  auto first = ep.make_subscriber({"/t"});
  auto second = ep.make_subscriber({"/"});
  sent(ep.publish("/t", long_value()));
  const auto x = first.get();
  const auto y = second.get();
  CHECK(&get_data(*x) == &get_data(*y));
  CHECK(get_data(*x) == long_value());
}

TEST_CASE("publishing encoded bytes takes no heap block per message") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"});
  auto pub = ep.make_publisher("/t");
  const auto bytes = encoded(long_value());
  std::vector<data_message> out;
  auto round = [&] {
    for (int i = 0; i < 1000; ++i)
      sent(pub.publish(bytes));
    out.clear();
    (void)sub.get_batch_for(out, 1000, std::chrono::seconds{30});
  };
  round();
  round();
  CHECK(blocks_for(round) < 50); // one for each 64 KiB of messages
  CHECK(out.size() == 1000);
}

TEST_CASE("writing copies a value exactly when someone else holds it") {
  auto msg = make_data_message("/t", long_value());
  const auto* before = &get_data(msg);
  CHECK(blocks_for([&] { mutable_data(msg); }) == 0);
  CHECK(&mutable_data(msg) == before);
  const auto copy = msg;
  CHECK(blocks_for([&] { mutable_data(msg); }) > 0);
  CHECK(&get_data(msg) != &get_data(copy));
  CHECK(blocks_for([&] { mutable_data(msg); }) == 0); // it has its own by now
}
