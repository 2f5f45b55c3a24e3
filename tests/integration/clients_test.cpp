// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"

#include <pubsub/pattern/remote.hpp>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

endpoint_options client_options() {
  endpoint_options options;
  options.forwarding = forwarding::off;
  return options;
}

/// An endpoint that is a client of the relay at `uri`.
struct client_of : endpoint {
  explicit client_of(const std::string& uri) : endpoint(client_options()) {
    REQUIRE(peer(uri).has_value());
  }
};

/// Relays in a row, each with an address.
struct relays : chain {
  explicit relays(std::size_t n) : chain(n) {
    for (const auto& each : all)
      uris.push_back(listen(*each));
  }
  std::vector<std::string> uris;
};

void publish_numbers(endpoint& from, std::string_view topic, std::uint64_t first, std::uint64_t n) {
  for (auto i = first; i < first + n; ++i)
    REQUIRE(from.publish(topic, count{i}) == publish_result::taken);
}

} // namespace

TEST_CASE("clients reach one another over their relays, and nobody else knows them") {
  for (const std::size_t between : {1, 2, 4}) {
    relays net{between};
    client_of left{net.uris.front()};
    client_of right{net.uris.back()};
    auto sub = right.make_subscriber({"/t"});
    REQUIRE(sub.wait_ready(patience));
    publish_numbers(left, "/t", 0, 1000);
    CHECK(receives_in_order(sub, 1000));
    CHECK(left.drain(patience) == 0);
    for (const auto& relay : net.all) {
      CHECK(relay->nodes().size() == between - 1);
      for (const auto& node : relay->nodes())
        CHECK(std::ranges::count(node.neighbours, left.id()) == 0);
    }
    REQUIRE(left.nodes().size() == 1);
    CHECK(left.nodes().front().id == net.front().id());
    CHECK(net.front().counters().duplicates == 0);
  }
}

TEST_CASE("a message of a client names it, wherever it arrives") {
  relays net{3};
  client_of left{net.uris.front()};
  client_of right{net.uris.back()};
  auto away = right.make_subscriber({"/t"});
  auto at_relay = net.back().make_subscriber({"/t"});
  REQUIRE(away.wait_ready(patience));
  REQUIRE(at_relay.wait_ready(patience));
  publish_numbers(left, "/t", 0, 1);
  for (auto* sub : {&away, &at_relay}) {
    const auto msg = sub->get_for(patience);
    REQUIRE(msg.has_value());
    CHECK(get_publishing_endpoint(*msg) == left.id());
  }
}

TEST_CASE("a message of a client names it at a relay that stands by for it, too") {
  relays net{2};
  endpoint client{client_options()};
  for (const auto& uri : net.uris)
    REQUIRE(client.peer(uri).has_value());
  auto sub = net.back().make_subscriber({"/t"});
  REQUIRE(sub.wait_ready(patience));
  CHECK(eventually([&] { // the relay has been told that the other one serves
    publish_numbers(client, "/t", 0, 1);
    const auto msg = sub.get_for(patience);
    return msg.has_value() && get_publishing_endpoint(*msg) == client.id();
  }));
}

TEST_CASE("a client does not send what its relay says is unwanted, until it is wanted") {
  relays net{2};
  client_of publisher{net.uris.front()};
  CHECK(publisher.subscribers("/t") == 0);
  CHECK(publisher.publish("/t", count{0}) == publish_result::unwanted);
  client_of other{net.uris.back()};
  auto sub = other.make_subscriber({"/t"});
  REQUIRE(sub.wait_ready(patience)); // the publisher knows by then
  CHECK(publisher.publish("/t", count{1}) == publish_result::taken);
  CHECK(next_number(sub) == 1);
  sub.close();
  CHECK(eventually([&] { return publisher.publish("/t", count{2}) == publish_result::unwanted; }));
}

TEST_CASE("whoever waits for a client's subscription to be ready misses nothing it publishes") {
  relays net{2};
  client_of publisher{net.uris.front()};
  for (std::uint64_t round = 0; round < 100; ++round) {
    const auto topic = "/t/" + std::to_string(round);
    REQUIRE(publisher.subscribers(topic) == 0);
    auto sub = net.back().make_subscriber({topic});
    REQUIRE(sub.wait_ready(patience));
    REQUIRE(publisher.publish(topic, count{round}) == publish_result::taken);
    CHECK(next_number(sub) == round);
  }
}

TEST_CASE("a client counts the subscribers of a topic by its relay, and waits for them") {
  relays net{2};
  client_of asks{net.uris.front()};
  client_of near{net.uris.front()};
  client_of far{net.uris.back()};
  client_of as_far{net.uris.back()};
  CHECK(asks.subscribers("/t") == 0);
  CHECK_FALSE(asks.wait_for_subscribers("/t", 1, 1ms));
  auto own = asks.make_subscriber({"/t"});
  CHECK(asks.subscribers("/t") == 1); // itself, once
  auto first = near.make_subscriber({"/t"});
  auto second = far.make_subscriber({"/t"});
  auto third = as_far.make_subscriber({"/"}); // of the relay that is counted already
  CHECK(asks.wait_for_subscribers("/t", 3, patience));
  REQUIRE(third.wait_ready(patience));
  CHECK(asks.subscribers("/t") == 3);
  publish_numbers(asks, "/t", 0, 100);
  for (auto* sub : {&own, &first, &second, &third})
    CHECK(receives_in_order(*sub, 100));
}

