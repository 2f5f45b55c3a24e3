// Encrypted links, anonymous and with certificates, do what other links do.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/certificates.hpp"
#include "support/process_usage.hpp"
#include "support/proxy.hpp"
#include "support/published.hpp"
#include "support/raw_peer.hpp"
#include "support/tls_nodes.hpp"
#include "support/tls_party.hpp"

#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

TEST_CASE("messages cross encrypted links, with certificates or without, in both versions") {
  authority ca{"ours"};
  auto by_path = ca.issue("by path");
  by_path.ca_file.clear();
  by_path.ca_path = ca.ca_path();
  for (const auto& tls :
       {tls_options{}, ca.issue("plain"), ca.issue("sealed", "a phrase"), by_path})
    for (const std::uint8_t version : {1, 2}) {
      CAPTURE(tls.key);
      CAPTURE(version);
      endpoint a{with(tls, version)};
      endpoint b{with(tls)};
      auto at_a = a.make_subscriber({"/a"});
      auto at_b = b.make_subscriber({"/b"});
      join_tls(a, b);
      CHECK(a.peers()[0].wire_version == version);
      sent(a.publish("/b", count{1}));
      sent(b.publish("/a", count{2}));
      CHECK(next_number(at_b) == 1);
      CHECK(next_number(at_a) == 2);
      CHECK(a.unpeer(b.id()));
      CHECK(eventually([&] { return b.peers().empty(); }));
    }
}

TEST_CASE("without certificates a link uses the cipher Broker uses, whoever connects") {
  endpoint ep;
  tls_party dialer{raw_socket::connect(listen_tls(ep)), tls_party::role::client};
  REQUIRE(dialer.shake_hands());
  CHECK(dialer.version() == "TLSv1.2");
  CHECK(dialer.cipher() == "AECDH-AES256-SHA");
  CHECK(dialer.read(9) == from_hex("00000005 07 5a45454b")); // the probe of an accepting side

  raw_listener listener;
  REQUIRE(ep.peer_async(tls_uri(listener.port()), once));
  auto came = listener.accept();
  REQUIRE(came);
  tls_party acceptor{std::move(*came), tls_party::role::server};
  REQUIRE(acceptor.shake_hands());
  CHECK(acceptor.version() == "TLSv1.2");
  CHECK(acceptor.cipher() == "AECDH-AES256-SHA");
  const auto hello = acceptor.read(9);
  REQUIRE(hello.size() == 9);
  CHECK(buffer{hello.begin() + 4, hello.end()} == from_hex("06 5a45454b"));
}

TEST_CASE("a TLS peer is told the end before the connection closes") {
  auto ep = std::make_unique<endpoint>();
  tls_party dialer{raw_socket::connect(listen_tls(*ep)), tls_party::role::client};
  REQUIRE(dialer.shake_hands());
  CHECK(dialer.read(9).size() == 9);
  ep.reset();
  CHECK(dialer.is_told_the_end());
}

TEST_CASE("under load every message crosses encrypted links once and in order") {
  for (const std::uint8_t version : {1, 2}) {
    CAPTURE(version);
    endpoint a{with({}, version)};
    endpoint relay{with({}, version)};
    endpoint b{with({}, version)};
    auto sub = b.make_subscriber({"/t"}, {overflow_policy::block, 1000});
    join_tls(a, relay);
    join_tls(relay, b);
    REQUIRE(a.wait_for_subscribers("/t", 1, patience));
    constexpr std::uint64_t n = 50'000;
    std::thread publisher{[&] {
      auto out = a.make_publisher("/t");
      for (std::uint64_t i = 0; i < n; ++i)
        sent(out.publish(count{i}));
    }};
    CHECK(receives_in_order(sub, n));
    publisher.join();
    CHECK(a.drain(patience) == 0);
    CHECK(adds_up(a.peers()[0].counters));
  }
}

