// Conversations recorded between two Brokers, with one of them replaced by our endpoint: what it
// says must be what Broker said, byte for byte and in order.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/published.hpp"
#include "support/raw_socket.hpp"
#include "support/transcript.hpp"
#include "wire/broker/envelope.hpp"

#include <functional>
#include <thread>

using namespace pubsub;
using namespace pubsub::test;

namespace {

constexpr std::size_t type_at = 4 + 32;
constexpr std::size_t ttl_at = 4 + 33;
constexpr std::size_t goodbye_at = 4 + wire::envelope_header_bytes + 3; // behind "<$>"

bool is_goodbye(const buffer& frame, wire::envelope_type type) {
  return frame.size() == goodbye_at + 11 && frame[type_at] == static_cast<std::byte>(type) &&
         std::memcmp(frame.data() + goodbye_at, "BYE", 3) == 0;
}

/// What makes our endpoint say something: `act` runs before the frame whose meaning contains
/// `meaning`.
struct cue {
  std::string_view meaning;
  std::function<void()> act;
};

/// The other Broker's end of one recorded conversation.
class broker {
public:
  broker(transcript script, raw_socket wire, bool we_connect)
      : script_(std::move(script)), wire_(std::move(wire)), we_connect_(we_connect) {}

  /// Says what the other Broker said and compares what we say, up to the frame whose meaning
  /// contains `last` (included) or the end.
  void play(const std::vector<cue>& cues = {}, std::string_view last = "TCP FIN") {
    for (bool done = false; !done && next_ < script_.frames.size(); ++next_) {
      const auto& step = script_.frames[next_];
      CAPTURE(step.meaning);
      done = says(step, last);
      for (const auto& [meaning, act] : cues)
        if (says(step, meaning))
          act();
      if (step.bytes.empty() && step.from_connector != we_connect_)
        wire_.shut_down();
      else if (step.bytes.empty())
        CHECK(wire_.closed_by_peer());
      else if (step.from_connector == we_connect_)
        compare(step.bytes);
      else
        CHECK(wire_.send(with_our_token(step.bytes)));
    }
  }

  void say(const buffer& frame) { CHECK(wire_.send(frame)); }
  /// Whether we keep still for a moment.
  bool hears_nothing() { return wire_.read(1, std::chrono::milliseconds{50}).empty(); }
  bool sees_the_end() { return wire_.closed_by_peer(); }

private:
  static bool says(const transcript_frame& step, std::string_view what) {
    return step.meaning.find(what) != std::string::npos;
  }
  /// Documented differences: the bytes behind BYE are each side's own, and we count the hop limit
  /// down where Broker does not.
  void compare(buffer wanted) {
    auto said = wire_.read_frame();
    REQUIRE(said.size() == wanted.size());
    if (is_goodbye(wanted, wire::envelope_type::ping) &&
        is_goodbye(said, wire::envelope_type::ping)) {
      token_.assign(said.begin() + goodbye_at, said.end());
      std::copy(token_.begin(), token_.end(), wanted.begin() + goodbye_at);
    }
    if (hops_ > 0 && wanted.size() > ttl_at + 2)
      store_be(wanted.data() + ttl_at, static_cast<std::uint16_t>(wire::default_ttl - hops_));
    CHECK((said == wanted));
  }
  buffer with_our_token(buffer frame) const {
    if (is_goodbye(frame, wire::envelope_type::pong) && !token_.empty())
      std::copy(token_.begin(), token_.end(), frame.begin() + goodbye_at);
    return frame;
  }

public:
  int hops_ = 0; ///< what we send next comes from another peer

private:
  const transcript script_;
  raw_socket wire_;
  const bool we_connect_;
  std::size_t next_ = 0;
  buffer token_;
};

endpoint_options named(char digit, const filter& forward_topics = {}) {
  endpoint_options out;
  out.max_wire_version = 1; // as the recorded Broker has it
  out.id = golden_id(digit);
  out.forward_topics = forward_topics;
  return out;
}

const data a_greeting = vector{"hello", count{7}};

/// The recorded Zeek event, as the transcript has it.
data recorded_event(const transcript& script) {
  for (const auto& step : script.frames)
    if (step.meaning.find("'/listener/topic/ev'") != std::string::npos)
      return data_view::make(wire::parse_envelope(std::span{step.bytes}.subspan(4))->payload)
          ->to_data();
  return {};
}

raw_socket connect_to(endpoint& ep) {
  const auto port = ep.listen("tcp://127.0.0.1:0");
  REQUIRE(port.has_value());
  return raw_socket::connect(*port);
}

} // namespace

