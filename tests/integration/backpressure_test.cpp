// Full queues at the end of a path: nothing lost with block, everything counted otherwise.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/everything.hpp"
#include "support/nodes.hpp"
#include "support/published.hpp"
#include "support/raw_socket.hpp"

#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t tiny_messages = 8;

endpoint_options tiny_outboxes(overflow_policy policy) {
  endpoint_options out;
  out.link_queue = {policy, tiny_messages, 1 << 20};
  return out;
}

} // namespace

TEST_CASE("behind two relays a slow subscriber loses nothing, and every queue stays small") {
  chain nodes{4, tiny_outboxes(overflow_policy::block)};
  auto sub = nodes.back().make_subscriber({"/t"}, {overflow_policy::block, tiny_messages, 1 << 20});
  REQUIRE(nodes.front().wait_for_subscribers("/t", 1, patience));
  const auto waits_of = [](const endpoint& node) { return node.counters().links.credit_waits; };
  constexpr std::uint64_t messages = 30'000; // 15 MB: more than all socket buffers on the way hold
  std::atomic<std::uint64_t> published{0};
  std::thread publisher{[&] {
    for (std::uint64_t i = 0; i < messages; ++i) {
      CHECK(nodes.front().publish("/t", payload(i)) == publish_result::taken);
      published = i + 1;
    }
  }};
  std::uint64_t most_queued = 0;
  auto look = [&] {
    for (const auto& each : nodes.all)
      for (const auto& peer : each->peers())
        most_queued = std::max(most_queued, peer.counters.queued);
    most_queued = std::max(most_queued, sub.counters().queued);
  };
  // The subscriber does not read yet: the wait travels back to the publisher, and each node that
  // sends counts it.
  CHECK(eventually([&] {
    look();
    return std::ranges::all_of(nodes.all, [&](const auto& each) {
      return each.get() == &nodes.back() || waits_of(*each) > 0;
    });
  }));
  std::uint64_t before = 0;
  CHECK(eventually([&] {
    look();
    return std::exchange(before, published) == published;
  }));
  CHECK(published < messages);
  CHECK(waits_of(nodes.back()) == 0);
  for (const auto& each : nodes.all) // not for every message
    CHECK(waits_of(*each) < 1000);
  for (std::uint64_t i = 0; i < messages; ++i) {
    const auto msg = sub.get_for(patience);
    REQUIRE(msg);
    CHECK(get_data(*msg) == data{payload(i)});
    if (i % 1000 == 0)
      look();
  }
  publisher.join();
  CHECK(sub.counters().dropped() == 0);
  CHECK(sub.counters().delivered == messages);
  CHECK(most_queued < 2000); // one read of 256 KiB above the bounds
}

TEST_CASE("with drop policies on the links every message is delivered or counted") {
  for (const auto policy : {overflow_policy::drop_oldest, overflow_policy::drop_newest}) {
    chain nodes{3, tiny_outboxes(policy)};
    auto sub = nodes.back().make_subscriber({"/t"}, {overflow_policy::block, 16, 1 << 20});
    auto pub = nodes.front().make_publisher("/t");
    REQUIRE(pub.wait_for_subscribers(1, patience));
    constexpr std::uint64_t messages = 20'000;
    for (std::uint64_t i = 0; i < messages; ++i)
      sent(pub.publish(payload(i)));
    const auto& first = nodes.front();
    const auto& relay = *nodes.all[1];
    auto link_to = [](const endpoint& from, const endpoint& to) {
      for (const auto& each : from.peers())
        if (each.id == to.id())
          return each.counters;
      return link_counters{};
    };
    CHECK(eventually([&] {
      (void)everything(sub);
      const auto out = link_to(first, relay);
      const auto in = link_to(relay, first);
      const auto on = link_to(relay, nodes.back());
      return out.queued == 0 && in.received == out.sent && on.queued == 0 &&
             on.offered == in.received && sub.counters().delivered == on.sent;
    }));
    const auto out = link_to(first, relay);
    const auto on = link_to(relay, nodes.back());
    CHECK(out.offered == messages);
    CHECK(adds_up(out));
    CHECK(adds_up(on));
    CHECK(sub.counters().offered == on.sent);
    CHECK(sub.counters().delivered + out.dropped() + on.dropped() == messages);
  }
}