TEST_CASE("a message for one client finds it at its relay, once it has been heard") {
  relays net{3};
  client_of left{net.uris.front()};
  client_of right{net.uris.back()};
  client_of beside{net.uris.back()};
  auto hears = left.make_subscriber({"/"});
  auto in_right = right.make_subscriber({"/private"});
  auto in_beside = beside.make_subscriber({"/"});
  REQUIRE(hears.wait_ready(patience));
  for (auto* sender : {&right, &beside}) {
    publish_numbers(*sender, "/hello", 0, 1);
    REQUIRE(hears.get_for(patience).has_value());
  }
  CHECK(receives_in_order(in_beside, 1));
  CHECK(receives_in_order(in_beside, 1)); // its own
  CHECK(left.publish_to(right.id(), "/private/1", count{7}) == publish_result::taken);
  CHECK(next_number(in_right) == 7);
  CHECK(net.back().publish_to(right.id(), "/private/2", count{8}) == publish_result::taken);
  CHECK(next_number(in_right) == 8);
  CHECK(beside.publish_to(right.id(), "/private/3", count{9}) == publish_result::taken);
  CHECK(next_number(in_right) == 9);
  CHECK(net.all[1]->publish_to(endpoint_id::random(), "/private", count{9}) ==
        publish_result::unwanted);
  CHECK(in_beside.available() == 0);
}

TEST_CASE("of several relays one serves a client, and another takes over when it is lost") {
  relays net{3};
  client_of publisher{net.uris[1]};
  endpoint client{client_options()};
  REQUIRE(client.peer(net.uris[0]).has_value());
  REQUIRE(client.peer(net.uris[2]).has_value());
  auto sub = client.make_subscriber({"/t"});
  REQUIRE(sub.wait_ready(patience));
  publish_numbers(publisher, "/t", 0, 100);
  CHECK(receives_in_order(sub, 100));
  CHECK(client.counters().duplicates == 0);
  CHECK(net.all[2]->counters().received == 0); // it stands by
  net.all[0]->close();
  REQUIRE(eventually([&] {
    const auto nodes = client.nodes();
    return nodes.size() == 1 && nodes.front().id == net.all[2]->id();
  }));
  REQUIRE(sub.wait_ready(patience));
  publish_numbers(publisher, "/t", 100, 100);
  for (std::uint64_t i = 100; i < 200; ++i)
    CHECK(next_number(sub) == i);
}

TEST_CASE("relays that do not reach one another both serve a client, until they do") {
  relays left{1};
  relays right{1};
  endpoint client{client_options()};
  REQUIRE(client.peer(left.uris[0]).has_value());
  REQUIRE(client.peer(right.uris[0]).has_value());
  auto sub = client.make_subscriber({"/t"});
  REQUIRE(sub.wait_ready(patience));
  CHECK(eventually([&] { return client.nodes().size() == 2; }));
  publish_numbers(left.front(), "/t", 0, 1);
  CHECK(next_number(sub) == 0);
  publish_numbers(right.front(), "/t", 1, 1);
  CHECK(next_number(sub) == 1);
  auto one = left.front().make_subscriber({"/u"});
  auto other = right.front().make_subscriber({"/u"});
  REQUIRE(client.wait_for_subscribers("/u", 2, patience));
  publish_numbers(client, "/u", 2, 1);
  CHECK(next_number(one) == 2);
  CHECK(next_number(other) == 2);
  REQUIRE(left.front().peer(right.uris[0]).has_value());
  CHECK(eventually([&] { return client.nodes().size() == 1; }));
  REQUIRE(one.wait_ready(patience));
  REQUIRE(other.wait_ready(patience));
  publish_numbers(client, "/u", 3, 1);
  CHECK(next_number(one) == 3);
  CHECK(next_number(other) == 3);
  REQUIRE(left.front().unpeer(right.front().id()).has_value());
  CHECK(eventually([&] { return client.nodes().size() == 2; }));
}

TEST_CASE("two clients that are linked with each other exchange what they publish themselves") {
  endpoint one{client_options()};
  endpoint other{client_options()};
  join(one, other);
  auto sub = other.make_subscriber({"/t"});
  REQUIRE(sub.wait_ready(patience));
  REQUIRE(one.wait_for_subscribers("/t", 1, patience));
  publish_numbers(one, "/t", 0, 10);
  CHECK(receives_in_order(sub, 10));
  CHECK(one.publish_to(other.id(), "/t", count{10}) == publish_result::taken);
  CHECK(next_number(sub) == 10);
}

TEST_CASE("a call from one client to another is done, over their relays") {
  relays net{2};
  client_of serves{net.uris.front()};
  client_of calls{net.uris.back()};
  auto echo = service::open(serves, "echo");
  REQUIRE(echo.has_value());
  REQUIRE(echo->add("echo", [](const data_view& x) -> expected<data> { return x.to_data(); }));
  REQUIRE(echo->start());
  auto caller = remote::open(calls, "echo");
  REQUIRE(caller.has_value());
  REQUIRE(caller->wait_for_instances(1, patience));
  for (std::uint64_t i = 0; i < 100; ++i) {
    const auto result = caller->call("echo", count{i});
    REQUIRE_MESSAGE(result.has_value(), result.error().context());
    CHECK(*result == data{count{i}});
  }
}