TEST_CASE("as the connecting side we say what Broker says, from hello to goodbye") {
  for (const auto& each : {std::pair<std::string, char>{"connector_smaller_id_unpeer", '1'},
                           {"connector_larger_id_unpeer", '2'},
                           {"connector_smaller_id_shutdown_connector", '1'},
                           {"connector_smaller_id_shutdown_listener", '1'},
                           {"connector_smaller_id_killed", '1'}}) {
    const auto& scenario = each.first;
    const auto self = each.second;
    CAPTURE(scenario);
    const auto script = load_transcript(scenario);
    const auto them = golden_id(self == '1' ? '2' : '1');
    const auto event = recorded_event(script);
    raw_listener server;
    endpoint ep{named(self)};
    auto sub = ep.make_subscriber({"/connector/topic"});
    REQUIRE(ep.peer_async(server.uri(), {.retry = {}}));
    broker other{script, *server.accept(), true};
    std::thread leaving;
    auto leave = [&] {
      leaving = std::thread{[&] {
        if (scenario.ends_with("unpeer"))
          CHECK(ep.unpeer(them));
        else
          ep.close();
      }};
    };
    other.play({{"'/connector/late'",
                 [&] {
                   REQUIRE(ep.wait_for_peers(1, patience));
                   sub.add_topic("/connector/late");
                 }},
                {"'/listener/topic/x'", [&] { sent(ep.publish("/listener/topic/x", count{42})); }},
                {"'/listener/topic/ev'", [&] { sent(ep.publish("/listener/topic/ev", event)); }},
                {"'/direct'", [&] { sent(ep.publish_to(them, "/direct", "to you")); }}},
               "'/direct'");
    const auto msg = sub.get_for(patience);
    REQUIRE(msg);
    CHECK(get_topic(*msg) == "/connector/topic");
    CHECK(get_data(*msg) == a_greeting);
    if (scenario.ends_with("killed"))
      continue; // who is killed says nothing more
    const bool we_leave = !scenario.ends_with("shutdown_listener");
    other.play({{we_leave ? "ping sender" : "nothing", leave}});
    if (leaving.joinable())
      leaving.join();
    CHECK(eventually([&] { return ep.peers().empty(); }));
  }
}

TEST_CASE("as the listening side we say what Broker says, from probe to goodbye") {
  for (const auto& each : {std::pair<std::string, char>{"connector_smaller_id_unpeer", '2'},
                           {"connector_larger_id_unpeer", '1'},
                           {"connector_smaller_id_shutdown_connector", '2'},
                           {"connector_smaller_id_shutdown_listener", '2'},
                           {"connector_smaller_id_killed", '2'}}) {
    const auto& scenario = each.first;
    const auto self = each.second;
    CAPTURE(scenario);
    const auto script = load_transcript(scenario);
    endpoint ep{named(self)};
    auto sub = ep.make_subscriber({"/listener/topic"});
    broker other{script, connect_to(ep), false};
    std::thread leaving;
    const bool we_leave = scenario.ends_with("shutdown_listener");
    other.play(
        {{"'zeek.late'",
          [&] {
            REQUIRE(ep.wait_for_subscribers("/connector/late", 1, patience));
            sub.add_topic("zeek.late");
          }},
         {"topic='/connector/topic'", [&] { sent(ep.publish("/connector/topic", a_greeting)); }},
         {we_leave ? "ping sender" : "nothing",
          [&] { leaving = std::thread{[&] { ep.close(); }}; }}});
    if (leaving.joinable())
      leaving.join();
    CHECK(next_number(sub) == 42);
    const auto event = sub.get_for(patience);
    REQUIRE(event);
    CHECK(get_topic(*event) == "/listener/topic/ev");
    CHECK(get_data(*event) == recorded_event(script));
  }
}

