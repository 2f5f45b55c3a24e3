// One connection from its first byte to its last, with a fake link.
// SPDX-License-Identifier: BSD-3-Clause
#include "node/peering/session.hpp"

#include "node/peering/tuning.hpp"
#include "support/fake_node.hpp"
#include "wire/broker/envelope.hpp"
#include "wire/native/network.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

/// The payloads of envelopes of this type among frames of version 1.
std::vector<buffer> of_type(const std::vector<buffer>& frames, wire::envelope_type type) {
  std::vector<buffer> result;
  for (const auto& each : frames)
    if ((load_be<std::uint32_t>(each.data()) & wire::batch_flag) == 0)
      if (const auto x = wire::parse_envelope(std::span{each}.subspan(4)); x && x->type == type)
        result.emplace_back(x->payload.begin(), x->payload.end());
  return result;
}

/// Lets time pass as the link reads and writes on.
void pass(fake_node& node, fake_peer& peer, std::chrono::milliseconds time) {
  node.loop->advance(time);
  peer.take_frames();
}

} // namespace

TEST_CASE("a connection that is not peered in time is closed") {
  fake_node node;
  const auto link = node.connect();
  node.loop->advance(node.options.handshake_timeout - 1ms);
  CHECK_FALSE(link->closed());
  node.loop->advance(1ms);
  CHECK(link->closed());
  CHECK(link->reason() == errc::peer_timeout);
}

TEST_CASE("bytes that are no handshake end the connection once the refusal is written") {
  fake_node node;
  const auto link = node.connect();
  link->receive(from_hex("00000004 63636363"));
  CHECK_FALSE(link->closed());
  link->take_written();
  CHECK(link->closed());
  CHECK(node.peers->peers().empty());
}

TEST_CASE("a peer of version 1 is peered after its handshake, one of version 2 once it has said "
          "what it knows") {
  fake_node node;
  const fake_peer broker{node, id_of(50), 1, {"/a"}};
  CHECK(broker.is_peered());
  CHECK(broker.carrier->version() == 1);
  fake_node other;
  const fake_peer peer{other, id_of(1), 2, {"/a"}};
  CHECK(peer.is_peered());
  CHECK(peer.carrier->version() == 2);
  CHECK(other.routes.count("/a") == 1);
}

TEST_CASE("a silent peer is cut off after its time, and one that says something is not") {
  endpoint_options options;
  options.liveness_timeout = 4s;
  fake_node node{id_of(100), options};
  fake_peer silent{node, id_of(1), 2, {}};
  fake_peer alive{node, id_of(2), 2, {}};
  for (int i = 0; i < 5; ++i) {
    node.loop->advance(1s);
    if (!alive.carrier->closed())
      alive.send(wire::make_ping(alive.self, node.self, {}));
    alive.take_frames();
    silent.take_frames();
  }
  CHECK(silent.carrier->closed());
  CHECK(silent.carrier->reason() == errc::peer_timeout);
  CHECK_FALSE(alive.carrier->closed());
  CHECK(node.counts.sum().silent_peers == 1);
}

TEST_CASE("a node that has nothing to send says something now and then, but not on top of what is "
          "unread") {
  fake_node node;
  fake_peer peer{node, id_of(1), 2, {}};
  peer.take_frames();
  pass(node, peer, 5s);
  node.loop->advance(5s);
  CHECK(of_type(peer.take_frames(), wire::envelope_type::ping).size() == 1);
  node.loop->advance(15s); // it reads nothing meanwhile
  CHECK(of_type(peer.take_frames(), wire::envelope_type::ping).size() == 1);
}

