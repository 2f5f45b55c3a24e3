// Whom an endpoint with TLS refuses, and how long that takes: strangers, plain text, garbage,
// silence. SPDX-License-Identifier: BSD-3-Clause
#include "support/certificates.hpp"
#include "support/published.hpp"
#include "support/raw_peer.hpp"
#include "support/tls_nodes.hpp"
#include "support/tls_party.hpp"

#include <random>
#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// What both sides say when `dialer` cannot peer with `acceptor`; neither takes two seconds.
struct disagreement {
  disagreement(endpoint& acceptor, const std::string& address, endpoint& dialer) {
    auto there = acceptor.make_status_subscriber(status_events::errors);
    auto here = dialer.make_status_subscriber(status_events::errors);
    const auto before = std::chrono::steady_clock::now();
    const auto result = dialer.peer(address, once);
    REQUIRE_FALSE(result);
    dialer_says = result.error();
    const auto event = here.get_for(patience);
    REQUIRE(event);
    CHECK(event->failure() == dialer_says.code());
    CHECK(event->message() == dialer_says.context());
    const auto other = there.get_for(patience);
    CHECK(std::chrono::steady_clock::now() - before < 5s);
    REQUIRE(other);
    acceptor_says = {other->failure(), other->message()};
    REQUIRE(other->network());
    CHECK(other->network()->address == "127.0.0.1");
    CHECK(acceptor.peers().empty());
    INFO(dialer_says.message());
    INFO(acceptor_says.message());
    CHECK(dialer_says == errc::tls_failed);
    CHECK(acceptor_says == errc::tls_failed);
  }
  void is_said(const std::string& by_dialer, const std::string& by_acceptor) const {
    INFO(dialer_says.message());
    INFO(acceptor_says.message());
    CHECK(contains(dialer_says.context(), by_dialer));
    CHECK(contains(acceptor_says.context(), by_acceptor));
  }

  error dialer_says;
  error acceptor_says;
};

} // namespace

TEST_CASE(
    "who speaks plain text at a TLS port learns it within two seconds, and so does the port") {
  endpoint acceptor;
  endpoint dialer;
  const disagreement x{acceptor, local_uri(listen_tls(acceptor)), dialer};
  x.is_said("the peer uses TLS, and this side does not",
            "the peer does not use TLS, and this side does");
}

TEST_CASE("who speaks plain text at a TLS port is told in its own protocol, as Broker would be") {
  endpoint ep;
  auto wire = raw_socket::connect(listen_tls(ep));
  CHECK(wire.send("00000017 06 5a45454b ffffffffffffffffffffffffffffffff 0101"));
  const auto refusal = wire.read_frame();
  CHECK(refusal == from_hex("00000029 09 5a45454b 00000000000000000000000000000000 02 12"
                            "746869732073696465207573657320544c53")); // "this side uses TLS"
  CHECK(wire.closed_by_peer());
}

TEST_CASE("a TLS server that hangs up on plain text is suspected of being one") {
  raw_listener strict;
  endpoint ep;
  auto events = ep.make_status_subscriber();
  REQUIRE(ep.peer_async(strict.uri(), once));
  {
    auto came = strict.accept();
    REQUIRE(came);
    came->read(1);
  }
  const auto event = next_error(events);
  REQUIRE(event);
  CHECK(contains(event->message(), "before it said anything; does it use TLS?"));
}

TEST_CASE("who speaks TLS at a port for plain text gets a probe to know it by, again and again") {
  endpoint ep;
  const auto port = *ep.listen("tcp://127.0.0.1:0");
  for (int i = 0; i < 50; ++i) {
    auto wire = raw_socket::connect(port);
    CHECK(wire.send("160301007b 0100007703034d"));
    CHECK(wire.read_frame() == from_hex("00000005 07 5a45454b"));
    CHECK(wire.closed_by_peer());
  }
}

TEST_CASE(
    "who speaks TLS at a port for plain text learns it within two seconds, and so does the port") {
  endpoint acceptor;
  endpoint dialer;
  const disagreement x{acceptor, tls_uri(*acceptor.listen("tcp://127.0.0.1:0")), dialer};
  x.is_said("the peer does not use TLS, and this side does",
            "the peer uses TLS, and this side does not");
}

