// Draining: what was published has arrived, or the number of what has not.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/everything.hpp"
#include "support/nodes.hpp"
#include "support/published.hpp"
#include "support/raw_peer.hpp"

#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

TEST_CASE("with nothing published there is nothing to wait for") {
  chain nodes{2};
  CHECK(nodes.front().drain(patience) == 0);
  CHECK(endpoint{}.drain(0s) == 0);
}

TEST_CASE("local messages are left until their consumer has taken them") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"});
  for (std::uint64_t i = 0; i < 1000; ++i)
    sent(ep.publish("/t", count{i}));
  CHECK(ep.drain(10ms) == 1000);
  for (std::uint64_t i = 0; i < 400; ++i)
    CHECK(next_number(sub) == i);
  CHECK(ep.drain(0s) == 600);
  std::thread reader{[&] {
    for (std::uint64_t i = 400; i < 1000; ++i)
      CHECK(next_number(sub) == i);
  }};
  CHECK(ep.drain(patience) == 0);
  CHECK(sub.counters().delivered == 1000);
  reader.join();
}

TEST_CASE("a subscriber that is closed holds nothing up") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"});
  sent(ep.publish("/t", count{1}));
  CHECK(ep.drain(0s) == 1);
  sub.close();
  CHECK(ep.drain(patience) == 0);
}

TEST_CASE("what was dropped is not waited for, what was kept is") {
  for (const auto policy : {overflow_policy::drop_oldest, overflow_policy::drop_newest}) {
    endpoint ep;
    auto sub = ep.make_subscriber({"/t"}, {policy, 10, 1 << 20});
    for (std::uint64_t i = 0; i < 100; ++i)
      sent(ep.publish("/t", count{i}));
    CHECK(ep.drain(0s) == 10);
    CHECK(everything(sub).size() == 10);
    CHECK(ep.drain(patience) == 0);
  }
}

TEST_CASE("once drained every message is in the queues of the peer, in both versions") {
  for (const std::uint8_t version : {1, 2})
    for (int round = 0; round < 20; ++round) {
      endpoint_options options;
      options.max_wire_version = version;
      chain nodes{2, options};
      auto sub = nodes.back().make_subscriber({"/t"});
      REQUIRE(nodes.front().wait_for_subscribers("/t", 1, patience));
      auto pub = nodes.front().make_publisher("/t");
      for (std::uint64_t i = 0; i < 2000; ++i)
        sent(pub.publish(count{i}));
      CHECK(nodes.front().drain(patience) == 0);
      CHECK(sub.counters().offered == 2000);
    }
}

TEST_CASE("messages published after the call are not waited for") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"}, {overflow_policy::block, 1000, 1 << 20});
  std::atomic<bool> done{false};
  std::thread publisher{[&] {
    for (std::uint64_t i = 0; !done; ++i)
      sent(ep.publish("/t", count{i}));
  }};
  std::thread reader{[&] {
    while (!done || sub.available() > 0)
      (void)sub.get_for(10ms); // never empties the queue as long as the other one publishes
  }};
  REQUIRE(eventually([&] { return sub.counters().delivered > 0; }));
  for (int i = 0; i < 20; ++i)
    CHECK(ep.drain(patience) == 0);
  done = true;
  publisher.join();
  reader.join();
}

TEST_CASE("behind a subscriber that does not read, the waiting messages are counted") {
  endpoint_options tiny;
  tiny.link_queue = {overflow_policy::block, 8, 1 << 20};
  chain nodes{2, tiny};
  auto sub = nodes.back().make_subscriber({"/t"}, {overflow_policy::block, 1, 1});
  REQUIRE(nodes.front().wait_for_subscribers("/t", 1, patience));
  while (nodes.front().try_publish("/t", std::string(100'000, 'x')) == publish_result::taken ||
         nodes.front().flush(20ms) == 0) {
  }
  CHECK(nodes.front().drain(20ms) == nodes.front().peers()[0].counters.queued);
  std::atomic<bool> done{false};
  std::thread reader{[&] {
    while (!done)
      (void)sub.get_for(10ms);
  }};
  CHECK(nodes.front().drain(patience) == 0);
  CHECK(sub.counters().offered == nodes.front().counters().published);
  done = true;
  reader.join();
}

TEST_CASE("a peer that does not confirm counts, though all is written") {
  endpoint ep;
  raw_peer mute{ep, *ep.listen("tcp://127.0.0.1:0"), 2};
  sent(ep.publish("/t", count{1}));
  CHECK(ep.flush(patience) == 0);
  CHECK(ep.drain(20ms) == 1);
  std::thread leaves{[&] {
    CHECK(mute.next_ping());
    CHECK(mute.next_ping());
    mute.wire.close();
  }};
  CHECK(ep.drain(patience) >= 1); // at once, not at the deadline: there is nobody to wait for
  leaves.join();
  CHECK(eventually([&] { return ep.peers().empty(); }));
  CHECK(ep.drain(patience) == 0);
}