TEST_CASE("messages now and then cross an encrypted link from any thread, both ways") {
  endpoint a;
  endpoint b;
  auto at_a = a.make_subscriber({"/a"});
  auto at_b = b.make_subscriber({"/b"});
  join_tls(a, b);
  std::thread echo{[&] {
    for (std::uint64_t i = 0; i < 500; ++i)
      sent(b.publish("/a", count{next_number(at_b)}));
  }};
  for (std::uint64_t i = 0; i < 500; ++i) {
    sent(a.publish("/b", count{i}));
    CHECK(next_number(at_a) == i);
  }
  echo.join();
}

TEST_CASE("encrypted and plain links stand side by side in one network") {
  endpoint hub;
  std::vector<std::unique_ptr<endpoint>> leaves;
  const auto secret = listen_tls(hub);
  const auto open = listen(hub);
  std::vector<subscriber> subs;
  for (int i = 0; i < 8; ++i) {
    leaves.push_back(std::make_unique<endpoint>());
    subs.push_back(leaves.back()->make_subscriber({"/t"}));
    REQUIRE(leaves.back()->peer(i % 2 == 0 ? tls_uri(secret) : open, once));
  }
  REQUIRE(hub.wait_for_peers(8, patience));
  REQUIRE(leaves[0]->wait_for_subscribers("/t", 8, patience));
  sent(leaves[0]->publish("/t", count{7}));
  for (auto& each : subs)
    CHECK(next_number(each) == 7);
}

TEST_CASE("two endpoints that connect to each other over TLS at once become one peering") {
  for (int round = 0; round < 20; ++round) {
    endpoint a;
    endpoint b;
    const auto at_a = tls_uri(listen_tls(a));
    const auto at_b = tls_uri(listen_tls(b));
    REQUIRE(a.peer_async(at_b));
    REQUIRE(b.peer_async(at_a));
    CHECK(a.wait_for_peer(b.id(), patience));
    CHECK(b.wait_for_peer(a.id(), patience));
    CHECK(std::ranges::count(a.peers(), b.id(), &peer_info::id) == 1);
  }
}

TEST_CASE("what is published before unpeering arrives over TLS, whichever side leaves") {
  for (int round = 0; round < 10; ++round) {
    endpoint a;
    endpoint b;
    auto sub = b.make_subscriber({"/t"});
    auto events = b.make_status_subscriber();
    join_tls(a, b);
    for (std::uint64_t i = 0; i < 1000; ++i)
      sent(a.publish("/t", count{i}));
    CHECK((round % 2 == 0 ? a.unpeer(b.id()) : b.unpeer(a.id())));
    CHECK(receives_in_order(sub, 1000));
    const auto left = round % 2 == 0 ? status_code::peer_lost : status_code::peer_removed;
    CHECK(next_event(events, left));
  }
}

TEST_CASE("closing an endpoint with encrypted links under load takes no longer than asked for") {
  for (const bool sender_closes : {true, false}) {
    auto a = std::make_unique<endpoint>();
    auto b = std::make_unique<endpoint>();
    auto sub = b->make_subscriber({"/t"}, {overflow_policy::drop_oldest, 100});
    join_tls(*a, *b);
    std::atomic<bool> done{false};
    std::thread publisher{[&] {
      const std::string text(500, 'x');
      while (!done && a->publish_for("/t", text, 10ms) != publish_result::refused) {
      }
    }};
    CHECK(eventually([&] { return sub.counters().offered > 1000; }));
    const auto before = std::chrono::steady_clock::now();
    (sender_closes ? *a : *b).close(300ms);
    CHECK(std::chrono::steady_clock::now() - before < 5s);
    done = true;
    publisher.join();
    if (!sender_closes)
      CHECK(eventually([&] { return a->peers().empty(); }));
  }
}

