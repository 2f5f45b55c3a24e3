// An endpoint as a client of a WebSocket server, which does here what each test says;
// tests/python/test_zeek_websocket.py has another server.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/eventually.hpp"
#include "support/websocket_server.hpp"

#include <pubsub/binary.hpp>
#include <pubsub/cluster/websocket_member.hpp>
#include <pubsub/cluster/websocket_server.hpp>
#include <pubsub/format.hpp>
#include <pubsub/zeek/event.hpp>

#include <doctest/doctest.h>

#include <latch>
#include <optional>
#include <thread>
#include <tuple>

using namespace pubsub;
using namespace pubsub::cluster;
using namespace std::chrono_literals;

namespace {

constexpr auto limit = 20s;

std::string event_on(std::string_view topic, count n) {
  const auto event = encode_binary(zeek::make_event("e", vector{n}));
  return to_json(topic, *data_view::make(*event));
}

/// As a server sends it; up to 65,535 bytes.
std::string text_frame(const std::string& text) {
  std::string result{"\x81"};
  if (text.size() > 125)
    result += {126, static_cast<char>(text.size() >> 8)};
  return result + static_cast<char>(text.size()) + text;
}

/// The topics of `n` events that come to the server.
std::vector<std::string> topics_of(test::websocket_party& party, int n) {
  std::vector<std::string> result;
  for (int i = 0; i < n; ++i)
    result.push_back(message_from_json(party.read())->topic);
  return result;
}

count number_of_next(subscriber& events) {
  const auto message = events.get_for(limit);
  REQUIRE(message);
  const auto event = zeek::view_event(get_view(*message));
  REQUIRE(event);
  return (*event->args().begin()).as_count();
}

/// An endpoint with a member, and the server's side of its connection, which is open.
struct connected {
  explicit connected(filter topics = {"y/"}, std::size_t capacity = 65'536)
      : from_cluster(ep.make_subscriber(std::move(topics))) {
    options.url = server.url();
    options.incoming.capacity_messages = capacity;
    auto joined = websocket_member::join(ep, options);
    REQUIRE_MESSAGE(joined, joined.error().message());
    member.emplace(std::move(*joined));
    std::tie(party, subscriptions) = server.serve();
    REQUIRE(member->wait_connected(limit));
  }

  count next_number() { return number_of_next(from_cluster); }

  test::websocket_server server;
  endpoint ep;
  subscriber from_cluster;
  websocket_options options;
  std::unique_ptr<test::websocket_party> party;
  std::optional<websocket_member> member;
  std::string subscriptions;
};

} // namespace

TEST_CASE("a client passes events on and counts them") {
  connected all;
  CHECK(all.subscriptions == R"(["y/"])");
  CHECK(all.member->problem().empty());
  for (count n = 0; n < 100; ++n)
    all.party->send(event_on("y/1", n));
  all.party->send("nonsense");
  all.party->send(R"({"type":"data-message","topic":"y/1","@data-type":"count","data":1})");
  all.party->send(event_on("z", 0));
  all.party->send(event_on("y/2", 100));
  for (count n = 0; n <= 100; ++n)
    CHECK(all.next_number() == n);
  REQUIRE(all.ep.wait_for_subscribers("x/1", 1, limit));
  CHECK(all.ep.publish("x/0", data{"no event"}) == publish_result::taken);
  CHECK(all.ep.publish("x/1", zeek::make_event("e", vector{count{7}})) == publish_result::taken);
  CHECK(all.party->read() == event_on("x/1", 7));
  REQUIRE(test::eventually([&] { return all.member->counters().events_sent == 1; }));
  const auto counted = all.member->counters();
  CHECK(counted.connections == 1);
  CHECK(counted.events_received == 101);
  CHECK(counted.malformed == 2);
  CHECK(counted.unwanted == 1);
  CHECK(counted.not_events == 1);
  CHECK(counted.dropped + counted.refused + counted.repeated + counted.left_to_partner == 0);
}

TEST_CASE("what a server sends behind its acknowledgement waits for the endpoint") {
  test::websocket_server server;
  endpoint ep;
  auto from_cluster = ep.make_subscriber({"y/"});
  const auto member = websocket_member::join(ep, {.url = server.url()});
  REQUIRE(member);
  const auto party = server.accept();
  party->upgrade();
  CHECK(party->read() == R"(["y/"])");
  constexpr count events = 100;
  auto bytes = text_frame(R"({"type":"ack","endpoint":"some-websocket-0","version":"8.2.2"})");
  for (count n = 0; n < events; ++n)
    bytes += text_frame(event_on("y/1", n));
  party->send_raw(bytes);
  for (count n = 0; n < events; ++n)
    CHECK(number_of_next(from_cluster) == n);
  CHECK(member->counters().events_received == events);
}

TEST_CASE("what a server of ours publishes once it knows a subscriber gets to it") {
  for (int round = 0; round < 20; ++round) {
    endpoint at_server;
    const auto server = websocket_server::start(at_server, {.address = "ws://127.0.0.1:0"});
    REQUIRE(server);
    endpoint ep;
    auto from_cluster = ep.make_subscriber({"y/"});
    const auto member = websocket_member::join(ep, {.url = server->uri()});
    REQUIRE(member);
    REQUIRE(at_server.wait_for_subscribers("y/1", 1, limit));
    for (count n = 0; n < 100; ++n)
      REQUIRE(at_server.publish("y/1", zeek::make_event("e", vector{n})) == publish_result::taken);
    for (count n = 0; n < 100; ++n)
      CHECK(number_of_next(from_cluster) == n);
  }
}

TEST_CASE("a burst that is longer than the queue of a client arrives") {
  connected all{{"y/"}, 10};
  constexpr count events = 2000;
  std::string bytes;
  for (count n = 0; n < events; ++n)
    bytes += text_frame(event_on("y/1", n));
  all.party->send_raw(bytes);
  for (count n = 0; n < events; ++n)
    REQUIRE(all.next_number() == n);
  CHECK(all.member->counters().dropped == 0);
}

TEST_CASE("a subscriber that takes nothing makes a client drop events, and count them") {
  connected all{{}, 10};
  const auto stuck = all.ep.make_subscriber({"y/"}, {.capacity_messages = 1});
  const auto second = all.server.serve().first;
  REQUIRE(test::eventually([&] { return all.member->counters().extended == 1; }));
  constexpr std::uint64_t events = 20'000;
  std::string bytes;
  for (count n = 0; n < events; ++n)
    bytes += text_frame(event_on("y/1", n));
  second->send_raw(bytes);
  CHECK(test::eventually([&] {
    const auto now = all.member->counters();
    return now.dropped > 0 && now.events_received + now.dropped == events;
  }));
}

TEST_CASE("a client that leaves when it looks for topics again says goodbye, and is gone") {
  test::websocket_server server;
  const endpoint ep;
  std::latch busy{1};
  std::latch leaves{1};
  const auto keep_busy = [&](const error&) {
    busy.count_down();
    leaves.wait();
    const auto until = std::chrono::steady_clock::now() + 200ms; // several looks are due then
    CHECK(test::eventually([&] { return std::chrono::steady_clock::now() > until; }));
  };
  auto joined = websocket_member::join(ep, {.url = server.url()}, {"", keep_busy});
  REQUIRE(joined);
  std::optional<websocket_member> member{std::move(*joined)};
  const auto party = server.serve().first;
  REQUIRE(member->wait_connected(limit));
  party->send(R"({"type":"error","code":"some","context":"thing"})");
  busy.wait();
  std::thread goes{[&] {
    leaves.count_down();
    member.reset();
  }};
  CHECK(party->until_closed() == 1000);
  goes.join();
}

TEST_CASE("a text frame that is not UTF-8 is read") {
  connected all;
  std::string message = event_on("y/1", 5);
  message.insert(message.find("\"e\"") + 2, "\xff");
  all.party->send_raw(text_frame(message));
  const auto got = all.from_cluster.get_for(limit);
  REQUIRE(got);
  CHECK(zeek::view_event(get_view(*got))->name() == "e\xff");
}

TEST_CASE("what the server finds wrong is told and counted, and changes nothing") {
  connected all;
  all.party->send(R"({"type":"error","code":"deserialization_failed","context":"no such event"})");
  all.party->send(event_on("y/1", 1));
  CHECK(all.next_number() == 1);
  CHECK(all.member->counters().errors == 1);
  CHECK(all.member->problem().ends_with("the server says deserialization_failed: no such event"));
}

TEST_CASE("topics that are wanted later take another connection, and no event comes twice") {
  connected all;
  REQUIRE(all.ep.wait_for_subscribers("y/1", 2, limit));
  CHECK(all.ep.publish("other", zeek::make_event("e", {})) == publish_result::taken);
  CHECK(topics_of(*all.party, 1) == std::vector<std::string>{"other"}); // belongs to none
  all.from_cluster.add_topic("");
  const auto [second, subscriptions] = all.server.serve();
  CHECK(subscriptions == R"([""])");
  REQUIRE(test::eventually([&] { return all.member->counters().extended == 1; }));
  second->send(event_on("y/1", 0));
  second->send(event_on("other", 1));
  CHECK(all.next_number() == 1);
  all.party->send(event_on("y/1", 2));
  CHECK(all.next_number() == 2);
  CHECK(all.member->counters().repeated == 1);
  for (const auto* each : {"y/2", "other", "y/3"})
    CHECK(all.ep.publish(each, zeek::make_event("e", {})) == publish_result::taken);
  CHECK(topics_of(*all.party, 2) == std::vector<std::string>{"y/2", "y/3"});
  CHECK(topics_of(*second, 1) == std::vector<std::string>{"other"});
}

TEST_CASE("instead of a fifth connection one takes the place of all") {
  connected all;
  std::vector<std::unique_ptr<test::websocket_party>> more;
  for (const auto* each : {"a", "b", "c"}) {
    all.from_cluster.add_topic(each);
    auto [party, subscriptions] = all.server.serve();
    CHECK(subscriptions == std::string{R"([")"} + each + R"("])");
    more.push_back(std::move(party));
  }
  REQUIRE(test::eventually([&] { return all.member->counters().extended == 3; }));
  all.from_cluster.remove_topic("b");
  all.from_cluster.add_topic("d");
  CHECK(all.party->until_closed() == 1000);
  for (auto& each : more)
    CHECK(each->until_closed() == 1000);
  const auto [only, subscriptions] = all.server.serve();
  CHECK(subscriptions == R"(["a","c","d","y/"])");
  only->send(event_on("c", 3));
  CHECK(all.next_number() == 3);
  const auto counted = all.member->counters();
  CHECK(counted.replaced == 1);
  CHECK(counted.connections == 1);
}

TEST_CASE("what is under way when connections are replaced arrives") {
  connected all;
  std::vector<std::unique_ptr<test::websocket_party>> more;
  for (const auto* each : {"a", "b", "c"}) {
    all.from_cluster.add_topic(each);
    more.push_back(all.server.serve().first);
  }
  REQUIRE(test::eventually([&] { return all.member->counters().extended == 3; }));
  all.from_cluster.add_topic("d");
  CHECK(more.back()->until_closed() == 1000); // and so all have been told
  for (count n = 0; n < 10; ++n)
    all.party->send(event_on("y/1", n));
  for (count n = 0; n < 10; ++n)
    CHECK(all.next_number() == n);
  CHECK(all.party->until_closed() == 1000);
}

TEST_CASE("a server that closes is a lost peer, says why, and is found again") {
  connected all;
  auto events = all.ep.make_status_subscriber();
  all.party->close(1011, "Ping timeout");
  REQUIRE(test::eventually([&] {
    return all.member->problem().ends_with("the server has closed the connection with code 1011: "
                                           "Ping timeout");
  }));
  std::tie(all.party, all.subscriptions) = all.server.serve();
  CHECK(all.subscriptions == R"(["y/"])"); // and not what the server is to get, which is everything
  REQUIRE(all.member->wait_connected(limit));
  CHECK(all.member->problem().empty());
  all.party->send(event_on("y/1", 1));
  CHECK(all.next_number() == 1);
  CHECK(all.member->counters().connections == 2);
  bool lost = false;
  while (const auto event = events.try_get())
    lost = lost || event->code() == status_code::peer_lost;
  CHECK(lost);
}

TEST_CASE("a server that says nothing is asked, and then lost") {
  test::websocket_server server;
  const endpoint ep;
  const auto member = websocket_member::join(ep, {.url = server.url(), .liveness_timeout = 200ms});
  REQUIRE(member);
  const auto party = server.serve().first; // does not read any more, so it answers no question
  REQUIRE(test::eventually(
      [&] { return member->problem().ends_with("the server has said nothing for 200 ms"); }));
}

TEST_CASE("a server that is no WebSocket server, or none at all, is said to be that") {
  std::string gone;
  {
    const test::websocket_server server;
    gone = server.url();
  }
  const endpoint ep;
  const auto member = websocket_member::join(ep, {.url = gone});
  REQUIRE(member);
  CHECK(test::eventually(
      [&] { return member->problem() == gone + ": no connection: Connection refused"; }));
  CHECK_FALSE(member->wait_connected(1ms));
  test::websocket_server server;
  const auto other = websocket_member::join(ep, {.url = server.url(), .timeout = 100ms});
  REQUIRE(other);
  const auto silent = server.accept();
  CHECK(test::eventually(
      [&] { return other->problem().ends_with("no answer within 100 ms to the HTTP request"); }));
  CHECK(other->counters().connections == 0);
}

TEST_CASE("a server that acknowledges nothing is said to be that") {
  test::websocket_server server;
  const endpoint ep;
  const auto member = websocket_member::join(ep, {.url = server.url(), .timeout = 2s});
  REQUIRE(member);
  const auto party = server.accept();
  party->upgrade();
  CHECK(party->read() == "[]");
  CHECK(test::eventually([&] {
    return member->problem().ends_with("no answer within 2000 ms to the subscriptions");
  }));
  CHECK_FALSE(member->wait_connected(1ms));
}

TEST_CASE("an endpoint may be destroyed before its client, which says goodbye when it goes") {
  connected all;
  all.ep = endpoint{};
  all.member.reset();
  CHECK(all.party->until_closed() == 1000);
}
