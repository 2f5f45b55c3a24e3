// Tasks for a program that polls descriptors.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"

#include <pubsub/pattern/pipeline.hpp>

#include <poll.h>

#include <tuple>

using namespace pubsub;
using namespace pubsub::test;

TEST_CASE("a queue can be polled for tasks, also where its own thread has read them") {
  endpoint at;
  auto out = exchange::open(at, "work");
  auto in = task_queue::open(at, "");
  REQUIRE(out);
  REQUIRE(in);
  const auto readable = [&](int timeout_ms) {
    pollfd wanted{in->fd(), POLLIN, 0};
    return ::poll(&wanted, 1, timeout_ms) == 1;
  };
  in->bind("work");
  REQUIRE(out->wait_for_queues(1, patience));
  constexpr std::uint64_t tasks = 20;
  for (std::uint64_t number = 0; number < tasks; ++number) {
    CHECK(out->send(data{count{number}}));
    const bool read_by_its_own_thread = number % 2 == 1;
    if (read_by_its_own_thread)
      CHECK(eventually([&] { return in->available() == 1; }));
    auto one = in->try_get();
    for (; !one; one = in->try_get()) // exchanges say other things, too
      REQUIRE(readable(30'000));
    CHECK(one->number() == number);
    one->done();
  }
  CHECK(out->send(data{count{tasks}}));
  CHECK(eventually([&] { return in->available() == 1; }));
  CHECK(readable(0));
  in->get()->done();
  CHECK(out->drain(patience) == 0);
  CHECK(eventually([&] {
    std::ignore = in->try_get();
    return !readable(0);
  }));
  in->close();
  CHECK(readable(0));
}
