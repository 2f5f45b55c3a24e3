// Streams: callbacks fed by subscriptions, generators drained into topics.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/eventually.hpp"
#include "support/nodes.hpp"
#include "support/published.hpp"

#include <optional>
#include <stdexcept>
#include <thread>

using namespace pubsub;
using namespace pubsub::test;

namespace {

/// Gives `n` numbered messages, then ends.
std::function<data_message()> numbered(std::uint64_t n) {
  return [i = std::uint64_t{0}, n]() mutable {
    return i < n ? make_data_message("/t", count{i++}) : data_message{};
  };
}

} // namespace

TEST_CASE("a generator flows to a callback message by message, in order") {
  endpoint ep;
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> in_order{true};
  auto in = ep.subscribe({"/t"},
                         [&](const data_message& msg) {
                           if (get_data(msg) != data{count{next}})
                             in_order = false;
                           ++next;
                         },
                         {overflow_policy::block, 16, 1 << 20});
  auto out = ep.publish_all(numbered(5000));
  out.wait();
  CHECK_FALSE(out.running());
  CHECK(out.messages() == 5000);
  CHECK(eventually([&] { return in.messages() == 5000; }));
  CHECK(in_order);
  CHECK(in.running());
  in.stop();
  in.wait();
  CHECK_FALSE(in.running());
}

TEST_CASE("a generator waits for room and stops when told to") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"}, {overflow_policy::block, 4, 1 << 20});
  auto out = ep.publish_all(numbered(~std::uint64_t{0}));
  CHECK(eventually([&] { return sub.available() == 4; }));
  CHECK(receives_in_order(sub, 100));
  out.stop();
  out.wait();
  CHECK(sub.counters().dropped() == 0);
}

TEST_CASE("what a callback throws ends its flow and reaches who waits, once") {
  endpoint ep;
  auto in = ep.subscribe({"/t"}, [](const data_message&) { throw std::runtime_error{"full"}; });
  sent(ep.publish("/t", count{1}));
  CHECK_THROWS_WITH_AS(in.wait(), "full", std::runtime_error);
  CHECK_FALSE(in.running());
  CHECK(in.messages() == 0);
  CHECK_NOTHROW(in.wait());
}

TEST_CASE("what a generator throws ends its flow and reaches who waits") {
  endpoint ep;
  auto out = ep.publish_all([]() -> data_message { throw std::runtime_error{"no file"}; });
  CHECK_THROWS_WITH_AS(out.wait(), "no file", std::runtime_error);
}

TEST_CASE("a flow that has failed ends its subscription, so that no publisher waits for it") {
  endpoint ep;
  auto in =
      ep.subscribe({"/t"}, [](const data_message&) { throw 1; }, {overflow_policy::block, 1, 100});
  sent(ep.publish("/t", count{1}));
  CHECK(eventually([&] { return ep.subscribers("/t") == 0; }));
  for (std::uint64_t i = 0; i < 10; ++i)
    CHECK(ep.publish("/t", count{i}) == publish_result::unwanted);
}

TEST_CASE("no callback runs once its stream is gone") {
  endpoint ep;
  for (int round = 0; round < 30; ++round) {
    std::optional<int> alive{0};
    {
      auto in = ep.subscribe({"/t"}, [&](const data_message&) { alive = alive.value() + 1; });
      for (std::uint64_t i = 0; i < 20; ++i)
        sent(ep.publish("/t", count{i}));
    }
    alive.reset(); // a late callback would throw, or race
  }
}

TEST_CASE("a flow runs where its runner says") {
  endpoint ep;
  std::vector<std::thread> workers;
  std::thread::id ran_on;
  gate got;
  auto runner = [&](std::function<void()> task) { workers.emplace_back(std::move(task)); };
  {
    auto in = ep.subscribe(
        {"/t"},
        [&](const data_message&) {
          ran_on = std::this_thread::get_id();
          got.open();
        },
        {}, runner);
    sent(ep.publish("/t", count{1}));
    CHECK(got.wait());
  }
  REQUIRE(workers.size() == 1);
  CHECK(ran_on == workers[0].get_id());
  workers[0].join();
}

TEST_CASE("a runner may do the task at once, on the caller's thread") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"});
  auto out = ep.publish_all(numbered(10), [](std::function<void()> task) { task(); });
  CHECK_FALSE(out.running());
  CHECK(receives_in_order(sub, 10));
}

TEST_CASE("closing the endpoint ends its streams") {
  auto ep = std::make_unique<endpoint>();
  auto in = ep->subscribe({"/t"}, [](const data_message&) {});
  auto sub = ep->make_subscriber({"/t"}, {overflow_policy::block, 2, 1 << 20});
  auto out = ep->publish_all(numbered(~std::uint64_t{0}));
  CHECK(eventually([&] { return sub.available() == 2; }));
  ep.reset();
  in.wait();
  out.wait();
  CHECK_FALSE(in.running());
  CHECK_FALSE(out.running());
}

TEST_CASE("a callback may stop its own stream and publish") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/answer"});
  std::optional<stream> in;
  gate ready;
  in.emplace(ep.subscribe({"/t"}, [&](const data_message& msg) {
    ready.wait();
    sent(ep.publish("/answer", get_data(msg)));
    in->stop();
  }));
  ready.open();
  for (std::uint64_t i = 0; i < 10; ++i)
    sent(ep.publish("/t", count{i}));
  in->wait();
  CHECK(next_number(sub) == 0);
  CHECK(in->messages() == 1);
}
