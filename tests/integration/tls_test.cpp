// Encrypted links: anonymous and with certificates, what goes wrong between two sides that do not
// agree, and everything else a link does.
#include "support/certificates.hpp"
#include "support/nodes.hpp"
#include "support/process_usage.hpp"
#include "support/proxy.hpp"
#include "support/published.hpp"
#include "support/raw_peer.hpp"
#include "support/tls_party.hpp"

#include <random>
#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

const peer_options once{.retry = {}};

std::string tls_uri(std::uint16_t port) {
  return "tls://127.0.0.1:" + std::to_string(port);
}

std::uint16_t listen_tls(endpoint& ep) {
  const auto port = ep.listen("tls://127.0.0.1:0");
  REQUIRE(port.has_value());
  return *port;
}

endpoint_options with(const tls_options& tls, std::uint8_t version = 2) {
  endpoint_options result;
  result.tls = tls;
  result.max_wire_version = version;
  return result;
}

/// Peers `from` with `to` over TLS, both sides seeing it.
void join_tls(endpoint& from, endpoint& to) {
  const auto done = from.peer(tls_uri(listen_tls(to)), once);
  INFO((done ? "" : done.error().message()));
  REQUIRE(done.has_value());
  REQUIRE(to.wait_for_peer(from.id(), patience));
}

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
