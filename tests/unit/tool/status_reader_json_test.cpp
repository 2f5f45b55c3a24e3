// SPDX-License-Identifier: BSD-3-Clause
#include "status_reader.hpp"

#include <doctest/doctest.h>

#include <pubsub/endpoint.hpp>

#include "support/published.hpp"

using namespace pubsub;
using namespace pubsub::tool;

TEST_CASE("the status that an endpoint writes is read") {
  endpoint_options options;
  options.name = "relay-1";
  endpoint ep{options};
  auto sub = ep.make_subscriber({"/t", "say \"x\""},
                                {.policy = overflow_policy::drop_oldest, .capacity_messages = 7});
  test::sent(ep.publish("/t", count{1}));
  const auto x = read_status(ep.status_text());
  REQUIRE(x);
  CHECK(x->id == to_string(ep.id()));
  CHECK(x->name == "relay-1");
  CHECK(x->counters["published"] == 1);
  CHECK(x->counters["no such counter"] == 0);
  CHECK_FALSE(x->all_links.empty());
  CHECK(x->all_subscribers["offered"] == 1);
  CHECK(x->peers.empty());
  REQUIRE(x->subscribers.size() == 1);
  CHECK(x->subscribers[0].topics.first == std::vector<std::string>{"/t", "say \"x\""});
  CHECK(x->subscribers[0].capacity_messages == 7);
  CHECK(x->subscribers[0].counters["queued"] == 1);
  CHECK(x->subscribers[0].where.empty());
  const auto picky = ep.make_subscriber({"/u"}, *condition::make("$ == \"x\""));
  CHECK(read_status(ep.status_text())->subscribers[1].where == "$ == \"x\"");
}

TEST_CASE("a status without members that are new is read, and what is none is an error") {
  const auto old =
      read_status(R"({"id":"a","uptime_s":1.5,"counters":{"received":3},"subscribers":[],
      "peers":[{"id":null,"address":"h:1","state":"lost","wire_version":0,"topics":[],"topics_total":0,
      "counters":{"sent":2}}],"left_out":{"peers":4,"subscribers":5}})");
  REQUIRE(old);
  CHECK(old->name.empty());
  CHECK(old->all_links.empty());
  CHECK(old->peers_left_out == 4);
  CHECK(old->subscribers_left_out == 5);
  REQUIRE(old->peers.size() == 1);
  CHECK(old->peers[0].id.empty());
  CHECK(old->peers[0].counters["sent"] == 2);
  CHECK_FALSE(old->peers[0].client);
  CHECK_FALSE(old->peers[0].round_trip_us);
  for (const auto* text : {"", "{}", "[]", "{\"id\":1}", "{\"id\":\"a\",\"uptime_s\":\"long\"}"})
    CHECK(read_status(text).error() == errc::invalid_data);
}

TEST_CASE("the nodes of a network are read with whether they can be reached") {
  const auto x =
      read_network(R"({"id":"a","nodes":[{"id":"b","name":"n","next_hop":"b","relays":true},
      {"id":"c","name":"","next_hop":null,"relays":false}],"left_out":3})");
  REQUIRE(x);
  REQUIRE(x->nodes.size() == 2);
  CHECK(x->nodes[0].name == "n");
  CHECK((x->nodes[0].reachable && x->nodes[0].relays));
  CHECK_FALSE((x->nodes[1].reachable || x->nodes[1].relays));
  CHECK(x->left_out == 3);
  CHECK(read_network("{}").error() == errc::invalid_data);
}

TEST_CASE("sets of counters are added and taken away by name, down to nothing") {
  counter_set x;
  x.add("a", 5);
  counter_set y;
  y.add("a", 2);
  y.add("b", 1);
  x += y;
  CHECK((x["a"] == 7 && x["b"] == 1));
  x -= y;
  x -= y;
  CHECK((x["a"] == 3 && x["b"] == 0));
}