TEST_CASE("a subscriber with a drop policy behind a relay counts exactly what it missed") {
  for (const auto policy : {overflow_policy::drop_oldest, overflow_policy::drop_newest}) {
    chain nodes{3};
    auto sub = nodes.back().make_subscriber({"/t"}, {policy, 100, 1 << 20});
    auto all = nodes.back().make_subscriber({"/t"});
    REQUIRE(all.wait_ready(patience));
    REQUIRE(nodes.front().wait_for_subscribers("/t", 1, patience));
    for (std::uint64_t i = 0; i < 5000; ++i)
      sent(nodes.front().publish("/t", count{i}));
    CHECK(receives_in_order(all, 5000));
    CHECK(eventually([&] { return sub.counters().offered == 5000; }));
    CHECK(sub.counters().dropped() == 4900);
    CHECK(adds_up(sub.counters()));
    CHECK(next_number(sub) == (policy == overflow_policy::drop_oldest ? 4900 : 0));
  }
}

TEST_CASE("one blocked subscriber holds up its own path and no other peer's messages") {
  endpoint hub;
  endpoint stuck;
  endpoint fine;
  const auto where = listen(hub);
  REQUIRE(stuck.peer(where));
  REQUIRE(fine.peer(where));
  auto full = stuck.make_subscriber({"/stuck"}, {overflow_policy::block, 1, 1});
  auto sub = fine.make_subscriber({"/fine"});
  REQUIRE(hub.wait_for_subscribers("/stuck", 1, patience));
  REQUIRE(hub.wait_for_subscribers("/fine", 1, patience));
  std::thread flood{[&] { // until the path to the blocked one is full
    while (hub.try_publish("/stuck", std::string(100'000, 'x')) == publish_result::taken) {
    }
  }};
  for (std::uint64_t i = 0; i < 1000; ++i)
    sent(hub.publish("/fine", count{i}));
  CHECK(receives_in_order(sub, 1000));
  flood.join();
  CHECK(eventually([&] { // the path behind may take some more
    return hub.try_publish("/stuck", std::string(100'000, 'x')) == publish_result::would_block;
  }));
}

TEST_CASE("a publisher that waits for a full link goes on when the peer is gone") {
  auto receiver = std::make_unique<endpoint>();
  auto sub = receiver->make_subscriber({"/t"}, {overflow_policy::block, 1, 1});
  endpoint sender{tiny_outboxes(overflow_policy::block)};
  join(sender, *receiver);
  REQUIRE(sender.wait_for_subscribers("/t", 1, patience));
  std::thread publisher{[&] {
    while (sender.publish("/t", std::string(100'000, 'x')) == publish_result::taken) {
    }
  }};
  CHECK(eventually([&] {
    const auto peers = sender.peers();
    return !peers.empty() && peers[0].counters.queued > tiny_messages / 2;
  }));
  receiver->close(50ms);
  publisher.join();
  CHECK(sender.subscribers("/t") == 0);
}

TEST_CASE("flushing waits until all is written, or tells what is left") {
  chain nodes{2, tiny_outboxes(overflow_policy::block)};
  auto sub = nodes.back().make_subscriber({"/t"}, {overflow_policy::block, 1, 1});
  auto pub = nodes.front().make_publisher("/t");
  REQUIRE(pub.wait_for_subscribers(1, patience));
  CHECK(nodes.front().flush(0s) == 0);
  std::uint64_t taken = 0;
  while (pub.try_publish(std::string(100'000, 'x')) == publish_result::taken ||
         nodes.front().flush(20ms) == 0)
    ++taken;
  CHECK(nodes.front().flush(10ms) > 0);
  std::atomic<bool> done{false};
  std::thread reader{[&] {
    while (!done)
      (void)sub.get_for(10ms);
  }};
  CHECK(nodes.front().flush(patience) == 0);
  done = true;
  reader.join();
}