TEST_CASE("a message addressed to us is delivered, one addressed to a stranger is not") {
  endpoint ep{named('1')};
  auto sub = ep.make_subscriber({"/raw"});
  broker other{load_transcript("raw_larger_id_full_handshake_then_data"), connect_to(ep), false};
  other.play({}, "originator_ack");
  auto addressed = [](const endpoint_id& receiver, std::uint64_t number) {
    buffer frame(wire::data_frame_bytes(4, 9));
    auto* payload = wire::write_data_header(frame.data(), golden_id('2'), "/raw", 9);
    *payload = std::byte{2};
    store_be(payload + 1, number);
    std::memcpy(frame.data() + 4 + 16, receiver.bytes().data(), 16);
    return frame;
  };
  other.say(addressed(golden_id('7'), 1));
  other.say(addressed(golden_id('2'), 2)); // never back
  other.say(addressed(golden_id('1'), 3));
  CHECK(next_number(sub) == 3);
  CHECK(ep.counters().received == 3);
  CHECK(ep.counters().forwarded == 0);
}

TEST_CASE("as the relay between two Brokers we say what Broker says on both links") {
  raw_listener server;
  endpoint relay{named('3', {"/multi"})};
  broker publisher{load_transcript("multi_hop", "publisher-relay"), connect_to(relay), false};
  publisher.play({}, "originator_ack");
  REQUIRE(relay.wait_for_peer(golden_id('1'), patience));
  REQUIRE(relay.peer_async(server.uri(), {.retry = {}}));
  broker subscriber{load_transcript("multi_hop", "relay-subscriber"), *server.accept(), true};
  subscriber.play({}, "originator_ack");
  REQUIRE(relay.wait_for_peer(golden_id('2'), patience));
  publisher.play({}, "'/multi/hop/a'");
  publisher.play({}, "'/multi/other'"); // nobody wants this one
  subscriber.hops_ = 1;
  subscriber.play({}, "data sender");
  subscriber.hops_ = 0;
  publisher.play();
  std::thread leaving;
  subscriber.play({{"ping sender", [&] { leaving = std::thread{[&] { relay.close(); }}; }}});
  leaving.join();
  CHECK(relay.counters().forwarded == 1);
  CHECK(relay.counters().received == 2);
}

TEST_CASE("as the publisher behind a relay we say what Broker says") {
  raw_listener server;
  endpoint ep{named('1')};
  REQUIRE(ep.peer_async(server.uri(), {.retry = {}}));
  broker relay{load_transcript("multi_hop", "publisher-relay"), *server.accept(), true};
  std::thread leaving;
  relay.play({{"'/multi/hop/a'",
               [&] {
                 REQUIRE(ep.wait_for_peer(golden_id('3'), patience));
                 sent(ep.publish("/multi/hop/a", "over two links"));
               }},
              {"'/multi/other'", [&] { sent(ep.publish("/multi/other", count{5})); }},
              {"ping sender", [&] { leaving = std::thread{[&] { ep.close(); }}; }}});
  leaving.join();
}

TEST_CASE("as the subscriber behind a relay we say what Broker says") {
  endpoint ep{named('2')};
  auto sub = ep.make_subscriber({"/multi/hop"});
  broker relay{load_transcript("multi_hop", "relay-subscriber"), connect_to(ep), false};
  relay.play();
  const auto msg = sub.get_for(patience);
  REQUIRE(msg);
  CHECK(get_topic(*msg) == "/multi/hop/a");
  CHECK(get_data(*msg) == data{"over two links"});
}

TEST_CASE("of two connections made at once the smaller id drops the later one, after the other") {
  raw_listener b;
  endpoint a{named('1')};
  auto sub = a.make_subscriber({"/x"});
  broker winner{load_transcript("mutual_simultaneous_connect", "B-connects-A"), connect_to(a),
                false};
  winner.play({}, "originator_syn");
  REQUIRE(a.peer_async(b.uri(), {.retry = {}}));
  broker loser{load_transcript("mutual_simultaneous_connect", "A-connects-B"), *b.accept(), true};
  loser.play({}, "hello sender=2");
  CHECK(loser.hears_nothing()); // a drop_conn now could overtake the other handshake
  winner.play({}, "originator_ack");
  loser.play();
  CHECK(eventually([&] { return a.peers().size() == 1; })); // the loser is closed behind its drop
  std::thread leaving;
  winner.play(
      {{"ping sender", [&] { leaving = std::thread{[&] { CHECK(a.unpeer(golden_id('2'))); }}; }}});
  leaving.join();
}

