// Each side of Broker's recorded handshakes, played by our state machine.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/handshake_party.hpp"
#include "support/transcript.hpp"

#include <doctest/doctest.h>

#include <deque>

using namespace pubsub;
using namespace pubsub::test;

namespace {

/// Plays one role of the handshake part of a conversation: every frame of that side must be what we
/// say, in order; every frame of the other side is heard.
struct replay {
  replay(const transcript& script, tcp_role role, const endpoint_id& self, const filter& announced)
      : us(role, self, announced) {
    for (const auto& frame : script.frames) {
      const auto tag = frame.bytes.size() > 4 ? static_cast<int>(frame.bytes[4]) : 0;
      if (frame.bytes.empty() || (us.machine.state() == outcome::peered && next == us.sent.size()))
        break;
      CAPTURE(frame.meaning);
      CAPTURE(tag);
      if (frame.from_connector != (role == tcp_role::connecting)) {
        us.hear(frame.bytes);
      } else {
        REQUIRE_MESSAGE(next < us.sent.size(), frame.meaning);
        CHECK(us.sent[next++] == frame.bytes);
      }
    }
    CHECK(next == us.sent.size()); // and nothing more
  }

  party us;
  std::size_t next = 0;
};

} // namespace

TEST_CASE("both sides of a handshake say what Broker says, whoever has the smaller id") {
  const filter connector{"/connector/topic"};
  const filter listener{"/listener/topic"};
  for (const auto& each : {std::tuple{"connector_smaller_id_unpeer", '1', '2'},
                           {"connector_larger_id_unpeer", '2', '1'}}) {
    CAPTURE(std::get<0>(each));
    const auto script = load_transcript(std::get<0>(each));
    const auto connecting = std::get<1>(each);
    const auto listening = std::get<2>(each);
    replay c{script, tcp_role::connecting, golden_id(connecting), connector};
    CHECK(c.us.machine.state() == outcome::peered);
    CHECK(c.us.machine.remote() == golden_id(listening));
    CHECK(c.us.machine.remote_filter() == listener);
    CHECK(c.us.machine.is_originator() == (connecting < listening));
    replay s{script, tcp_role::accepting, golden_id(listening), listener};
    CHECK(s.us.machine.state() == outcome::peered);
    CHECK(s.us.machine.remote() == golden_id(connecting));
    CHECK(s.us.machine.remote_filter() == connector);
    CHECK(s.us.asked == std::vector{golden_id(connecting)});
  }
}

TEST_CASE("a relay's handshakes with publisher and subscriber are Broker's") {
  const auto incoming = load_transcript("multi_hop", "publisher-relay");
  CHECK(replay{incoming, tcp_role::accepting, golden_id('3'), {"/multi"}}.us.machine.state() ==
        outcome::peered);
  const auto outgoing = load_transcript("multi_hop", "relay-subscriber");
  CHECK(replay{outgoing, tcp_role::connecting, golden_id('3'), {"/multi"}}.us.machine.state() ==
        outcome::peered);
}

TEST_CASE("a wrong magic number is refused in Broker's words") {
  const auto script = load_transcript("raw_wrong_magic");
  replay s{script, tcp_role::accepting, golden_id('1'), {"/raw"}};
  CHECK(s.us.machine.state() == outcome::failed);
  CHECK(s.us.machine.failure() == errc::wrong_magic_number);
}

TEST_CASE("a peer that only speaks version 2 is refused in Broker's words") {
  const auto script = load_transcript("raw_version_2_only");
  replay s{script, tcp_role::accepting, golden_id('1'), {"/raw"}};
  CHECK(s.us.machine.failure() == errc::peer_incompatible);
}

TEST_CASE("a peer that speaks versions 1 to 9 is answered with version 1") {
  const auto script = load_transcript("raw_version_1_to_9");
  replay s{script, tcp_role::accepting, golden_id('1'), {"/raw"}};
  CHECK(s.us.machine.state() == outcome::running);
}

TEST_CASE("an unknown message is refused in Broker's words") {
  const auto script = load_transcript("raw_unknown_tag");
  replay s{script, tcp_role::accepting, golden_id('1'), {"/raw"}};
  CHECK(s.us.machine.failure() == errc::invalid_message);
}

TEST_CASE("an empty frame ends the handshake without a word") {
  const auto script = load_transcript("raw_zero_length");
  replay s{script, tcp_role::accepting, golden_id('1'), {"/raw"}};
  CHECK(s.us.machine.state() == outcome::failed);
}

TEST_CASE("hand-made connectors with the larger and the smaller id get through") {
  for (const auto* scenario :
       {"raw_larger_id_full_handshake_then_data", "raw_smaller_id_full_handshake_then_bye"}) {
    CAPTURE(scenario);
    const auto script = load_transcript(scenario);
    replay s{script, tcp_role::accepting, golden_id('1'), {"/raw"}};
    CHECK(s.us.machine.state() == outcome::peered);
    CHECK(s.us.machine.remote_filter() == filter{"/raw"});
  }
}

TEST_CASE("a peer with our own id fails at once; Broker would wait for ever") {
  const auto script = load_transcript("raw_same_id");
  party us{tcp_role::accepting, golden_id('1'), {"/raw"}};
  CHECK(us.sent.size() == 1); // the probe
  CHECK(us.hear(script.frames.at(1).bytes) == outcome::failed);
  CHECK(us.sent.size() == 1);
  CHECK(us.asked.empty());
}

TEST_CASE("of two simultaneous connections the paused one is dropped in Broker's words") {
  const auto script = load_transcript("mutual_simultaneous_connect", "A-connects-B");
  party us{tcp_role::connecting, golden_id('1'), {"/x"}};
  us.answer = admission::pause;
  CHECK(us.take_sent().at(0) == script.frames.at(1).bytes);      // hello
  CHECK(us.hear(script.frames.at(0).bytes) == outcome::running); // probe
  CHECK(us.hear(script.frames.at(2).bytes) == outcome::paused);
  CHECK(us.sent.empty());
  CHECK(us.machine.reject(errc::redundant_connection, "redundant connection") ==
        outcome::redundant);
  CHECK(us.take_sent().at(0) == script.frames.at(3).bytes);
}

TEST_CASE("a second connection to a peer is refused in Broker's words, and that is no failure") {
  const auto script = load_transcript("redundant_second_connection", "B-connects-A");
  party a{tcp_role::accepting, golden_id('1')};
  a.answer = admission::redundant;
  CHECK(a.hear(script.frames.at(0).bytes) == outcome::redundant);
  CHECK(a.sent.at(1) == script.frames.at(2).bytes);
  party b{tcp_role::connecting, golden_id('2')};
  b.known = true;
  CHECK(b.hear(script.frames.at(1).bytes) == outcome::running);
  CHECK(b.hear(script.frames.at(2).bytes) == outcome::redundant);
  party amnesiac{tcp_role::connecting, golden_id('2')};
  CHECK(amnesiac.hear(script.frames.at(2).bytes) == outcome::failed);
  CHECK(amnesiac.machine.failure() == errc::redundant_connection);
}
