// Making, losing and ending peerings.
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

endpoint_options with_id_of(std::uint8_t byte) {
  endpoint_id::bytes_type bytes;
  bytes.fill(byte);
  endpoint_options out;
  out.id = endpoint_id{bytes};
  return out;
}

} // namespace

TEST_CASE("whoever has the smaller id, both sides see the peering and what the other wants") {
  for (const bool connecting_is_smaller : {true, false}) {
    endpoint a{forwarding_on(with_id_of(connecting_is_smaller ? 1 : 2))};
    endpoint b{with_id_of(connecting_is_smaller ? 2 : 1)};
    auto wants_a = a.make_subscriber({"/a"});
    auto wants_b = b.make_subscriber({"/b"});
    CHECK(a.peer(listen(b), once));
    CHECK(b.wait_for_peer(a.id(), patience));
    CHECK(a.wait_for_peers(1, 0s));
    REQUIRE(a.peers().size() == 1);
    CHECK(a.peers()[0].id == b.id());
    CHECK(a.peers()[0].state == peer_state::peered);
    CHECK(a.peers()[0].filter == filter{"/b"});
    CHECK(b.peers()[0].filter == filter{"/a"});
    CHECK(b.peers()[0].network->address == "127.0.0.1");
    sent(a.publish("/b", count{1}));
    sent(b.publish("/a", count{2}));
    CHECK(next_number(wants_b) == 1);
    CHECK(next_number(wants_a) == 2);
  }
}

TEST_CASE("peer returns although the other side has left before the caller looked") {
  for (auto round = 0; round < 50; ++round) {
    endpoint lasting;
    auto leaving = std::make_unique<endpoint>();
    auto events = lasting.make_status_subscriber(); // it is peered, and so has been
    const auto where = listen(*leaving);
    std::thread leaves{[&] {
      while (const auto event = events.get_for(patience))
        if (event->code() == status_code::peer_added)
          break;
      leaving->close(0s);
    }};
    const auto began = std::chrono::steady_clock::now();
    CHECK(lasting.peer(where, peer_options{.retry = 20ms, .timeout = patience}));
    CHECK(std::chrono::steady_clock::now() - began < patience);
    leaves.join();
  }
}

TEST_CASE("events of a peering come in order on both sides") {
  endpoint a;
  endpoint b;
  auto at_a = a.make_status_subscriber();
  auto at_b = b.make_status_subscriber();
  const auto where = listen(b);
  REQUIRE(a.peer(where, once));
  REQUIRE(b.wait_for_peer(a.id(), patience));
  CHECK(a.unpeer(b.id()));
  CHECK(eventually([&] { return b.peers().empty(); }));
  const auto expect = [](status_subscriber& events, const endpoint_id& peer,
                         std::initializer_list<status_code> codes) {
    for (auto code : codes) {
      const auto event = events.get_for(patience);
      REQUIRE(event);
      CHECK(event->code() == code);
      CHECK(event->peer() == peer);
    }
    CHECK_FALSE(events.get_for(0s));
  };
  expect(at_a, b.id(),
         {status_code::endpoint_discovered, status_code::peer_added, status_code::peer_removed,
          status_code::endpoint_unreachable});
  expect(at_b, a.id(),
         {status_code::endpoint_discovered, status_code::peer_added, status_code::peer_lost,
          status_code::endpoint_unreachable});
  CHECK(a.peers().empty());
}

TEST_CASE("what is published before unpeering arrives") {
  for (int round = 0; round < 20; ++round) {
    endpoint a;
    endpoint b;
    auto sub = b.make_subscriber({"/t"});
    REQUIRE(a.peer(listen(b), once));
    for (std::uint64_t i = 0; i < 1000; ++i)
      sent(a.publish("/t", count{i}));
    CHECK(a.unpeer(b.id()));
    CHECK(sub.counters().offered == 1000);
    CHECK(receives_in_order(sub, 1000));
  }
}

TEST_CASE("a peering can be ended by address, and made again") {
  endpoint a;
  endpoint b;
  const auto where = listen(b);
  for (int round = 0; round < 5; ++round) {
    REQUIRE(a.peer(where, soon));
    CHECK(a.unpeer(where));
    CHECK(a.peers().empty());
    CHECK(eventually([&] { return b.peers().empty(); }));
  }
}

