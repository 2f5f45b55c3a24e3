// What a node of the network that lies about others cannot do: silence them, or speak for them.
// SPDX-License-Identifier: BSD-3-Clause
#include "message/record.hpp"
#include "support/everything.hpp"
#include "support/nodes.hpp"
#include "support/published.hpp"
#include "support/raw_peer.hpp"
#include "wire/native/network.hpp"

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

constexpr auto highest = std::uint64_t{1} << 62; // of all numbers on the wire

/// An honest node behind a relay, and a peer of the relay that lies.
struct honest_and_liar {
  honest_and_liar() {
    REQUIRE(honest.peer(local_uri(*relay.listen("tcp://127.0.0.1:0"))));
    liar.emplace(relay, *relay.listen("tcp://127.0.0.1:0"), 2);
  }
  /// Waits until the relay has read what the liar has sent.
  void settle() {
    CHECK(liar->send_ping(relay));
    for (auto next = liar->read_frame(); !next.payload.empty(); next = liar->read_frame())
      if (const auto x = wire::parse_envelope(next.payload);
          !next.of_version_2 && x && x->type == wire::envelope_type::pong)
        return;
    FAIL("the relay has closed the link");
  }
  bool say(const std::vector<std::byte>& frame) { return liar->wire.send(frame); }

  static endpoint_options lowest() { // a smaller id than raw peers, which do not begin handshakes
    endpoint_options result;
    result.id = raw_peer::id('1');
    return result;
  }

  endpoint relay{lowest()};
  endpoint honest{forwarding_on()};
  std::optional<raw_peer> liar;
};

/// A frame: table 0 has one topic, whose messages are for one node.
std::vector<std::byte> topics_for(std::string_view topic, const endpoint_id& node) {
  auto topics = topic_table::make(topic_table::max_topics);
  auto to = std::make_shared<destinations_by_link>();
  to->push_back({&topics, {{node, ~std::uint64_t{0}}}});
  topics->add(topic, to);
  return wire::make_topics(0, *topics, 0, 1, &topics);
}

/// A frame: one count on that topic.
std::vector<std::byte> batch_of_one(const run_origin& origin, std::uint8_t number) {
  auto payload = from_hex("020000000000000000");
  payload.back() = std::byte{number};
  std::vector<std::byte> batch(wire::batch_header_bytes + record_header_bytes + payload.size());
  std::ranges::copy(payload, write_record_header(batch.data() + wire::batch_header_bytes,
                                                 std::uint32_t(payload.size()), 0));
  wire::write_batch_header(batch.data(), {0, 1, origin}, batch.size() - wire::batch_header_bytes);
  return batch;
}

/// The header of the next batch that a peer is sent.
run_origin next_origin(raw_peer& peer) {
  const auto payload = peer.next_of_kind(static_cast<std::uint8_t>(wire::frame_kind::records));
  const auto batch = wire::parse_batch(payload);
  REQUIRE(batch);
  return batch->header.origin;
}

} // namespace

TEST_CASE("a report in the name of another changes nothing") {
  honest_and_liar net;
  auto here = net.honest.make_subscriber({"/t"});
  REQUIRE(here.wait_ready(patience));
  for (const auto incarnation : {std::uint64_t{1}, highest}) {
    const report_header about{net.honest.id(), incarnation, highest, true};
    CHECK(net.say(wire::make_report(neighbours_report{about, true, {raw_peer::id()}, {}})));
    CHECK(net.say(wire::make_report(filter_report{about, {"/lie"}, {}})));
  }
  net.settle();
  for (unsigned i = 0; i < 50; ++i)
    sent(net.relay.publish("/t", count{i}));
  for (unsigned i = 0; i < 50; ++i)
    CHECK(next_number(here) == i);
  auto later = net.honest.make_subscriber({"/u"});
  CHECK(net.relay.wait_for_subscribers("/u", 2, patience)); // the liar wants all
  CHECK(net.say(wire::make_report(
      filter_report{{net.honest.id(), ~std::uint64_t{0}, 1, true}, {}, {}}))); // no number at all
  CHECK(net.liar->wire.closed_by_peer());
}

TEST_CASE("a batch in the name of another makes none of that node's own seem late") {
  honest_and_liar net;
  auto here = net.relay.make_subscriber({"/t"});
  REQUIRE(net.honest.wait_for_subscribers("/t", 1, patience));
  sent(net.honest.publish("/t", count{0}));
  CHECK(next_number(here) == 0);
  CHECK(net.say(topics_for("/t", net.relay.id())));
  for (std::uint32_t stream = 0; stream < 64; ++stream)
    for (const std::uint32_t flag : {std::uint32_t{0}, one_topic_flag}) {
      const run_origin origin{net.honest.id(), stream | flag, highest - 1, 16};
      CHECK(net.say(batch_of_one(origin, 99)));
    }
  net.settle();
  for (unsigned i = 1; i <= 50; ++i)
    sent(net.honest.publish("/t", count{i}));
  unsigned next = 1;
  while (next <= 50) {
    const auto number = next_number(here);
    if (number == 99)
      continue; // the liar's own
    CHECK(number == next);
    ++next;
  }
  CHECK(here.counters().missed == 0);
}