TEST_CASE("certificates of a stranger are refused, and both sides are told") {
  authority ours{"ours"};
  for (const auto* name : {"theirs", "ours"}) { // who has taken our name has another key
    authority theirs{name};
    endpoint acceptor{with(ours.issue("a"))};
    endpoint dialer{with(theirs.issue("b"))};
    const disagreement x{acceptor, tls_uri(listen_tls(acceptor)), dialer};
    x.is_said("the peer's certificate is not accepted: ",
              "the peer does not accept this side's certificate");
  }
}

TEST_CASE("a stranger that trusts everybody is refused, and both sides are told") {
  authority ours{"ours"};
  authority theirs{"theirs"};
  auto trusting = theirs.issue("b");
  trusting.ca_file = ours.ca_file();
  endpoint acceptor{with(ours.issue("a"))};
  endpoint dialer{with(trusting)};
  const disagreement x{acceptor, tls_uri(listen_tls(acceptor)), dialer};
  x.is_said("the peer does not accept this side's certificate",
            "the peer's certificate is not accepted");
}

TEST_CASE("a certificate that has expired is refused, and both sides are told") {
  authority ca{"ours"};
  const auto good = ca.issue("good");
  const auto old = ca.issue("old", {}, -3600);
  {
    endpoint acceptor{with(old)};
    endpoint dialer{with(good)};
    const disagreement x{acceptor, tls_uri(listen_tls(acceptor)), dialer};
    x.is_said("the peer's certificate is not accepted: certificate has expired",
              "the peer does not accept this side's certificate");
  }
  endpoint acceptor{with(good)};
  endpoint dialer{with(old)};
  const disagreement x{acceptor, tls_uri(listen_tls(acceptor)), dialer};
  x.is_said("the peer does not accept this side's certificate", "certificate has expired");
}

TEST_CASE("who has no certificate cannot peer with who asks for one, and both sides are told") {
  authority ca{"ours"};
  endpoint acceptor{with(ca.issue("a"))};
  {
    endpoint dialer{with(
        {.certificate = {}, .key = {}, .passphrase = {}, .ca_file = ca.ca_file(), .ca_path = {}})};
    const disagreement x{acceptor, tls_uri(listen_tls(acceptor)), dialer};
    x.is_said("the peer asks for a certificate, and this side has none",
              "the peer has no certificate");
  }
  endpoint anonymous;
  const disagreement x{acceptor, tls_uri(listen_tls(acceptor)), anonymous};
  x.is_said("the peer asks for a certificate, and this side has none",
            "the peer has no certificate");
  const disagreement y{anonymous, tls_uri(listen_tls(anonymous)), acceptor};
  y.is_said("either both or neither need certificates", "either both or neither need certificates");
}

TEST_CASE("what is wrong with certificates is an error of listening and connecting") {
  authority ca{"ours"};
  auto sealed = ca.issue("sealed", "right");
  sealed.passphrase = "wrong";
  endpoint ep{with(sealed)};
  CHECK(contains(ep.listen("tls://127.0.0.1:0").error().message(), "the passphrase does not open"));
  CHECK(contains(ep.peer("tls://127.0.0.1:9", once).error().message(),
                 "the passphrase does not open"));
  CHECK(ep.listen("tcp://127.0.0.1:0")); // which needs none
}

TEST_CASE("garbage, half a hello and silence at a TLS port end with the handshake's time") {
  endpoint_options options;
  options.handshake_timeout = 200ms;
  endpoint ep{options};
  const auto port = listen_tls(ep);
  auto web = raw_socket::connect(port);
  CHECK(web.send("474554202f20485454502f312e310d0a0d0a")); // GET / HTTP/1.1
  auto long_record = raw_socket::connect(port);
  CHECK(long_record.send("160301ffff" + std::string(2000, '0')));
  auto half = raw_socket::connect(port);
  CHECK(half.send("1603010200 0100"));
  auto silent = raw_socket::connect(port);
  for (auto* each : {&web, &long_record, &half, &silent})
    CHECK(each->closed_by_peer());
  std::optional<tls_party> mute; // on a loaded machine the time may be over before it has begun
  REQUIRE(eventually([&] {
    mute.emplace(raw_socket::connect(port), tls_party::role::client);
    return mute->shake_hands();
  }));
  CHECK(mute->socket().closed_by_peer()); // TLS is not yet a peering
  CHECK(ep.peers().empty());
  endpoint good;
  CHECK(good.peer(tls_uri(port), {.retry = 10ms, .timeout = patience})); // a loaded machine is slow
}