TEST_CASE("ending what is no peering is an error and an event") {
  endpoint a;
  auto events = a.make_status_subscriber();
  CHECK(a.unpeer(endpoint_id::random()).error() == errc::peer_invalid);
  CHECK(next_error(events)->failure() == errc::peer_invalid);
  CHECK(a.unpeer("tcp://127.0.0.1:9").error() == errc::peer_invalid);
  CHECK(next_error(events)->failure() == errc::peer_invalid);
  CHECK(a.unpeer("nonsense").error() == errc::invalid_argument);
}

TEST_CASE("a subscriber to errors sees no other events") {
  endpoint a;
  endpoint b;
  auto errors = a.make_status_subscriber(status_events::errors);
  auto all = a.make_status_subscriber();
  CHECK(a.peer(listen(b), once));
  CHECK_FALSE(a.unpeer(endpoint_id::random()));
  const auto seen = everything(errors);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].failure() == errc::peer_invalid);
  CHECK(all.available() == 3);
}

TEST_CASE("a refused connection without retry fails fast, with the address, and as an event") {
  endpoint a;
  auto events = a.make_status_subscriber();
  const auto where = local_uri(unused_port());
  const auto before = std::chrono::steady_clock::now();
  const auto result = a.peer(where, once);
  CHECK(std::chrono::steady_clock::now() - before < 5s);
  REQUIRE_FALSE(result);
  CHECK(result.error() == errc::peer_unavailable);
  CHECK(where.ends_with(result.error().context().substr(0, result.error().context().find(": "))));
  const auto event = next_error(events);
  REQUIRE(event);
  CHECK(event->failure() == errc::peer_unavailable);
  CHECK(event->network()->address == "127.0.0.1");
  CHECK(a.peers().empty());
}

TEST_CASE("addresses that cannot be used are refused at once") {
  endpoint a;
  CHECK(a.peer("tcp://127.0.0.1:0").error() == errc::invalid_argument);
  CHECK(a.peer("127.0.0.1").error() == errc::invalid_argument);
  CHECK(a.peer("udp://127.0.0.1:1").error() == errc::not_supported);
  CHECK(a.listen("127.0.0.1").error() == errc::invalid_argument);
  CHECK(a.listen("tcp://192.0.2.1:0").error() == errc::cannot_listen);
  raw_listener taken;
  CHECK(a.listen(taken.uri()).error() == errc::address_in_use);
}

TEST_CASE("with retry a peer is found once it begins to listen") {
  const auto port = unused_port();
  endpoint a;
  auto events = a.make_status_subscriber();
  CHECK(a.peer_async(local_uri(port), soon));
  CHECK(next_error(events)->failure() == errc::peer_unavailable);
  CHECK(next_error(events)->failure() == errc::peer_unavailable);
  CHECK(a.peers().at(0).state == peer_state::connecting);
  endpoint b;
  REQUIRE(b.listen(local_uri(port)));
  CHECK(a.wait_for_peer(b.id(), patience));
  CHECK(next_event(events, status_code::peer_added)->peer() == b.id());
}

TEST_CASE("a request that has not succeeded yet can be withdrawn") {
  endpoint a;
  const auto where = local_uri(unused_port());
  CHECK(a.peer_async(where, soon));
  CHECK(a.unpeer(where));
  CHECK(a.peers().empty());
  CHECK(a.unpeer(where).error() == errc::peer_invalid);
}

TEST_CASE("an endpoint that is closed knows no address any more that it was connecting to") {
  endpoint a;
  const auto where = local_uri(unused_port());
  REQUIRE(a.peer_async(where, {.retry = 1h}));
  CHECK(a.peers().size() == 1);
  a.close();
  CHECK(a.peers().empty());
  CHECK(a.unpeer(where).error() == errc::peer_invalid);
}

TEST_CASE("two endpoints that connect to each other at once become one peering") {
  for (int round = 0; round < 30; ++round) {
    endpoint a;
    endpoint b;
    auto wants_a = a.make_subscriber({"/t"});
    auto wants_b = b.make_subscriber({"/t"});
    const auto at_a = listen(a);
    const auto at_b = listen(b);
    std::thread from_a{[&] { CHECK(a.peer(at_b, soon)); }};
    std::thread from_b{[&] { CHECK(b.peer(at_a, soon)); }};
    from_a.join();
    from_b.join();
    REQUIRE(a.wait_for_peer(b.id(), patience));
    REQUIRE(b.wait_for_peer(a.id(), patience));
    CHECK(a.peers().size() == 1);
    CHECK(b.peers().size() == 1);
    REQUIRE(a.wait_for_subscribers("/t", 2, patience));
    sent(a.publish("/t", count{1}));
    CHECK(next_number(wants_b) == 1);
    CHECK(next_number(wants_a) == 1);
    const auto left = a.unpeer(b.id());
    CHECK_MESSAGE(left, left.error().message());
    CHECK(wants_b.counters().offered == 1);
  }
}

