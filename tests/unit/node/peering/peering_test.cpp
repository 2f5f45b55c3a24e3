// SPDX-License-Identifier: BSD-3-Clause
#include "node/peering/peering.hpp"

#include "support/fake_node.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

std::vector<status_code> codes(status_queue& queue) {
  std::vector<status_code> result;
  while (const auto each = queue.pull(immediately()))
    if (!each->is_error())
      result.push_back(each->code());
  return result;
}

} // namespace

TEST_CASE("a peer appears with its filter and version, and is reported once it is peered") {
  fake_node node;
  const auto events = node.events.subscribe(status_events::all);
  const fake_peer peer{node, id_of(50), 1, {"/a"}};
  CHECK(codes(*events) == std::vector{status_code::endpoint_discovered, status_code::peer_added});
  const auto all = node.peers->peers();
  REQUIRE(all.size() == 1);
  CHECK(all[0].id == id_of(50));
  CHECK(all[0].state == peer_state::peered);
  CHECK(node.peers->wait_for_peer(id_of(50), 0ns));
  CHECK_FALSE(node.peers->wait_for_peer(id_of(51), 0ns));
  CHECK(node.peers->wait_for_peers(1, 0ns));
  CHECK(node.peers->established().size() == 1);
  CHECK(node.peers->links().size() == 1);
}

TEST_CASE("a peer that is lost is reported, and with it go its subscriptions") {
  fake_node node;
  const fake_peer peer{node, id_of(1), 2, {"/a"}};
  CHECK(node.routes.count("/a") == 1);
  const auto events = node.events.subscribe(status_events::all);
  peer.carrier->end({errc::peer_unavailable, "test"});
  CHECK(codes(*events) == std::vector{status_code::peer_lost, status_code::endpoint_unreachable});
  CHECK(node.routes.count("/a") == 0);
  CHECK(node.peers->peers().empty());
}

TEST_CASE("a peer that leaves is reported as removed by the side that asked for it") {
  fake_node node;
  fake_peer peer{node, id_of(50), 1, {}};
  const auto events = node.events.subscribe(status_events::all);
  CHECK(node.peers->disconnect(id_of(9), 0ms).error() == errc::peer_invalid);
  CHECK(node.peers->disconnect(id_of(50), -1s).error() == errc::request_timeout); // at once
  node.loop->run();
  peer.carrier->end({});
  CHECK(codes(*events) ==
        std::vector{status_code::peer_removed, status_code::endpoint_unreachable});
}

TEST_CASE("a second connection of a peer that is there is turned away, and the first stays") {
  fake_node node;
  const fake_peer first{node, id_of(50), 1, {"/a"}};
  const fake_peer second{node, id_of(50), 1, {"/b"}};
  CHECK(second.hands.machine.state() != outcome::peered);
  second.carrier->take_written();
  CHECK(second.carrier->closed());
  CHECK_FALSE(first.carrier->closed());
  CHECK(node.routes.count("/a") == 1);
  CHECK(node.routes.count("/b") == 0);
}

TEST_CASE("a node that answers in version 2 tells what it knows before the last word has come") {
  fake_node node;
  const auto carrier = node.connect();
  party hands{tcp_role::connecting, id_of(50), {}, 2, true};
  for (int i = 0; i < 2; ++i) {
    for (const auto& each : hands.take_sent())
      carrier->receive(each);
    node.loop->run();
    for (const auto& each : carrier->take_frames())
      if (!hands.machine.over())
        hands.hear(each);
  }
  REQUIRE(hands.machine.over());
  const auto events = node.events.subscribe(status_events::all);
  SUBCASE("the last word comes, and what the client wants") {
    for (const auto& each : hands.take_sent())
      carrier->receive(each);
    carrier->receive(wire::make_report(filter_report{{id_of(50), 1, 1, true}, {"/a"}, {}}));
    carrier->receive(wire::make_known());
    node.loop->run();
    CHECK(node.peers->wait_for_peer(id_of(50), 0ns));
    CHECK(node.routes.count("/a") == 1);
  }
  SUBCASE("something else comes: it was never a peer, and nothing of it stays") {
    carrier->receive(wire::make_report(filter_report{{id_of(50), 1, 1, true}, {"/a"}, {}}));
    node.loop->run();
    carrier->take_written();
    CHECK(carrier->closed());
    CHECK(node.peers->peers().empty());
    CHECK(node.routes.count("/a") == 0);
    CHECK(codes(*events).empty());
    const fake_peer again{node, id_of(50), 2, {"/a"}};
    CHECK(again.is_peered());
  }
}