TEST_CASE("new certificates serve new connections, and links that exist go on") {
  authority first{"first"};
  authority second{"second"};
  endpoint relay{with(first.issue("relay"))};
  endpoint early{with(first.issue("early"))};
  endpoint late{with(second.issue("late"))};
  const auto where = tls_uri(listen_tls(relay));
  auto sub = relay.make_subscriber({"/t"});
  REQUIRE(early.peer(where, once));
  CHECK_FALSE(late.peer(where, once));

  auto wrong = second.issue("relay");
  wrong.key = first.issue("other").key;
  CHECK(relay.set_tls(wrong).error().code() == errc::invalid_argument);
  CHECK_FALSE(late.peer(where, once)); // nothing has changed

  const auto expiry = relay.certificate_expiry();
  REQUIRE(relay.set_tls(second.issue("relay", {}, 3'600)));
  CHECK(relay.certificate_expiry() < expiry);
  CHECK(late.peer(where, once));
  sent(early.publish("/t", count{1}));
  CHECK(next_number(sub) == 1);
  sent(late.publish("/t", count{2}));
  CHECK(next_number(sub) == 2);
  CHECK_FALSE(endpoint{}.certificate_expiry());
}

TEST_CASE("an encrypted connection that is cut is a lost peer on both sides, and comes back") {
  endpoint a;
  endpoint b;
  auto at_a = a.make_status_subscriber();
  auto at_b = b.make_status_subscriber();
  auto sub = b.make_subscriber({"/t"});
  const auto target = listen_tls(b);
  auto between = std::make_unique<proxy>(target);
  const auto port = between->port();
  REQUIRE(a.peer(tls_uri(port), {.retry = 10ms}));
  REQUIRE(b.wait_for_peer(a.id(), patience));
  sent(a.publish("/t", count{1}));
  CHECK(next_number(sub) == 1);
  between.reset(); // closes its sockets in the middle of the stream
  CHECK(next_event(at_a, status_code::peer_lost));
  CHECK(next_event(at_b, status_code::peer_lost));
  endpoint c; // takes the place of what was behind the port
  auto again = c.make_subscriber({"/t"});
  REQUIRE(c.listen(tls_uri(port)));
  CHECK(a.wait_for_peer(c.id(), patience));
  sent(a.publish("/t", count{2}));
  CHECK(next_number(again) == 2);
}

TEST_CASE("an encrypted link that falls silent is cut") {
  endpoint_options options;
  options.liveness_timeout = 300ms;
  endpoint a{options};
  endpoint b{options};
  auto events = a.make_status_subscriber();
  proxy between{listen_tls(b)};
  REQUIRE(a.peer(tls_uri(between.port()), once));
  between.swallow_back();
  const auto event = next_error(events);
  REQUIRE(event);
  CHECK(event->failure() == errc::peer_timeout);
}

TEST_CASE("a peer that does not read over TLS slows nobody unless the policy is block") {
  endpoint_options options;
  options.link_queue = {overflow_policy::drop_newest, 100};
  endpoint ep{options};
  tls_party idle{raw_socket::connect(listen_tls(ep), 4096), tls_party::role::client};
  REQUIRE(idle.shake_hands());
  REQUIRE(idle.send(from_hex("00000017 06 5a45454b ffffffffffffffffffffffffffffffff 0101")));
  CHECK(idle.read(9 + 26 + 4 + 2).size() == 41); // probe, version_select, syn without topics
  REQUIRE(idle.send(from_hex("00000003 0b 01 00")));
  CHECK(idle.read(5) == from_hex("00000001 0c"));
  REQUIRE(ep.wait_for_peer(raw_peer::id(), patience));
  const std::string text(10'000, 'x');
  for (int i = 0; i < 2000; ++i)
    CHECK(ep.publish_for("/t", text, patience) != publish_result::would_block);
  CHECK(eventually([&] { return ep.peers()[0].counters.dropped_newest > 0; }));
  CHECK(adds_up(ep.peers()[0].counters));
}

TEST_CASE("endpoints with encrypted links leave no thread or descriptor behind") {
  const auto round = [] {
    endpoint a;
    endpoint b;
    auto sub = b.make_subscriber({"/t"});
    join_tls(a, b);
    sent(a.publish("/t", count{1}));
    CHECK(next_number(sub) == 1);
  };
  round();
  const auto before = descriptors_now();
  for (int i = 0; i < 20; ++i)
    round();
  CHECK(descriptors_now() == before);
}