TEST_CASE("random bytes at a TLS port never hurt") {
  endpoint_options options;
  options.handshake_timeout = 1s;
  endpoint ep{options};
  const auto port = listen_tls(ep);
  std::mt19937 engine{7};
  for (int round = 0; round < 60; ++round) {
    auto wire = raw_socket::connect(port);
    buffer junk(1 + engine() % 3000);
    for (auto& each : junk)
      each = static_cast<std::byte>(engine());
    if (round % 2 == 0) // looks like a record
      std::ranges::copy(from_hex("1603010040 01"), junk.begin());
    junk.resize(std::max<std::size_t>(junk.size(), 8));
    wire.send(junk);
    wire.close();
  }
  endpoint good;
  CHECK(good.peer(tls_uri(port), {.retry = 10ms, .timeout = patience})); // a loaded machine is slow
}

TEST_CASE("a TLS peer that never answers is given up, and the attempt fails with its reason") {
  endpoint_options options;
  options.handshake_timeout = 50ms;
  endpoint ep{options};
  raw_listener mute;
  const auto result = ep.peer(tls_uri(mute.port()), once);
  REQUIRE_FALSE(result);
  CHECK(result.error() == errc::peer_timeout);
}

TEST_CASE("a server that hangs up during the TLS handshake is said to have done so") {
  raw_listener rude;
  endpoint ep;
  auto events = ep.make_status_subscriber();
  REQUIRE(ep.peer_async(tls_uri(rude.port()), once));
  {
    auto came = rude.accept();
    REQUIRE(came);
    came->read(1);
  }
  const auto event = next_error(events);
  REQUIRE(event);
  CHECK(event->failure() == errc::tls_failed);
  CHECK(contains(event->message(), "ended the connection during the TLS handshake"));
}

TEST_CASE(
    "silent connections do not keep one with TLS out, those that shake hands do for a while") {
  endpoint_options options;
  options.max_half_open = 2;
  options.handshake_timeout = 60s;
  endpoint ep{options};
  const auto port = listen_tls(ep);
  std::vector<raw_socket> others;
  for (int i = 0; i < 2; ++i)
    others.push_back(raw_socket::connect(port));
  endpoint first;
  CHECK(first.peer(tls_uri(port), once));
  CHECK(others[0].closed_by_peer());
  others.clear();
  const auto since = std::chrono::steady_clock::now();
  std::vector<tls_party> slow;
  for (int i = 0; i < 2; ++i) {
    slow.emplace_back(raw_socket::connect(port), tls_party::role::client);
    CHECK(slow.back().shake_hands()); // and says no more
  }
  endpoint second;
  REQUIRE(second.peer_async(tls_uri(port), once));
  CHECK(second.wait_for_peers(1, patience));
  CHECK(std::chrono::steady_clock::now() - since > 1s);
}

TEST_CASE("an id belongs to the certificate that was the first to claim it") {
  authority ours{"ours"};
  const auto with = [&](const std::string& name, std::uint8_t id) {
    endpoint_options options;
    endpoint_id::bytes_type bytes;
    bytes.fill(id);
    options.id = endpoint_id{bytes};
    options.tls = ours.issue(name);
    return options;
  };
  endpoint ep{with("relay", 5)};
  auto events = ep.make_status_subscriber(status_events::errors);
  const auto where = tls_uri(listen_tls(ep));
  for (const std::uint8_t id : {1, 9}) { // whichever side decides about connections
    CAPTURE(int{id});
    {
      endpoint first{with("sensor", id)};
      CHECK(first.peer(where, once));
      endpoint other{with("desk", id)};
      CHECK_FALSE(other.peer(where, once));
      CHECK(next_error(events)->failure() == errc::denied);
      CHECK(ep.wait_for_peer(first.id(), 0s));
    }
    CHECK(eventually([&] { return !ep.wait_for_peer(ep.id(), 0s) && ep.peers().empty(); }));
    endpoint later{with("desk", id)}; // the owner is away, and still the owner
    CHECK_FALSE(later.peer(where, once));
    CHECK(next_error(events)->failure() == errc::denied);
    endpoint again{with("sensor", id)}; // with another certificate of that name
    CHECK(again.peer(where, once));
  }
}