TEST_CASE("a second connection to the same peer is success and changes nothing") {
  endpoint a{with_id_of(1)};
  endpoint b{with_id_of(2)};
  const auto at_a = listen(a);
  const auto at_b = listen(b);
  REQUIRE(a.peer(at_b, soon));
  CHECK(b.peer(at_a, soon)); // the other direction
  CHECK(a.peer(at_b, soon)); // the same direction again
  CHECK(b.peer(at_a, once));
  CHECK(a.peers().size() == 1);
  CHECK(b.peers().size() == 1);
  auto sub = b.make_subscriber({"/t"});
  REQUIRE(a.wait_for_subscribers("/t", 1, patience));
  sent(a.publish("/t", count{1}));
  CHECK(next_number(sub) == 1);
  CHECK(sub.available() == 0);
}

TEST_CASE("an endpoint does not peer with itself") {
  endpoint a;
  const auto result = a.peer(listen(a), once);
  REQUIRE_FALSE(result);
  CHECK(a.peers().empty());
}

TEST_CASE("a lost peer is connected to again, and subscriptions return") {
  endpoint a;
  auto events = a.make_status_subscriber();
  auto sub = a.make_subscriber({"/t"});
  const auto port = unused_port();
  for (std::uint64_t round = 0; round < 3; ++round) {
    endpoint b;
    REQUIRE(b.listen(local_uri(port)));
    if (round == 0)
      REQUIRE(a.peer(local_uri(port), soon));
    REQUIRE(b.wait_for_subscribers("/t", 1, patience));
    sent(b.publish("/t", count{round}));
    CHECK(next_number(sub) == round);
    b.close();
    CHECK(next_event(events, status_code::peer_lost)->peer() == b.id());
  }
}

TEST_CASE("a hundred endpoints come and go") {
  endpoint hub;
  const auto where = listen(hub);
  for (int i = 0; i < 100; ++i) {
    endpoint each;
    auto sub = each.make_subscriber({"/t"});
    if (i % 2 == 0)
      CHECK(each.peer(where, once));
    else
      CHECK(each.peer_async(where, soon));
  }
  CHECK(eventually([&] { return hub.peers().empty(); }));
  CHECK(hub.filter().empty());
}

TEST_CASE("a moved endpoint keeps its peers") {
  endpoint b;
  endpoint first;
  REQUIRE(first.peer(listen(b), once));
  endpoint second = std::move(first);
  CHECK(second.peers().size() == 1);
  second = endpoint{};
  CHECK(eventually([&] { return b.peers().empty(); }));
}

TEST_CASE("a peer is found by name, and a name that does not exist is an error") {
  endpoint a;
  endpoint b;
  const auto where = listen(b);
  REQUIRE(a.peer("tcp://localhost" + where.substr(where.rfind(':')), once));
  CHECK(b.wait_for_peer(a.id(), patience));
  const auto nowhere = a.peer("tcp://no-such-host.invalid:9999", once);
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error() == errc::peer_unavailable);
  CHECK(nowhere.error().context().find("no-such-host.invalid") != std::string::npos);
}

TEST_CASE("a node tells what it holds because of each peer") {
  endpoint node;
  endpoint peer;
  join(peer, node);
  auto wanted = peer.make_subscriber({"/wanted"});
  auto all = node.make_subscriber({"/"});
  REQUIRE(node.wait_for_subscribers("/wanted", 2, patience));
  REQUIRE(peer.wait_for_subscribers("/x", 1, patience));
  const auto before = node.peers().at(0).held;
  CHECK(before.topics == 0);
  CHECK(before.reports >= std::string{"/wanted"}.size());
  for (int i = 0; i < 1'000; ++i)
    sent(peer.publish("/x/" + std::string(100, 'x') + std::to_string(i), count{1}));
  CHECK(eventually([&] { return node.peers().at(0).held.topics > 100'000; }));
  CHECK(node.status_text().find(R"("held_bytes":{"topics":)") != std::string::npos);
}
