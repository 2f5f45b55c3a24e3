// Tasks for a program that polls descriptors.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"

#include <pubsub/pattern/pipeline.hpp>

#include <poll.h>

#include <set>
#include <thread>
#include <tuple>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

TEST_CASE("a queue can be polled for tasks, also where its own thread has read them") {
  endpoint at;
  auto opened_out = exchange::open(at, "work");
  auto opened_in = task_queue::open(at, "");
  REQUIRE(opened_out);
  REQUIRE(opened_in);
  auto& out = *opened_out;
  auto& in = *opened_in;
  const auto readable = [&](int timeout_ms) {
    pollfd wanted{in.fd(), POLLIN, 0};
    return ::poll(&wanted, 1, timeout_ms) == 1;
  };
  in.bind("work");
  REQUIRE(out.wait_for_queues(1, patience));
  constexpr std::size_t tasks = 200;
  std::set<std::uint64_t> done;
  std::thread sender{[&] {
    for (std::size_t i = 0; i < tasks; ++i) {
      CHECK(out.send(data{count{i}}));
      std::this_thread::sleep_for(5ms); // longer than the queue's own thread lets pass now and then
    }
  }};
  const auto until = std::chrono::steady_clock::now() + patience;
  while (done.size() < tasks && std::chrono::steady_clock::now() < until) {
    CHECK(readable(5'000));
    while (auto one = in.try_get()) {
      done.insert(one->number());
      one->done();
    }
  }
  sender.join();
  CHECK(done.size() == tasks);
  CHECK(out.drain(patience) == 0);
  CHECK(eventually([&] {
    std::ignore = in.try_get();
    return !readable(0);
  }));
  in.close();
  CHECK(readable(0));
}
