// Peers that vanish without a word are noticed; peers that are merely slow are not cut.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/proxy.hpp"
#include "support/published.hpp"
#include "support/raw_peer.hpp"

#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

endpoint_options noticing_within(std::chrono::milliseconds timeout, std::uint8_t version = 2) {
  endpoint_options result;
  result.liveness_timeout = timeout;
  result.max_wire_version = version;
  return result;
}

constexpr std::uint64_t ping_bytes = 45; // at least

std::uint64_t heard_by(const endpoint& x) {
  const auto peers = x.peers();
  return peers.empty() ? 0 : peers[0].counters.bytes_received;
}

/// True once `x` has heard so many pings, and whatever else, from its only peer.
bool hears_pings(const endpoint& x, std::uint64_t n) {
  const auto before = heard_by(x);
  return eventually([&] { return heard_by(x) >= before + n * ping_bytes; });
}

} // namespace

TEST_CASE("a peer that falls silent is cut, with an event, and counted") {
  for (const int version : {1, 2}) {
    CAPTURE(version);
    endpoint ep{noticing_within(200ms)};
    auto events = ep.make_status_subscriber();
    raw_peer mute{ep, *ep.listen("tcp://127.0.0.1:0"), version};
    CHECK(mute.next_ping()); // it was asked before
    CHECK(next_event(events, status_code::peer_lost)->peer() == raw_peer::id());
    const auto why = next_error(events);
    REQUIRE(why);
    CHECK(why->failure() == errc::peer_timeout);
    CHECK(why->message() == "nothing heard for 200 ms");
    CHECK(next_event(events, status_code::endpoint_unreachable));
    CHECK(mute.wire.closed_by_peer());
    CHECK(ep.counters().silent_peers == 1);
    CHECK(ep.peers().empty());
  }
}

TEST_CASE("a peer that answers pings and does nothing else stays") {
  for (const int version : {1, 2}) {
    CAPTURE(version);
    endpoint ep{noticing_within(1s)};
    raw_peer quiet{ep, *ep.listen("tcp://127.0.0.1:0"), version};
    for (int i = 0; i < 8; ++i) { // 250 ms apart: twice the timeout
      const auto ping = quiet.next_ping();
      REQUIRE(ping);
      REQUIRE(quiet.send_pong(ep, *ping));
    }
    CHECK(ep.peers().size() == 1);
    CHECK(ep.counters().silent_peers == 0);
  }
}

TEST_CASE("a peer that says something and reads nothing stays") {
  endpoint ep{noticing_within(1s)};
  raw_peer deaf{ep, *ep.listen("tcp://127.0.0.1:0"), 2};
  const auto until = std::chrono::steady_clock::now() + 3s;
  CHECK(
      eventually([&] { return !deaf.send_ping(ep) || std::chrono::steady_clock::now() > until; }));
  CHECK(ep.peers().size() == 1);
  CHECK(ep.counters().silent_peers == 0);
}

TEST_CASE("two idle endpoints keep each other alive") {
  for (const std::uint8_t version : {1, 2}) {
    endpoint a{noticing_within(1s, version)};
    endpoint b{noticing_within(1s, version)};
    join(a, b);
    CHECK(hears_pings(a, 8));
    CHECK(hears_pings(b, 8));
    CHECK(a.counters().silent_peers + b.counters().silent_peers == 0);
    CHECK(a.peers().size() == 1);
  }
}

TEST_CASE("without a timeout a silent peer stays") {
  endpoint watching{noticing_within(500ms)};
  endpoint patient{noticing_within(0ms)};
  raw_peer first{patient, *patient.listen("tcp://127.0.0.1:0"), 2};
  for (int i = 0; i < 3; ++i) { // as long as it takes to cut others thrice
    auto events = watching.make_status_subscriber();
    raw_peer second{watching, *watching.listen("tcp://127.0.0.1:0"), 2};
    CHECK(next_event(events, status_code::peer_lost));
  }
  CHECK(patient.peers().size() == 1);
}

TEST_CASE("a subscriber that does not read costs neither side its peering") {
  for (const std::uint8_t version : {1, 2}) {
    CAPTURE(version);
    endpoint a{noticing_within(1s, version)};
    endpoint b{noticing_within(1s, version)};
    join(a, b);
    auto stuck = b.make_subscriber({"/t"}, {overflow_policy::block, 1, 1});
    REQUIRE(a.wait_for_subscribers("/t", 1, patience));
    const std::string payload(100'000, 'x');
    std::uint64_t published = 0;
    while (a.try_publish("/t", payload) == publish_result::taken || a.flush(100ms) == 0)
      published = a.counters().published;
    published = a.counters().published;
    CHECK(hears_pings(a, 8)); // b does not read, and says that it is there
    CHECK(a.counters().silent_peers + b.counters().silent_peers == 0);
    for (std::uint64_t i = 0; i < published; ++i)
      REQUIRE(stuck.get_for(patience));
    CHECK(stuck.counters().offered == published);
    CHECK(a.counters().silent_peers + b.counters().silent_peers == 0);
  }
}

TEST_CASE("a connection that swallows everything is noticed on both sides, and replaced") {
  endpoint a{noticing_within(300ms)};
  endpoint b{noticing_within(300ms)};
  auto at_a = a.make_status_subscriber();
  auto at_b = b.make_status_subscriber();
  auto sub = b.make_subscriber({"/t"});
  proxy between{*b.listen("tcp://127.0.0.1:0")};
  REQUIRE(a.peer(local_uri(between.port()), {.retry = 20ms, .timeout = 30s, .max_retry = 200ms}));
  REQUIRE(a.wait_for_subscribers("/t", 1, patience));
  sent(a.publish("/t", count{1}));
  CHECK(next_number(sub) == 1);
  between.swallow_forth();
  between.swallow_back();
  CHECK(next_event(at_a, status_code::peer_lost));
  CHECK(next_event(at_b, status_code::peer_lost));
  CHECK(next_event(at_a, status_code::peer_added)->peer() == b.id());
  REQUIRE(a.wait_for_subscribers("/t", 1, patience));
  sent(a.publish("/t", count{2}));
  CHECK(next_number(sub) == 2);
}

TEST_CASE("a partition in one direction is noticed on both sides, and healed") {
  for (const bool forth : {true, false}) {
    CAPTURE(forth);
    endpoint a{noticing_within(300ms)};
    endpoint b{noticing_within(300ms)};
    auto at_a = a.make_status_subscriber();
    auto at_b = b.make_status_subscriber();
    proxy between{*b.listen("tcp://127.0.0.1:0")};
    REQUIRE(a.peer(local_uri(between.port()), {.retry = 20ms, .timeout = 30s, .max_retry = 200ms}));
    REQUIRE(b.wait_for_peer(a.id(), patience)); // not before both sides have finished
    forth ? between.swallow_forth() : between.swallow_back();
    CHECK(next_event(at_a, status_code::peer_lost));
    CHECK(next_event(at_b, status_code::peer_lost));
    CHECK(next_event(at_a, status_code::peer_added));
    CHECK(next_event(at_b, status_code::peer_added));
    CHECK(a.counters().silent_peers + b.counters().silent_peers >= 1);
  }
}