TEST_CASE("of two connections made at once the larger id lets the other side choose") {
  raw_listener a;
  endpoint b{named('2')};
  auto sub = b.make_subscriber({"/y"});
  broker loser{load_transcript("mutual_simultaneous_connect", "A-connects-B"), connect_to(b),
               false};
  loser.play({}, "hello sender=2");
  REQUIRE(b.peer_async(a.uri(), {.retry = {}}));
  broker winner{load_transcript("mutual_simultaneous_connect", "B-connects-A"), *a.accept(), true};
  winner.play({}, "originator_ack");
  loser.play();
  CHECK(b.wait_for_peer(golden_id('1'), patience));
  CHECK(b.peers().size() == 1);
  winner.play();
}

TEST_CASE("a second connection is dropped by the smaller id, and success for the larger") {
  raw_listener other_end;
  endpoint a{named('1')};
  auto wants_x = a.make_subscriber({"/x"});
  REQUIRE(a.peer_async(other_end.uri(), {.retry = {}}));
  broker b{load_transcript("redundant_second_connection", "A-connects-B"), *other_end.accept(),
           true};
  b.play({}, "originator_ack");
  REQUIRE(a.wait_for_peer(golden_id('2'), patience));
  broker again{load_transcript("redundant_second_connection", "B-connects-A"), connect_to(a),
               false};
  again.play();
  std::thread leaving;
  b.play(
      {{"ping sender", [&] { leaving = std::thread{[&] { CHECK(a.unpeer(golden_id('2'))); }}; }}});
  leaving.join();
}

TEST_CASE("who already has this peer takes the drop of a second connection for success") {
  raw_listener other_end;
  endpoint b{named('2')};
  auto wants_y = b.make_subscriber({"/y"});
  broker a{load_transcript("redundant_second_connection", "A-connects-B"), connect_to(b), false};
  a.play({}, "originator_ack");
  REQUIRE(b.wait_for_peer(golden_id('1'), patience));
  std::thread dialing{[&] { CHECK(b.peer(other_end.uri(), {.retry = {}})); }};
  broker again{load_transcript("redundant_second_connection", "B-connects-A"), *other_end.accept(),
               true};
  again.play();
  dialing.join();
  CHECK(b.peers().size() == 1);
  a.play();
}

TEST_CASE("what a Broker with a data store sends is passed over, and it gets its goodbye") {
  endpoint ep{named('1')};
  const auto script = load_transcript("data_store_master_clone");
  auto wire = connect_to(ep);
  for (const auto& step : script.frames)
    if (step.from_connector && !step.bytes.empty())
      CHECK(wire.send(step.bytes));
  const auto pong = [&] {
    for (auto frame = wire.read_frame(); !frame.empty(); frame = wire.read_frame())
      if (is_goodbye(frame, wire::envelope_type::pong))
        return frame;
    return buffer{};
  }();
  CHECK(pong == script.frames.at(script.frames.size() - 3).bytes);
  CHECK(ep.counters().malformed_frames == 0);
}

TEST_CASE("a connector with our own id is closed at once; Broker would wait for ever") {
  endpoint ep{named('1')};
  broker other{load_transcript("raw_same_id"), connect_to(ep), false};
  other.play({}, "hello sender=1");
  CHECK(other.sees_the_end());
}

TEST_CASE("we answer hand-made connectors as Broker does") {
  for (const auto* scenario :
       {"raw_wrong_magic", "raw_version_2_only", "raw_version_1_to_9", "raw_unknown_tag",
        "raw_zero_length", "raw_larger_id_full_handshake_then_data",
        "raw_smaller_id_full_handshake_then_bye", "raw_bad_phase3"}) {
    CAPTURE(scenario);
    const auto script = load_transcript(scenario);
    endpoint ep{named('1')};
    auto sub = ep.make_subscriber({"/raw"});
    broker other{script, connect_to(ep), false};
    other.play();
    const auto& last = script.frames.back();
    if (last.meaning.find("data sender") != std::string::npos) // the link survived what came before
      CHECK(next_number(sub) == 43);
    if (scenario == std::string_view{"raw_bad_phase3"})
      CHECK(ep.counters().malformed_frames == 1);
  }
}
