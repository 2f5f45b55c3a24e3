// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

bool is_node_of(endpoint& one, const endpoint& other) {
  return std::ranges::count(one.nodes(), other.id(), &node_info::id) > 0;
}

/// A message of one arrives at the other, and the other way round.
void check_both_ways(endpoint& one, endpoint& other) {
  for (auto [from, to] : {std::pair{&one, &other}, std::pair{&other, &one}}) {
    auto sub = to->make_subscriber({"/both"});
    REQUIRE(from->wait_for_subscribers("/both", 1, patience));
    REQUIRE(from->publish("/both", count{1}) == publish_result::taken);
    CHECK(next_number(sub) == 1);
  }
}

} // namespace

TEST_CASE("an endpoint that does not listen is a client, and one that listens is a relay") {
  endpoint hub;
  endpoint relay;
  endpoint client;
  listen(relay);
  join(relay, hub);
  join(client, hub);
  CHECK(eventually([&] { return is_node_of(relay, hub); }));
  check_both_ways(client, relay);
  CHECK(is_node_of(hub, relay));
  CHECK_FALSE(is_node_of(hub, client));
  CHECK_FALSE(is_node_of(relay, client));
}

TEST_CASE("a client of two relays passes nothing on from one to the other") {
  endpoint left;
  endpoint right;
  endpoint client;
  join(client, left);
  join(client, right);
  auto here = client.make_subscriber({"/t"});
  auto there = right.make_subscriber({"/t"});
  REQUIRE(left.wait_for_subscribers("/t", 1, patience));
  REQUIRE(left.publish("/t", count{1}) == publish_result::taken);
  CHECK(next_number(here) == 1);
  CHECK(left.subscribers("/t") == 1);
  CHECK(client.counters().forwarded == 0);
}

TEST_CASE("an endpoint that listens after it has peered passes messages on from then on") {
  using retry_delay = std::optional<std::chrono::nanoseconds>;
  for (const auto retry : {retry_delay{}, retry_delay{1s}}) {
    endpoint hub;
    endpoint between;
    REQUIRE(between.peer(listen(hub), {.retry = retry, .timeout = patience}));
    check_both_ways(between, hub);
    CHECK_FALSE(is_node_of(hub, between));
    endpoint leaf;
    join(leaf, between); // returns when the hub has been peered with again
    CHECK(between.wait_for_peer(hub.id(), 0s));
    CHECK(eventually([&] { return is_node_of(hub, between); }));
    check_both_ways(between, hub);
    check_both_ways(leaf, hub);
    CHECK(between.counters().forwarded > 0);
  }
}

TEST_CASE("what was published before an endpoint listens arrives") {
  endpoint hub;
  endpoint between;
  auto sub = hub.make_subscriber({"/t"});
  REQUIRE(between.peer(listen(hub)));
  REQUIRE(between.wait_for_subscribers("/t", 1, patience));
  constexpr std::uint64_t messages = 10'000;
  for (std::uint64_t i = 0; i < messages / 2; ++i)
    REQUIRE(between.publish("/t", count{i}) == publish_result::taken);
  listen(between);
  for (std::uint64_t i = messages / 2; i < messages; ++i)
    REQUIRE(between.publish("/t", count{i}) == publish_result::taken);
  CHECK(receives_in_order(sub, messages));
}

TEST_CASE("an endpoint between a Broker peer and a relay passes messages on, whichever it peers "
          "with first") {
  for (const bool broker_first : {true, false}) {
    CAPTURE(broker_first);
    endpoint broker{speaking(1)};
    endpoint relay;
    endpoint between;
    if (broker_first)
      join(between, broker);
    join(between, relay);
    if (!broker_first)
      join(between, broker);
    check_both_ways(broker, relay);
    CHECK(eventually([&] { return is_node_of(relay, between); }));
  }
}

TEST_CASE("an endpoint that peers with a client is a relay") {
  endpoint_options options;
  options.forwarding = forwarding::off;
  endpoint client{options};
  endpoint relay;
  endpoint between;
  join(between, relay);
  join(between, client);
  check_both_ways(client, relay);
  CHECK(eventually([&] { return is_node_of(relay, between); }));
  CHECK_FALSE(is_node_of(relay, client));
}

TEST_CASE("the role that was chosen stays") {
  endpoint hub;
  endpoint_options off;
  off.forwarding = forwarding::off;
  endpoint always_client{off};
  endpoint always_relay{forwarding_on()};
  join(always_client, hub);
  join(always_relay, hub);
  listen(always_client);
  CHECK(eventually([&] { return is_node_of(hub, always_relay); }));
  CHECK_FALSE(is_node_of(hub, always_client));
}
