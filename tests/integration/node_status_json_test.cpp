// What a node tells about itself: here, and to a peer that asks.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/published.hpp"
#include "support/raw_peer.hpp"
#include "wire/native/inquiry.hpp"

#include <thread>

#include <simdjson.h>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

/// The document and the parser it lives in.
struct parsed {
  explicit parsed(const std::string& text) { root = parser.parse(text); }
  std::uint64_t number(std::string_view pointer) const {
    return root.at_pointer(pointer).get_uint64();
  }
  std::string string(std::string_view pointer) const {
    return std::string{std::string_view{root.at_pointer(pointer)}};
  }
  std::size_t size(std::string_view pointer) const {
    return simdjson::dom::array{root.at_pointer(pointer)}.size();
  }

  simdjson::dom::parser parser;
  simdjson::dom::element root;
};

} // namespace

TEST_CASE("an endpoint tells its id, its counters, its peers and its subscribers") {
  endpoint a;
  endpoint b;
  join(a, b);
  auto sub = b.make_subscriber({"/t", "say \"x\"\xff"}, {overflow_policy::drop_oldest, 2, 1000});
  REQUIRE(a.wait_for_subscribers("/t", 1, patience));
  for (std::uint64_t i = 0; i < 5; ++i)
    sent(a.publish("/t", count{i}));
  REQUIRE(a.drain(patience) == 0);
  const parsed x{b.status_text()};
  CHECK(x.number("/schema") == 1);
  CHECK(x.string("/id") == to_string(b.id()));
  CHECK(x.string("/version").starts_with("0."));
  CHECK(x.number("/counters/received") == 5);
  CHECK(x.number("/counters/silent_peers") == 0);
  CHECK(x.number("/all_links/received") == 5);
  CHECK(x.number("/all_subscribers/offered") == 5);
  CHECK(x.number("/all_subscribers/dropped_oldest") == 3);
  REQUIRE(x.size("/peers") == 1);
  CHECK(x.string("/peers/0/id") == to_string(a.id()));
  CHECK(x.string("/peers/0/state") == "peered");
  CHECK(x.number("/peers/0/wire_version") == 2);
  CHECK(bool{x.root.at_pointer("/peers/0/client")});
  CHECK_FALSE(bool{parsed{a.status_text()}.root.at_pointer("/peers/0/client")});
  CHECK(x.number("/peers/0/counters/received") == 5);
  CHECK(x.string("/peers/0/address").starts_with("127.0.0.1:"));
  REQUIRE(x.size("/subscribers") == 1);
  CHECK(x.string("/subscribers/0/topics/0") == "/t");
  CHECK(x.string("/subscribers/0/topics/1") == "say \"x\"\xef\xbf\xbd");
  CHECK(x.string("/subscribers/0/policy") == "drop_oldest");
  CHECK(x.number("/subscribers/0/capacity_messages") == 2);
  CHECK(x.number("/subscribers/0/counters/offered") == 5);
  CHECK(x.number("/subscribers/0/counters/dropped_oldest") == 3);
  CHECK(x.number("/subscribers/0/counters/queued") == 2);
  CHECK(x.number("/left_out/peers") == 0);
  CHECK(x.number("/left_out/subscribers") == 0);
  CHECK(parsed{a.status_text()}.number("/counters/published") == 5);
}

TEST_CASE("a peer that is away is shown with its address and no id") {
  endpoint ep;
  const auto port = unused_port();
  REQUIRE(ep.peer_async(local_uri(port), {.retry = 20ms}));
  const parsed x{ep.status_text()};
  CHECK(x.string("/peers/0/state") == "connecting");
  CHECK(x.string("/peers/0/address") == "127.0.0.1:" + std::to_string(port));
  CHECK(simdjson::dom::element{x.root.at_pointer("/peers/0/id")}.is_null());
}

TEST_CASE("a peer tells its status to who asks") {
  endpoint a;
  endpoint b;
  join(a, b);
  auto sub = b.make_subscriber({"/t"});
  const auto text = a.status_of(b.id(), patience);
  REQUIRE(text);
  const parsed x{*text};
  CHECK(x.string("/id") == to_string(b.id()));
  CHECK(x.size("/subscribers") == 1);
  CHECK(b.status_of(a.id(), patience));
  std::vector<std::thread> askers; // many at once get an answer each
  for (int i = 0; i < 4; ++i)
    askers.emplace_back([&] {
      for (int n = 0; n < 50; ++n)
        CHECK(a.status_of(b.id(), patience));
    });
  for (auto& each : askers)
    each.join();
}