TEST_CASE(
    "who calls its connection superfluous in another's name harms neither that one nor itself") {
  for (const std::size_t frames_before : {2, 3}) { // up to version_select, or originator_syn
    CAPTURE(frames_before);
    fake_node node;
    const fake_peer honest{node, id_of(60), 2, {"/honest"}};
    REQUIRE(node.routes.count("/honest") == 1);
    const auto carrier = node.connect();
    party liar{tcp_role::connecting, id_of(50), {}, 2, true};
    std::size_t said = 0;
    for (int i = 0; i < 2; ++i) {
      for (const auto& each : liar.take_sent())
        if (said++ < frames_before)
          carrier->receive(each);
      node.loop->run();
      for (const auto& each : carrier->take_frames())
        if (!liar.machine.over())
          liar.hear(each);
    }
    party as_honest{tcp_role::accepting, id_of(60)};
    as_honest.take_sent();
    as_honest.machine.reject(errc::redundant_connection, "redundant connection");
    for (const auto& each : as_honest.take_sent())
      carrier->receive(each);
    node.loop->run();
    carrier->take_written();
    CHECK(carrier->closed());
    CHECK(node.routes.count("/honest") == 1);
    CHECK(node.peers->wait_for_peer(id_of(60), 0ns));
    const fake_peer again{node, id_of(50), 2, {"/again"}};
    CHECK(again.is_peered());
    CHECK(node.routes.count("/again") == 1);
  }
}

TEST_CASE("a node that is closed admits no more peers") {
  fake_node node;
  node.peers->close(0ms);
  const auto link = node.connect();
  CHECK(node.peers->links().empty());
  CHECK_FALSE(node.peers->listen("tcp://127.0.0.1:0"));
}

TEST_CASE("a Broker peer has read everything once it has answered what came behind") {
  fake_node node;
  fake_peer peer{node, id_of(50), 1, {}};
  peer.take_frames();
  const auto session = node.peers->session_of(id_of(50));
  const auto asked = session->ask_whether_read();
  CHECK_FALSE(wait_until_settled(asked.answer, immediately()));
  const auto frames = peer.take_frames();
  REQUIRE(frames.size() == 1);
  const auto ping = wire::parse_envelope(std::span{frames[0]}.subspan(4));
  REQUIRE(ping);
  peer.send(wire::make_pong(peer.self, node.self, ping->payload));
  REQUIRE(wait_until_settled(asked.answer, immediately()));
  CHECK(asked.answer.get().outcome == wire::reply_outcome::answer);
  const auto lost = session->ask_whether_read();
  peer.carrier->end({});
  REQUIRE(wait_until_settled(lost.answer, immediately()));
  CHECK(lost.answer.get().outcome == wire::reply_outcome::lost);
}

TEST_CASE("silent connections make room for one another, and not those from elsewhere") {
  const auto loop = std::make_shared<fake_loop>();
  const auto from = [&](const std::string& address) {
    return std::make_shared<fake_link>(loop, queue_options{}, 1024, address);
  };
  acceptor door{4};
  const auto honest = from("far away"); // its first bytes are on the way still
  CHECK(door.note_accepted(honest) == nullptr);
  std::vector<std::shared_ptr<fake_link>> flood;
  std::size_t closed = 0;
  for (int i = 0; i < 1000; ++i) {
    flood.push_back(from("flood"));
    CHECK(door.may_accept());
    if (const auto superseded = door.note_accepted(flood.back()))
      CHECK(superseded == flood[closed++]);
  }
  CHECK(closed == 997);
}

TEST_CASE("no more than so many peers are admitted, and one that leaves makes room") {
  endpoint_options options;
  options.max_peers = 2;
  fake_node node{id_of(100), options};
  const fake_peer one{node, id_of(50), 1, {}};
  const fake_peer two{node, id_of(1), 2, {}};
  const fake_peer three{node, id_of(2), 2, {}};
  CHECK_FALSE(three.is_peered());
  one.carrier->end({});
  const fake_peer four{node, id_of(3), 2, {}};
  CHECK(four.is_peered());
}
