// Every recorded conversation, each side of it in turn played by us without a socket: the handshake
// by the state machine, what follows by the functions that write envelopes.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/handshake_party.hpp"
#include "support/transcript.hpp"
#include "wire/broker/envelope.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <set>

using namespace pubsub;
using namespace pubsub::test;

namespace {

constexpr std::size_t tag_at = 4;
constexpr std::size_t id_at = 4 + 1 + 4;

enum tag : int { hello = 6, version_select = 8, drop_conn = 9, syn = 10, syn_ack = 11, ack = 12 };

int tag_of(const transcript_frame& x) {
  return x.bytes.size() > tag_at ? static_cast<int>(x.bytes[tag_at]) : -1;
}

/// What one side of a conversation says about itself in it.
struct side {
  endpoint_id id;
  filter announced;
  bool originates = false;
  bool drops = false; ///< refuses this connection as redundant
  bool hears_hello = false;
};

side side_of(const transcript& script, bool connector) {
  side out;
  for (const auto& frame : script.frames) {
    const auto tag = tag_of(frame);
    if (frame.from_connector != connector) {
      out.hears_hello = out.hears_hello || tag == hello;
      continue;
    }
    if ((tag == hello || tag == version_select || tag == drop_conn) && frame.bytes.size() > 25) {
      endpoint_id::bytes_type raw;
      std::memcpy(raw.data(), frame.bytes.data() + id_at, raw.size());
      out.id = endpoint_id{raw};
    }
    out.originates = out.originates || tag == version_select;
    out.drops = out.drops || (tag == drop_conn && static_cast<int>(frame.bytes.at(25)) == 39);
    if (tag == syn || tag == syn_ack)
      out.announced = *wire::parse_filter(std::span{frame.bytes}.subspan(tag_at + 1));
  }
  return out;
}

/// The same bytes, made from what the frame says.
buffer write_again(const buffer& frame) {
  const auto x = wire::parse_envelope(std::span{frame}.subspan(4));
  if (!x)
    return {};
  switch (x->type) {
  case wire::envelope_type::routing_update:
    return wire::make_routing_update(x->sender, x->receiver, *wire::parse_filter(x->payload));
  case wire::envelope_type::ping:
    return wire::make_ping(x->sender, x->receiver, x->payload);
  case wire::envelope_type::pong:
    return wire::make_pong(x->sender, x->receiver, x->payload);
  case wire::envelope_type::command: // of data stores, which we only pass over
    return frame;
  case wire::envelope_type::data:
    break;
  }
  buffer out(wire::data_frame_bytes(x->topic.size(), x->payload.size()));
  auto* payload = wire::write_data_header(out.data(), x->sender, x->topic, x->payload.size(),
                                          x->ttl, x->receiver);
  std::ranges::copy(x->payload, payload);
  return out;
}

/// One side of a conversation, played to its end.
class player {
public:
  player(const transcript& script, bool connector)
      : script_(script), connector_(connector), self_(side_of(script, connector)),
        us_(connector ? tcp_role::connecting : tcp_role::accepting, self_.id, self_.announced) {
    us_.known = true;
    if (self_.drops) // at once where it is peered already, later where both are still at it
      us_.answer = connector ? admission::pause : admission::redundant;
  }

  /// Fails the test where what we say is not what was said.
  void play() {
    for (const auto& frame : script_.frames) {
      CAPTURE(frame.meaning);
      if (frame.bytes.empty())
        continue; // the end of the stream
      if (us_.machine.state() == outcome::peered && next_ == us_.sent.size())
        follow(frame);
      else if (frame.from_connector != connector_)
        us_.hear(frame.bytes);
      else
        say(frame);
    }
    CHECK(next_ == us_.sent.size()); // and nothing more
  }

  outcome end() const { return us_.machine.state(); }
  const endpoint_id& remote() const { return us_.machine.remote(); }
  const filter& remote_filter() const { return us_.machine.remote_filter(); }

private:
  void say(const transcript_frame& frame) {
    if (us_.machine.state() == outcome::paused) // the other connection has got through
      us_.machine.reject(errc::redundant_connection, "redundant connection");
    REQUIRE(next_ < us_.sent.size());
    CHECK(us_.sent[next_++] == frame.bytes);
  }
  /// After the handshake: what we would say is made from its parts, what we hear is understood.
  void follow(const transcript_frame& frame) {
    const auto x = wire::parse_envelope(std::span{frame.bytes}.subspan(4));
    if (!x) {
      CHECK(script_.scenario == "raw_bad_phase3");
      return;
    }
    CHECK(write_again(frame.bytes) == frame.bytes);
    CHECK(x->sender == (frame.from_connector == connector_ ? self_.id : remote()));
  }

  const transcript& script_;
  const bool connector_;
  const side self_;
  party us_;
  std::size_t next_ = 0;
};

/// What a peer that keeps to the protocol does not say, so that we cannot be that side.
const std::set<std::string> hand_made = {"raw_wrong_magic", "raw_version_2_only",
                                         "raw_version_1_to_9", "raw_unknown_tag",
                                         "raw_zero_length"};
/// Broker waits for ever there; see "a peer with our own id fails at once".
const std::string differs = "raw_same_id";

} // namespace

TEST_CASE("each side of every recorded conversation says what Broker said, byte for byte") {
  std::size_t played = 0;
  for (const auto& script : load_transcripts())
    for (const bool connector : {true, false}) {
      if (script.scenario == differs || (connector && hand_made.contains(script.scenario)))
        continue;
      CAPTURE(script.scenario);
      CAPTURE(script.link);
      CAPTURE(connector);
      player us{script, connector};
      us.play();
      ++played;
      const bool through = std::ranges::any_of(
          script.frames, [](const auto& x) { return tag_of(x) == ack && x.bytes.size() == 5; });
      CHECK((us.end() == outcome::peered) == through);
      if (through) {
        CHECK(us.remote() == side_of(script, !connector).id);
        CHECK(us.remote_filter() == side_of(script, !connector).announced);
      }
    }
  CHECK(played == 35); // of 21 conversations
}

TEST_CASE("who is refused as redundant takes it for success where the peering is known") {
  for (const auto& [link, connector] :
       {std::pair{"mutual_simultaneous_connect", false}, {"redundant_second_connection", true}}) {
    const auto script = load_transcript(link, connector ? "B-connects-A" : "A-connects-B");
    player us{script, connector};
    us.play();
    CHECK(us.end() == outcome::redundant);
    CHECK(us.remote() == golden_id('1'));
  }
}