TEST_CASE("who cannot be asked, or does not tell, is an error") {
  endpoint asks;
  CHECK(asks.status_of(endpoint_id::random(), 0s).error() == errc::no_path_to_peer);
  endpoint_options old;
  old.max_wire_version = 1;
  endpoint speaks_1{old};
  join(asks, speaks_1);
  CHECK(asks.status_of(speaks_1.id(), patience).error() == errc::not_supported);
  endpoint_options closed;
  closed.serve_status = status_service::off;
  endpoint secret{closed};
  join(asks, secret);
  CHECK(asks.status_of(secret.id(), patience).error() == errc::not_supported);
  CHECK(secret.status_of(asks.id(), patience));
  CHECK_FALSE(secret.status_text().empty());
}

TEST_CASE("a peer that does not answer is a timeout, one that leaves is unavailable") {
  endpoint ep;
  raw_peer mute{ep, *ep.listen("tcp://127.0.0.1:0"), 2};
  CHECK(ep.status_of(raw_peer::id(), 20ms).error() == errc::request_timeout);
  std::thread leaves{[&] {
    for (const std::uint32_t number : {1, 2}) {
      const auto asked = wire::parse_inquiry(mute.next_of_kind(16));
      CHECK((asked && asked->number == number && asked->node == raw_peer::id()));
    }
    mute.wire.close();
  }};
  CHECK(ep.status_of(raw_peer::id(), patience).error() == errc::peer_unavailable);
  leaves.join();
}

TEST_CASE("a raw inquiry is answered with its number; a reply to nothing is passed over") {
  endpoint ep;
  raw_peer asks{ep, *ep.listen("tcp://127.0.0.1:0"), 2};
  CHECK(asks.wire.send(
      wire::make_reply({.number = 0x63, .body = "{}"}))); // this endpoint did not ask
  wire::inquiry asked{.number = 0xabcd, .node = ep.id()};
  CHECK(asks.wire.send(wire::make_inquiry(asked)));
  const auto reply = wire::parse_reply(asks.next_of_kind(17));
  REQUIRE(reply);
  CHECK(reply->number == 0xabcd);
  CHECK(reply->outcome == wire::reply_outcome::answer);
  CHECK(parsed{reply->body}.string("/id") == to_string(ep.id()));
}

TEST_CASE("a malformed inquiry or reply closes the link") {
  endpoint ep;
  const auto port = *ep.listen("tcp://127.0.0.1:0");
  for (const auto* bad :
       {"80000001 10", "80000006 10 00000001 00", "8000000b 11 00000001 07 00000000 61"}) {
    raw_peer hostile{ep, port, 2};
    CHECK(hostile.wire.send(bad));
    CHECK(hostile.wire.closed_by_peer());
    CHECK(eventually([&] { return ep.peers().empty(); }));
  }
}

TEST_CASE("a peer that asks on and on and reads nothing is cut") {
  endpoint ep;
  auto events = ep.make_status_subscriber();
  raw_peer greedy{ep, *ep.listen("tcp://127.0.0.1:0"), 2, 4096};
  std::vector<subscriber> subs;
  for (int i = 0; i < 300; ++i)
    subs.push_back(ep.make_subscriber({"/" + std::to_string(i)}));
  buffer many;
  for (int i = 0; i < 200; ++i) {
    const auto one = wire::make_inquiry({.number = 1, .node = ep.id()});
    many.insert(many.end(), one.begin(), one.end());
  }
  while (greedy.wire.send(many, 1s)) {
  }
  CHECK(next_event(events, status_code::peer_lost));
  CHECK(next_error(events)->failure() == errc::limit_exceeded);
}

TEST_CASE("what does not fit is left out and counted, subscribers and peers alike") {
  endpoint ep;
  std::vector<subscriber> subs;
  for (int i = 0; i < 2000; ++i)
    subs.push_back(ep.make_subscriber({"/" + std::to_string(i) + std::string(1000, '.')}));
  for (int i = 0; i < 500; ++i)
    REQUIRE(ep.peer_async("tcp://127.0.0.1:" + std::to_string(1 + i), {.retry = 1h}));
  const auto text = ep.status_text();
  CHECK(text.size() <= std::size_t{64'000});
  CHECK(text.size() > std::size_t{64'000} * 3 / 4);
  const parsed x{text};
  CHECK(x.size("/subscribers") > 50);
  CHECK(x.size("/subscribers") + x.number("/left_out/subscribers") == 2000);
  CHECK(x.size("/peers") > 50);
  CHECK(x.size("/peers") + x.number("/left_out/peers") == 500);
}