TEST_CASE("a ping is answered with its payload, and a peer that reads no answers is cut off") {
  fake_node node;
  fake_peer peer{node, id_of(50), 1, {}};
  peer.take_frames();
  const buffer payload(1000, std::byte{7});
  peer.send(wire::make_ping(peer.self, node.self, payload));
  CHECK(of_type(peer.take_frames(), wire::envelope_type::pong) == std::vector<buffer>{payload});
  for (std::size_t sent = 0;
       sent <= 2 * link_tuning::max_unread_answer_bytes && !peer.carrier->closed();
       sent += payload.size())
    peer.send(wire::make_ping(peer.self, node.self, payload));
  CHECK(peer.carrier->reason() == errc::limit_exceeded);
}

TEST_CASE("only the peer itself may change its filter, and only a well-formed one") {
  fake_node node;
  fake_peer peer{node, id_of(50), 1, {"/a"}};
  peer.send(wire::make_routing_update(id_of(77), node.self, {"/b"}));
  CHECK(node.routes.count("/b") == 0);
  peer.send(wire::make_routing_update(peer.self, node.self, {"/b"}));
  CHECK(node.routes.count("/b") == 1);
  CHECK(node.routes.count("/a") == 0);
  auto bad = wire::make_routing_update(peer.self, node.self, {"/b"});
  bad.back() = std::byte{0xff};
  bad.resize(bad.size() - 1);
  store_be(bad.data(), static_cast<std::uint32_t>(bad.size() - 4));
  peer.send(bad);
  CHECK(peer.carrier->reason() == errc::invalid_message);
}