TEST_CASE(
    "messages that a node sends back, since its route has ended, are still their publisher's") {
  for (const bool own : {true, false}) {
    CAPTURE(own);
    honest_and_liar net; // this time it does what an honest relay does
    const auto port = *net.relay.listen("tcp://127.0.0.1:0");
    auto& publisher = own ? net.relay : net.honest;
    const auto reports = [&](endpoint_id node, std::uint64_t number,
                             std::vector<endpoint_id> links) {
      return wire::make_report(
          neighbours_report{{node, 1, number, true}, true, std::move(links), {}});
    };
    const auto wants = wire::make_report(filter_report{{far_id(), 1, 1, true}, {"/far"}, {}});
    const auto one = raw_peer::id(), other = raw_peer::id('d');
    CHECK(net.say(reports(one, 2, {net.relay.id(), far_id()})));
    CHECK(net.say(reports(far_id(), 1, {one})));
    CHECK(net.say(wants));
    REQUIRE(publisher.wait_for_subscribers("/far/1", 2, patience)); // the far node, and the peer
    sent(publisher.publish("/far/1", count{1}));
    const auto origin = next_origin(*net.liar);
    CHECK(origin.endpoint == publisher.id());
    CHECK(net.say(reports(one, 3, {net.relay.id()}))); // its link is lost, and another way comes

    raw_peer second{net.relay, port, 2, 0, 'd'};
    CHECK(second.wire.send(reports(other, 2, {net.relay.id(), far_id()})));
    CHECK(second.wire.send(reports(far_id(), 2, {other})));
    CHECK(second.wire.send(wants));
    net.settle();
    CHECK(eventually([&] {
      return std::ranges::any_of(net.relay.nodes(), [&](const auto& each) {
        return each.id == far_id() && each.next_hop == other;
      });
    }));
    auto back = origin;
    back.hops_left = static_cast<std::uint8_t>(origin.hops_left - 1);
    CHECK(net.say(topics_for("/far/1", far_id())));
    CHECK(net.say(batch_of_one(back, 1)));
    const auto passed_on = next_origin(second);
    CHECK(passed_on.endpoint == origin.endpoint);
    CHECK(passed_on.stream == origin.stream);
    CHECK(passed_on.first_sequence == origin.first_sequence);
    // What was never on its way over that peer is not.
    CHECK(net.say(topics_for("/far/1", other)));
    CHECK(net.say(batch_of_one(back, 2)));
    CHECK(next_origin(second).endpoint == one);
  }
}

TEST_CASE("messages of a client may come over the relays that it has named, and over no others") {
  honest_and_liar net; // a relay, and another one that passes on what a client has published there
  raw_peer client{
      net.relay, *net.relay.listen("tcp://127.0.0.1:0"), 2, 0, 'd', raw_peer::role::client};
  auto here = net.relay.make_subscriber({"/t"});
  const auto other = raw_peer::id();
  const auto publish = [&](raw_peer& over, std::uint64_t sequence, std::uint8_t number) {
    const run_origin origin{raw_peer::id('d'), 1, sequence, 16};
    CHECK(over.wire.send(topics_for("/t", net.relay.id())));
    if (&over == &*net.liar)
      CHECK(over.wire.send(wire::make_entry({0, other})));
    CHECK(over.wire.send(batch_of_one(origin, number)));
  };
  const auto comes = [&](std::uint64_t number, bool from_client) {
    CAPTURE(number);
    const auto msg = here.get_for(patience);
    REQUIRE(msg);
    CHECK(get_data(*msg) == data{count{number}});
    CHECK((get_publishing_endpoint(*msg) == raw_peer::id('d')) == from_client);
  };
  publish(*net.liar, 1, 1);
  comes(1, false);
  CHECK(client.wire.send(wire::make_relays({net.relay.id(), other})));
  publish(client, 5, 5);
  comes(5, true);
  publish(*net.liar, 5, 5); // the client was served by both
  publish(*net.liar, 6, 6);
  comes(6, true);
  CHECK(net.relay.counters().duplicates == 1);
}

TEST_CASE("a node whose name was taken while it was away gets it back when it comes") {
  honest_and_liar net;
  const auto name = raw_peer::id('d');
  const report_header about{name, highest - 1, highest, true};
  const neighbours_report claim{{raw_peer::id(), 1, 2, true}, true, {net.relay.id(), name}, {}};
  CHECK(net.say(wire::make_report(claim)));
  CHECK(net.say(wire::make_report(neighbours_report{about, true, {raw_peer::id()}, {}})));
  CHECK(net.say(wire::make_report(filter_report{about, {"/t"}, {}})));
  CHECK(net.honest.wait_for_subscribers("/t", 2, patience)); // the liar wants all
  endpoint_options options;
  options.id = name;
  endpoint owner{options};
  auto here = owner.make_subscriber({"/owner"});
  join(owner, net.relay);
  CHECK(net.honest.wait_for_subscribers("/owner", 2, patience));
  sent(net.honest.publish("/owner", count{7}));
  CHECK(next_number(here) == 7);
}
