// Messages for one endpoint only.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/published.hpp"
#include "support/raw_peer.hpp"

#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

TEST_CASE("a message for one peer reaches that peer alone, in both versions") {
  for (const std::uint8_t version : {1, 2}) {
    CAPTURE(version);
    endpoint a{speaking(version)};
    endpoint b{speaking(version)};
    endpoint c{speaking(version)};
    join(a, b);
    join(a, c);
    auto at_a = a.make_subscriber({"/t"});
    auto at_b = b.make_subscriber({"/t"});
    auto at_c = c.make_subscriber({"/t"});
    REQUIRE(a.wait_for_subscribers("/t", 3, patience));
    for (std::uint64_t i = 0; i < 3; ++i)
      CHECK(a.publish_to(b.id(), "/t", count{i}) == publish_result::taken);
    sent(a.publish("/t", count{3}));
    CHECK(receives_in_order(at_b, 4)); // and what follows stays behind
    CHECK(next_number(at_c) == 3);
    CHECK(next_number(at_a) == 3);
    CHECK(at_c.counters().offered == 1);
  }
}

TEST_CASE("a million messages for one peer do not stop") {
  for (const std::uint8_t version : {1, 2}) {
    CAPTURE(version);
    constexpr std::uint64_t messages = 1'000'000;
    endpoint a{speaking(version)};
    endpoint b{speaking(version)};
    join(a, b);
    auto sub = b.make_subscriber({"/t"});
    std::jthread sending{[&] {
      for (std::uint64_t i = 0; i < messages; ++i)
        sent(a.publish_to_for(b.id(), "/t", count{i}, patience));
    }};
    CHECK(receives_in_order(sub, messages));
  }
}

TEST_CASE("a full queue holds back the publisher of messages for one node, over relays as well") {
  for (const std::size_t relays : {0, 2}) {
    CAPTURE(relays);
    endpoint_options options;
    options.link_queue = {overflow_policy::block, 100, 1 << 30};
    chain nodes{relays + 2, options};
    auto sub = nodes.back().make_subscriber({"/t"}, {overflow_policy::block, 100, 1 << 30});
    REQUIRE(nodes.front().wait_for_subscribers("/t", 1, patience));
    const auto far = nodes.back().id();
    const std::string text(10'000, 'x'); // more than sockets and credit hold
    std::uint64_t taken = 0;
    while (nodes.front().publish_to_for(far, "/t", text, 200ms) == publish_result::taken)
      ++taken;
    CHECK(taken < 3'000); // about 1,200 are under way where there are two relays
    CHECK(nodes.front().counters().would_block == 1);
    for (std::uint64_t n = 0; n < taken; ++n)
      REQUIRE(sub.get_for(patience).has_value());
    CHECK(sub.available() == 0);
  }
}

TEST_CASE("a message for a node that has no subscriber is counted there") {
  chain nodes{3};
  CHECK(nodes.front().wait_for_peers(1, patience));
  const auto far = nodes.back().id();
  REQUIRE(eventually(
      [&] { return nodes.front().publish_to(far, "/t", count{1}) == publish_result::taken; }));
  CHECK(eventually([&] { return nodes.back().counters().no_subscriber == 1; }));
}

TEST_CASE("a message for one node finds it behind others, and nobody it cannot reach") {
  chain nodes{4};
  auto far = nodes.back().make_subscriber({"/t"});
  auto between = nodes.all[1]->make_subscriber({"/t"});
  REQUIRE(nodes.front().wait_for_subscribers("/t", 2, patience));
  CHECK(nodes.front().publish_to(nodes.back().id(), "/t", count{7}) == publish_result::taken);
  CHECK(next_number(far) == 7);
  CHECK(between.available() == 0);
  CHECK(nodes.front().publish_to(endpoint_id::random(), "/t", count{8}) ==
        publish_result::unwanted);
  CHECK(nodes.front().publish_to(nodes.back().id(), "<$>", count{9}) == publish_result::refused);
}

TEST_CASE("messages for one node wait with the others while their route changes") {
  endpoint_options options;
  options.link_queue.policy = overflow_policy::drop_newest; // flushes end after a second
  options.id = raw_peer::id('1'); // a smaller one than raw peers, which do not begin handshakes
  endpoint relay{options};
  raw_peer silent{relay, *relay.listen("tcp://127.0.0.1:0"), 2}; // the route to the far node so far
  REQUIRE(silent.wire.send(                                      // and it has a link to the relay
      news_of_far_node + "80000044 03 02 ffffffffffffffffffffffffffffffff 0000000000000001"
                         "0000000000000003 02 11111111111111111111111111111111"
                         "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee 00"));
  endpoint source{forwarding_on()};
  join(source, relay);
  REQUIRE(source.wait_for_subscribers("/n", 2, patience));
  CHECK(source.publish("/n", count{0}) == publish_result::taken); // lost with the silent peer
  REQUIRE(eventually([&] { return relay.counters().forwarded == 1; }));
  options.id = far_id();
  endpoint far{forwarding_on(options)};
  auto sub = far.make_subscriber({"/n"});
  join(far, relay);
  REQUIRE(eventually([&] { // the real node is linked with the relay alone
    const auto at_relay = relay.nodes();
    const auto at_source = source.nodes();
    const auto is_far = [&](const node_info& x) {
      return x.id == far_id() && x.neighbours == std::vector{relay.id()};
    };
    return std::ranges::count(at_relay, far_id(), &node_info::next_hop) == 1 &&
           std::ranges::any_of(at_source, is_far);
  }));
  REQUIRE(source.wait_for_subscribers("/n", 2, patience));
  for (std::uint64_t i = 1; i <= 20; ++i)
    CHECK(source.publish_to(far_id(), "/n", count{i}) == publish_result::taken);
  for (std::uint64_t i = 1; i <= 20; ++i)
    CHECK(next_number(sub) == i);
}