TEST_CASE("the status is told to a peer that asks, and to no peer that does not read the answers") {
  fake_node node;
  node.peers->tell_by([](auto, auto most_bytes) { return std::string(most_bytes, 'x'); });
  fake_peer peer{node, id_of(1), 2, {}};
  peer.take_frames();
  wire::inquiry asked{.number = 5, .node = node.self};
  asked.max_bytes = 60'000;
  peer.send(wire::make_inquiry(asked));
  const auto frames = peer.take_frames();
  REQUIRE(frames.size() == 1);
  const auto reply = wire::parse_reply(std::span{frames[0]}.subspan(4));
  REQUIRE(reply);
  CHECK(reply->number == 5);
  CHECK(reply->outcome == wire::reply_outcome::answer);
  CHECK(reply->body.size() == 60'000);
  for (int i = 0; i < 20; ++i) // it reads none
    peer.send(wire::make_inquiry(asked));
  std::map<wire::reply_outcome, int> told;
  for (const auto& each : peer.take_of_kind(wire::frame_kind::reply))
    ++told[wire::parse_reply(each)->outcome];
  CHECK(told[wire::reply_outcome::answer] + told[wire::reply_outcome::busy] == 20);
  CHECK(told[wire::reply_outcome::answer] ==
        static_cast<int>(peering_tuning::most_bytes_due / asked.max_bytes));
  buffer many;
  const auto one = wire::make_inquiry(asked);
  for (int i = 0; i < 1'000; ++i)
    many.insert(many.end(), one.begin(), one.end());
  for (int i = 0; i < 1'000 && !peer.carrier->closed(); ++i)
    peer.send(many);
  CHECK(peer.carrier->reason() == errc::limit_exceeded);
}

TEST_CASE("leaving says goodbye behind all messages, and closes with the answer") {
  fake_node node;
  fake_peer peer{node, id_of(50), 1, {"/a"}};
  const auto session = node.peers->session_of(peer.self);
  CHECK(node.publish("/a", 1) == publish_result::taken);
  session->leave(10s, {});
  const auto frames = peer.take_frames();
  const auto pings = of_type(frames, wire::envelope_type::ping);
  REQUIRE(pings.size() == 1);
  CHECK(of_type({frames.back()}, wire::envelope_type::ping).size() == 1);
  CHECK_FALSE(peer.carrier->closed());
  peer.send(wire::make_pong(peer.self, node.self, pings[0]));
  peer.take_frames();
  CHECK(peer.carrier->closed());
  CHECK_FALSE(session->cut_off());
}

TEST_CASE("a goodbye that is not answered in time ends the connection all the same") {
  fake_node node;
  fake_peer peer{node, id_of(50), 1, {}};
  const auto session = node.peers->session_of(peer.self);
  session->leave(2s, {});
  node.loop->advance(1999ms);
  CHECK_FALSE(peer.carrier->closed());
  node.loop->advance(1ms);
  CHECK(peer.carrier->closed());
  CHECK(session->cut_off());
}

TEST_CASE("a goodbye is said and answered once the nodes behind the peer have what went to them") {
  fake_node node;
  fake_peer peer{node, id_of(1), 2, {"/a"}};
  CHECK(node.publish("/a", 1) == publish_result::taken);
  buffer goodbye(11);
  std::ranges::copy(std::as_bytes(std::span{std::string_view{"BYE"}}), goodbye.begin());
  peer.send(wire::make_ping(peer.self, node.self, goodbye));
  const auto frames = peer.take_frames();
  CHECK(of_type(frames, wire::envelope_type::pong).empty());
  const auto flush = std::ranges::find_if(frames, [](const auto& x) {
    return wire::parse_flush(std::span{x}.subspan(4)).has_value() && x[4] == std::byte{9};
  });
  REQUIRE(flush != frames.end());
  const auto request = wire::parse_flush(std::span{*flush}.subspan(4));
  peer.send(wire::make_flushed({request->from, request->number, wire::max_hops, request->to}));
  CHECK(of_type(peer.take_frames(), wire::envelope_type::pong) == std::vector<buffer>{goodbye});
}

TEST_CASE(
    "a Broker peer that says goodbye has the answer behind what waits, and gets nothing new") {
  fake_node node;
  fake_peer peer{node, id_of(50), 1, {"/a"}};
  peer.take_frames();
  CHECK(node.publish("/a", 1) == publish_result::taken);
  buffer goodbye(11);
  std::ranges::copy(std::as_bytes(std::span{std::string_view{"BYE"}}), goodbye.begin());
  peer.send(wire::make_ping(peer.self, node.self, goodbye));
  CHECK(node.publish("/a", 2) == publish_result::unwanted);
  const auto frames = peer.take_frames();
  REQUIRE(frames.size() == 2);
  CHECK(of_type({frames[0]}, wire::envelope_type::data).size() == 1);
  CHECK(of_type({frames[1]}, wire::envelope_type::pong) == std::vector<buffer>{goodbye});
}

TEST_CASE("where there are several Broker peers, each is probed twice a second on what it shares") {
  fake_node node;
  fake_peer one{node, id_of(50), 1, {"/a"}};
  const auto probes = [](fake_peer& at) {
    return of_type(at.take_frames(), wire::envelope_type::command).size();
  };
  node.loop->advance(circles::time_between_probes);
  CHECK(probes(one) == 0);
  fake_peer two{node, id_of(51), 1, {"/a"}};
  CHECK(probes(one) + probes(two) == 0);
  node.loop->advance(circles::time_between_probes);
  CHECK(probes(one) == 1);
  CHECK(probes(two) == 1);
  node.loop->advance(10 * circles::time_between_probes); // nothing is read meanwhile
  CHECK(probes(one) == 1);
}

TEST_CASE("a probe that comes back over another Broker peer closes the one with the larger id") {
  fake_node node;
  const auto queue = node.subscribe({"/a"});
  fake_peer one{node, id_of(50), 1, {"/a"}};
  fake_peer two{node, id_of(51), 1, {"/a"}};
  node.loop->advance(circles::time_between_probes);
  const auto payloads = of_type(one.take_frames(), wire::envelope_type::command);
  REQUIRE(payloads.size() == 1);
  two.take_frames();
  two.send(wire::make_command(two.self, "/a", payloads[0]));
  CHECK(node.publish("/a", 1) == publish_result::taken);
  CHECK(one.take_messages() == 1);
  CHECK(two.take_messages() == 0);
  two.send_frame("/a", 2);
  one.send_frame("/a", 3);
  CHECK(texts_in(*queue) == std::vector<std::string>{"/a=1", "/a=3"});
}
