// What a node does with the messages of its peers, by the two readers.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/fake_node.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;

namespace {

using texts = std::vector<std::string>;

endpoint_counters counters_of(const fake_node& node) {
  return node.counts.sum();
}

} // namespace

// -- version 1 -----------------------------------------------------------------------------------

TEST_CASE("a frame of a Broker peer goes to the subscribers of its topic, and to other Broker "
          "peers in our name") {
  fake_node node;
  const auto queue = node.subscribe({"/a"});
  fake_peer from{node, id_of(50), 1, {"/a"}};
  fake_peer to{node, id_of(51), 1, {"/a"}};
  from.take_frames();
  to.take_frames();
  from.send_frame("/a", 7);
  from.send_frame("/b", 8);
  CHECK(texts_in(*queue) == texts{"/a=7"});
  const auto frames = to.take_frames();
  REQUIRE(frames.size() == 1);
  const auto x = wire::parse_envelope(std::span{frames[0]}.subspan(4));
  REQUIRE(x);
  CHECK(x->sender == node.self);
  CHECK(x->ttl == 15);
  CHECK(from.take_messages() == 0);
  CHECK(counters_of(node).received == 2);
  CHECK(counters_of(node).forwarded == 1);
}

TEST_CASE("a frame without hops left is delivered here and goes no further") {
  fake_node node;
  const auto queue = node.subscribe({"/a"});
  fake_peer from{node, id_of(50), 1, {}};
  fake_peer to{node, id_of(51), 1, {"/a"}};
  from.send_frame("/a", 7, 1);
  CHECK(texts_in(*queue) == texts{"/a=7"});
  CHECK(to.take_messages() == 0);
  CHECK(counters_of(node).ttl_expired == 1);
}

TEST_CASE("frames that claim to come from us, and frames too short for an envelope, are counted "
          "and dropped") {
  fake_node node;
  const auto queue = node.subscribe({""});
  fake_peer from{node, id_of(50), 1, {}};
  from.send(wire::make_ping(node.self, node.self, {}));
  from.send(from_hex("00000002 0102"));
  from.send(from_hex("00000000"));
  CHECK(counters_of(node).malformed_frames == 2);
  CHECK(from.is_peered());
  CHECK(texts_in(*queue).empty());
}

TEST_CASE("frames of a Broker peer enter the network as records of a stream of ours") {
  fake_node node;
  fake_peer from{node, id_of(50), 1, {}};
  fake_peer to{node, id_of(1), 2, {"/a"}};
  to.take_frames();
  from.send_frame("/a", 7);
  from.send_frame("/a", 8);
  const auto batches = to.take_of_kind(wire::frame_kind::records);
  REQUIRE(batches.size() == 2);
  const auto first = wire::parse_batch(batches[0]);
  const auto second = wire::parse_batch(batches[1]);
  CHECK(first->header.origin.endpoint == node.self);
  CHECK(first->header.origin.hops_left == 15);
  CHECK(second->header.origin.stream == first->header.origin.stream);
  CHECK(second->header.origin.first_sequence == first->header.origin.first_sequence + 1);
}

TEST_CASE("a frame for one endpoint goes to that endpoint alone") {
  fake_node node;
  const auto queue = node.subscribe({"/a"});
  fake_peer from{node, id_of(50), 1, {}};
  fake_peer to{node, id_of(51), 1, {"/a"}};
  from.send_frame("/a", 1, 16, id_of(51));
  CHECK(texts_in(*queue).empty());
  CHECK(to.take_messages() == 1);
  from.send_frame("/a", 2, 16, node.self);
  CHECK(texts_in(*queue) == texts{"/a=2"});
  from.send_frame("/a", 3, 16, id_of(99)); // is not known here
  from.send_frame("/b", 4, 16, node.self); // without a subscriber here
  CHECK(to.take_messages() == 0);
  CHECK(counters_of(node).unreachable == 1);
  CHECK(counters_of(node).no_subscriber == 1);
}

TEST_CASE("a frame of a Broker peer for one node of the network becomes a record for it alone") {
  fake_node node;
  fake_peer from{node, id_of(50), 1, {}};
  fake_peer to{node, id_of(1), 2, {}};
  fake_peer other{node, id_of(2), 2, {"/a"}};
  to.take_frames();
  other.take_frames();
  from.send_frame("/a", 7, 16, id_of(1));
  CHECK(to.take_messages() == 1);
  CHECK(other.take_messages() == 0);
  from.send_frame("/a", 8); // on the same topic, for all
  CHECK(to.take_messages() == 0);
  CHECK(other.take_messages() == 1);
}

TEST_CASE("what a Broker peer sends is not taken where another node is its designated relay") {
  fake_node node;
  const auto queue = node.subscribe({"/a"});
  fake_peer from{node, id_of(50), 1, {}};
  fake_peer relay{node, id_of(1), 2, {}}; // the smaller id
  relay.send(wire::make_report(
      neighbours_report{{id_of(1), 1, 2, true}, true, {node.self, id_of(50)}, {}}));
  from.send_frame("/a", 7);
  CHECK(texts_in(*queue).empty());
  CHECK(counters_of(node).duplicates == 1);
  relay.carrier->end({});
  from.send_frame("/a", 8);
  CHECK(texts_in(*queue) == texts{"/a=8"});
}

TEST_CASE("while a queue that makes producers wait is full, a Broker peer is not read") {
  fake_node node;
  const auto queue = node.subscribe({"/a"}, {overflow_policy::block, 2, 1 << 20});
  fake_peer from{node, id_of(50), 1, {}};
  for (int i = 0; i < 6; ++i)
    from.send_frame("/a", i);
  CHECK(from.carrier->paused());
  texts all;
  for (int round = 0; round < 6; ++round) {
    for (const auto& each : texts_in(*queue))
      all.push_back(each);
    node.loop->run();
  }
  CHECK(all == texts{"/a=0", "/a=1", "/a=2", "/a=3", "/a=4", "/a=5"});
  CHECK_FALSE(from.carrier->paused());
}

// -- version 2 -----------------------------------------------------------------------------------

TEST_CASE("a Broker peer that replaces a large filter without end is not read for a while") {
  fake_node node;
  fake_peer from{node, id_of(50), 1, {}};
  std::vector<std::string> prefixes;
  for (std::size_t n = 0; n < flow_tuning::own_items_per_second / 10; ++n)
    prefixes.push_back(std::to_string(10'000 + n)); // none begins as another
  from.send(wire::make_routing_update(id_of(50), node.self, filter{prefixes}));
  CHECK(node.routes.count("10000") == 1);
  CHECK(from.carrier->paused());
  from.send(wire::make_routing_update(id_of(50), node.self, filter{"/b"}));
  CHECK(node.routes.count("/b") == 0); // it waits
  node.loop->advance(std::chrono::milliseconds{600});
  CHECK_FALSE(from.carrier->paused());
  CHECK(node.routes.count("/b") == 1);
}

TEST_CASE("a batch is delivered once, however often it comes") {
  fake_node node;
  const auto queue = node.subscribe({"/a"});
  fake_peer from{node, id_of(1), 2, {}};
  from.announce_topics({"/a"}, {node.self});
  for (const std::uint64_t sequence : {1, 2, 1, 2, 3})
    from.send_record(static_cast<std::int64_t>(sequence), sequence, id_of(9));
  CHECK(texts_in(*queue) == texts{"/a=1", "/a=2", "/a=3"});
  CHECK(counters_of(node).duplicates == 2);
  CHECK(counters_of(node).received == 5);
}

TEST_CASE("a batch goes on untouched, with one hop less, to the nodes it is for") {
  fake_node node;
  const auto queue = node.subscribe({"/a"});
  fake_peer from{node, id_of(1), 2, {}};
  fake_peer to{node, id_of(2), 2, {"/a"}};
  fake_peer other{node, id_of(3), 2, {"/a"}};
  from.announce(id_of(9), {}, {id_of(1)});
  to.take_frames();
  from.announce_topics({"/a"}, {id_of(2)});
  from.send_record(7, 5, id_of(9), 14);
  const auto batches = to.take_of_kind(wire::frame_kind::records);
  REQUIRE(batches.size() == 1);
  const auto origin = wire::parse_batch(batches[0])->header.origin;
  CHECK(origin.endpoint == id_of(9));
  CHECK(origin.first_sequence == 5);
  CHECK(origin.hops_left == 13);
  CHECK(other.take_messages() == 0);
  CHECK(texts_in(*queue).empty()); // it was for others
}

TEST_CASE("a batch that comes home is passed on and not delivered, and one without hops left goes "
          "no further") {
  fake_node node;
  const auto queue = node.subscribe({"/a"});
  fake_peer from{node, id_of(1), 2, {}};
  fake_peer to{node, id_of(2), 2, {"/a"}};
  from.announce_topics({"/a"}, {node.self, id_of(2)});
  from.send_record(7, 5, node.self);
  CHECK(texts_in(*queue).empty());
  CHECK(to.take_messages() == 1);
  from.send_record(8, 1, id_of(9), 1);
  CHECK(texts_in(*queue) == texts{"/a=8"});
  CHECK(to.take_messages() == 0);
  CHECK(counters_of(node).ttl_expired == 1);
}

TEST_CASE("nobody makes the messages of a node seem to have come that is reached over others") {
  fake_node node;
  const auto queue = node.subscribe({"/a"});
  fake_peer liar{node, id_of(1), 2, {}};
  fake_peer source{node, id_of(2), 2, {}};
  fake_peer to{node, id_of(3), 2, {"/a"}};
  source.announce(id_of(9), {}, {id_of(2)});
  to.take_frames();
  for (auto* each : {&liar, &source})
    each->announce_topics({"/a"}, {node.self, id_of(3)});
  for (const auto& claimed : {id_of(2), id_of(9), node.self})
    liar.send_record(0, max_number, claimed);
  source.send_record(1, 0, id_of(2));
  source.send_record(2, 0, id_of(9));
  CHECK(texts_in(*queue) == texts{"/a=0", "/a=0", "/a=1", "/a=2"});
  std::vector<endpoint_id> origins;
  for (const auto& each : to.take_of_kind(wire::frame_kind::records))
    origins.push_back(wire::parse_batch(each)->header.origin.endpoint);
  CHECK(origins == std::vector{id_of(1), id_of(1), id_of(1), id_of(2), id_of(9)});
}

TEST_CASE("messages that are under way when their node moves stay those of the node") {
  fake_node node;
  const auto queue = node.subscribe({"/a"});
  fake_peer before{node, id_of(1), 2, {}};
  fake_peer after{node, id_of(2), 2, {}};
  before.announce(id_of(9), {}, {id_of(1)});
  before.announce_topics({"/a"}, {node.self});
  before.send_record(1, 0, id_of(9));
  before.send(wire::make_report(neighbours_report{{id_of(1), 1, 3, false}, true, {}, {id_of(9)}}));
  after.announce(id_of(9), {}, {id_of(2)}, 2);
  after.announce_topics({"/a"}, {node.self});
  after.send_record(2, 1, id_of(9));
  before.send_record(2, 1, id_of(9)); // has come over the new route
  before.send_record(3, 2, id_of(9));
  CHECK(texts_in(*queue) == texts{"/a=1", "/a=2", "/a=3"});
  CHECK(counters_of(node).duplicates == 1);
}

TEST_CASE("the first messages from a relay that has just said that it retires stay their node's") {
  fake_node node;
  fake_peer before{node, id_of(1), 2, {}};
  fake_peer retiring{node, id_of(2), 2, {}};
  fake_peer to{node, id_of(3), 2, {"/a"}};
  for (auto* each : {&before, &retiring}) {
    each->announce(id_of(9), {}, {id_of(1), id_of(2)});
    each->announce_topics({"/a"}, {id_of(3)});
  }
  to.take_frames();
  before.send_record(1, 0, id_of(9));
  retiring.send(wire::make_report(neighbours_report{{id_of(2), 1, 3, false}, false, {}, {}}));
  retiring.send_record(2, 1, id_of(9));
  std::vector<endpoint_id> origins;
  for (const auto& each : to.take_of_kind(wire::frame_kind::records))
    origins.push_back(wire::parse_batch(each)->header.origin.endpoint);
  CHECK(origins == std::vector{id_of(9), id_of(9)});
}

TEST_CASE("a peer that breaks the rules of version 2 loses its link") {
  const auto reason_after = [](const auto& misbehave) {
    fake_node node;
    fake_peer from{node, id_of(1), 2, {}};
    from.announce_topics({"/a"}, {node.self});
    CHECK_FALSE(from.carrier->closed());
    misbehave(from);
    CHECK(from.carrier->closed());
    CHECK_FALSE(from.is_peered());
    return from.carrier->reason().code();
  };
  CHECK(reason_after([](fake_peer& x) { x.send_record(1, 1, id_of(9), 16, 5); }) ==
        errc::invalid_message); // a table that was not announced
  CHECK(reason_after([](fake_peer& x) { x.announce_topics({std::string(70'000, 'x')}, {}); }) ==
        errc::invalid_message);
  CHECK(reason_after([](fake_peer& x) { x.send(from_hex("80000001 63")); }) ==
        errc::invalid_message);
  CHECK(reason_after([](fake_peer& x) {
          auto batch = fake_peer::make_batch(1, 1, id_of(9));
          batch[wire::batch_header_bytes + 4] = std::byte{1}; // the second topic of one
          x.send(batch);
        }) == errc::invalid_message);
  CHECK(reason_after([](fake_peer& x) { x.send_frame("/a", 1); }) == errc::invalid_message);
}

TEST_CASE("a record that is addressed to us goes to our subscribers only, whatever they told") {
  fake_node node;
  const auto queue = node.subscribe({"/a"});
  fake_peer broker{node, id_of(50), 1, {"/a"}};
  fake_peer from{node, id_of(1), 2, {}};
  broker.take_frames();
  from.announce_topics({"/a"}, {node.self});
  from.send_record(7, 1, id_of(1));
  CHECK(texts_in(*queue) == texts{"/a=7"});
  CHECK(broker.take_messages() == 0);
}

TEST_CASE("what cannot reach a destination, and what nobody wants any more, is counted by reason") {
  fake_node node;
  fake_peer from{node, id_of(1), 2, {}};
  fake_peer to{node, id_of(2), 2, {"/a"}};
  from.announce_topics({"/a"}, {node.self, id_of(2), id_of(77), id_of(78)});
  from.send_record(1, 1, id_of(1));
  from.send_record(2, 2, id_of(1));
  CHECK(to.take_messages() == 2);
  CHECK(counters_of(node).unreachable == 4); // two nodes, two messages
  CHECK(counters_of(node).no_subscriber == 2);
  from.send_record(2, 2, id_of(1)); // again: nothing was for us that we have not had
  CHECK(counters_of(node).no_subscriber == 2);
}

TEST_CASE("topics count in the memory of their peer as long as a queue holds them") {
  fake_node node;
  const auto queue = node.subscribe({"/a"}, {overflow_policy::drop_oldest, 10'000, 1 << 20});
  fake_peer from{node, id_of(1), 2, {}};
  const std::string longest = "/a" + std::string(60'000, 'x');
  std::size_t bytes = 0;
  for (std::uint64_t n = 0; !from.carrier->closed() && n < 10'000; ++n) {
    from.announce_topics({longest}, {node.self}); // in place of the table before
    from.send_record(1, n, id_of(1));
    bytes += longest.size();
  }
  CHECK(from.carrier->reason() == errc::limit_exceeded);
  CHECK(bytes < 2 * flow_tuning::max_announced_bytes);
  texts_in(*queue);

  fake_peer again{node, id_of(2), 2, {}}; // while the queue is read nothing is held
  for (std::uint64_t n = 0; n < 10'000; ++n) {
    again.announce_topics({longest}, {node.self});
    again.send_record(1, n, id_of(2));
    texts_in(*queue);
  }
  CHECK_FALSE(again.carrier->closed());
}

TEST_CASE("a peer that reports more than nodes can well take in is not read for a while") {
  fake_node node;
  fake_peer one{node, id_of(1), 2, {}};
  fake_peer other{node, id_of(2), 2, {}};
  std::uint64_t number = 1;
  const auto report = [&](std::size_t items) {
    std::vector<std::string> prefixes;
    for (std::size_t n = 0; n < items; ++n)
      prefixes.push_back(std::to_string(number) + "/" + std::to_string(n));
    one.send(wire::make_report(filter_report{{id_of(1), 1, ++number, true}, prefixes, {}}));
  };
  const auto known = [&](std::string_view prefix) { return node.routes.count(prefix) == 1; };
  report(flow_tuning::own_items_per_second / 2);
  CHECK(one.carrier->paused());
  report(1);
  CHECK(known("1/0"));
  CHECK_FALSE(known("2/0")); // it waits
  other.send(wire::make_report(filter_report{{id_of(2), 1, 2, true}, {"/other"}, {}}));
  CHECK(known("/other")); // others do not
  node.loop->advance(std::chrono::milliseconds{600});
  CHECK_FALSE(one.carrier->paused());
  CHECK(known("2/0"));
}

TEST_CASE("a peer that passes on what another reports without end is read all the same") {
  fake_node node;
  fake_peer relay{node, id_of(1), 2, {}};
  relay.announce(id_of(3), {}, {id_of(1)});
  const std::size_t at_a_time = flow_tuning::own_items_per_second / 10;
  for (std::uint64_t number = 2; number < 30; ++number) {
    std::vector<std::string> prefixes;
    for (std::size_t n = 0; n < at_a_time; ++n)
      prefixes.push_back(std::to_string(n));
    relay.send(wire::make_report(filter_report{{id_of(3), 1, number, true}, prefixes, {}}));
    node.loop->advance(std::chrono::milliseconds{100}); // as fast as one peer may
    CHECK_FALSE(relay.carrier->paused());
  }
}

TEST_CASE("a peer whose topics take much memory gets no credit until queues have let go of some") {
  fake_node node;
  const auto queue = node.subscribe({"/a"}, {overflow_policy::block, 1'000'000, 1 << 30});
  fake_peer from{node, id_of(1), 2, {}};
  const std::string longest = "/a" + std::string(60'000, 'x');
  const auto many = [&](std::size_t up_to) {
    for (std::size_t bytes = 0; bytes < up_to; bytes += longest.size()) {
      from.announce_topics({longest}, {node.self});
      from.send(fake_peer::make_batch(1, bytes, id_of(1)));
    }
  };
  many(flow_tuning::enough_announced_bytes);
  CHECK(from.carrier->gate().paused());
  CHECK_FALSE(from.carrier->closed());
  node.loop->advance(2 * flow_tuning::time_between_looks);
  CHECK(from.carrier->gate().paused());
  texts_in(*queue);
  node.loop->advance(2 * flow_tuning::time_between_looks);
  CHECK_FALSE(from.carrier->gate().paused());
}

TEST_CASE("a peer that sends flushes and does not read the answers loses its link") {
  fake_node node;
  fake_peer from{node, id_of(1), 2, {}};
  const auto flush = wire::make_flush({id_of(1), 5, 3, std::vector(50, id_of(77))});
  std::size_t bytes = 0;
  for (; !from.carrier->closed() && bytes < 4 * link_tuning::max_unread_answer_bytes;
       bytes += flush.size())
    from.send(flush);
  CHECK(from.carrier->reason() == errc::limit_exceeded);
  CHECK(bytes <= 2 * link_tuning::max_unread_answer_bytes);
}

TEST_CASE("a new peer is read little by little while a queue that it fills is full") {
  fake_node node;
  const auto queue = node.subscribe({"/a"}, {overflow_policy::block, 1, 1 << 20});
  fake_peer known{node, id_of(1), 2, {}};
  known.announce_topics({"/a"}, {node.self});
  known.send_record(1, 1, id_of(1));
  CHECK(texts_in(*queue) == texts{"/a=1"});
  known.take_frames(); // credit is among them
  for (int n = 2; n < 10; ++n)
    known.send_record(n, static_cast<std::uint64_t>(n), id_of(1));
  CHECK_FALSE(known.carrier->paused()); // only its credit is kept back
  fake_peer fresh{node, id_of(2), 2, {}};
  fresh.announce_topics({"/a"}, {node.self});
  for (int n = 10; n < 20; ++n)
    fresh.send_record(n, static_cast<std::uint64_t>(n), id_of(2));
  CHECK(fresh.carrier->paused());
  node.loop->advance(3 * link_tuning::rest_of_new_peers);
  CHECK(texts_in(*queue).size() == 8 + 1 + 3); // one at a time
  node.loop->run();
  CHECK_FALSE(fresh.carrier->paused()); // there was room
  CHECK(texts_in(*queue).size() == 10 - 1 - 3);
}

TEST_CASE("a peer that sends far more than it has credit for loses its link") {
  fake_node node;
  const auto queue = node.subscribe({"/a"}, {overflow_policy::block, 2, 1 << 20});
  fake_peer from{node, id_of(1), 2, {}};
  from.announce_topics({"/a"}, {node.self});
  from.send_record(1, 1, id_of(9));
  from.send_record(2, 2, id_of(9));
  CHECK_FALSE(from.carrier->paused()); // it always reads
  const std::size_t payload = 1 << 20;
  std::vector<std::byte> batch(wire::batch_header_bytes + record_header_bytes + payload);
  for (std::uint64_t n = 3; n < 20 && !from.carrier->closed(); ++n) {
    wire::write_batch_header(batch.data(), {0, 1, {id_of(9), 7, n, 16}},
                             record_header_bytes + payload);
    write_record_header(batch.data() + wire::batch_header_bytes, payload, 0);
    from.send(batch);
  }
  CHECK(from.carrier->reason() == errc::limit_exceeded);
}

TEST_CASE("credit is given back for what was taken, and none while a queue is full") {
  fake_node node;
  const auto queue = node.subscribe({"/a"}, {overflow_policy::block, 2, 1 << 30});
  fake_peer from{node, id_of(1), 2, {}};
  from.announce_topics({"/a"}, {node.self});
  from.take_frames();
  const std::size_t payload = 200'000;
  std::vector<std::byte> batch(wire::batch_header_bytes + record_header_bytes + payload);
  for (std::uint64_t n = 1; n <= 2; ++n) {
    wire::write_batch_header(batch.data(), {0, 1, {id_of(9), 7, n, 16}},
                             record_header_bytes + payload);
    write_record_header(batch.data() + wire::batch_header_bytes, payload, 0);
    from.send(batch);
    CHECK(from.take_of_kind(wire::frame_kind::credit).size() == (n == 1 ? 1 : 0));
  }
  std::vector<data_message> all;
  queue->pull(all, 10, node.loop->now());
  CHECK(from.take_of_kind(wire::frame_kind::credit).size() == 1); // the loop has run
}

namespace {

/// A node between a sender and two neighbours, over either of which a far node can be reached.
struct changing_route : fake_node {
  changing_route() {
    first.announce(id_of(9), {"/far"}, {id_of(2)});
    sender.announce_topics({"/far"}, {id_of(9)});
    sender.send_record(1, 1, id_of(1));
    CHECK(first.take_messages() == 1);
  }
  /// From now on the far node is reached over the second neighbour.
  void change() {
    second.announce(id_of(9), {"/far"}, {id_of(2), id_of(3)}, 2);
    first.send(wire::make_report(neighbours_report{{id_of(2), 1, 3, true}, true, {self}, {}}));
  }
  std::optional<flush_request> flush_to_first() {
    const auto frames = first.take_of_kind(wire::frame_kind::flush);
    return frames.empty() ? std::nullopt : wire::parse_flush(frames[0]);
  }
  void answer(const flush_request& request) {
    first.send(wire::make_flushed({request.from, request.number, wire::max_hops, request.to}));
  }

  fake_peer sender{*this, id_of(1), 2, {}};
  fake_peer first{*this, id_of(2), 2, {}};
  fake_peer second{*this, id_of(3), 2, {}};
};

} // namespace

TEST_CASE("messages whose route has changed wait until those before them have arrived") {
  changing_route f;
  f.change();
  f.sender.send_record(2, 2, id_of(1));
  CHECK(f.second.take_messages() == 0);
  const auto request = f.flush_to_first();
  REQUIRE(request);
  CHECK(request->to == std::vector{id_of(9)});
  f.answer(*request);
  CHECK(f.second.take_messages() == 1);
  f.sender.send_record(3, 3, id_of(1));
  CHECK(f.second.take_messages() == 1);
}

TEST_CASE("a node that answers no flush holds up nothing that is for others") {
  changing_route f;
  f.sender.announce_topics({"/other"}, {id_of(3)}, 1);
  f.change();
  f.second.take_frames();
  f.sender.send(wire::make_flush({id_of(1), 5, 0, {id_of(3)}})); // for another node: goes on
  CHECK(f.second.take_of_kind(wire::frame_kind::flush).size() == 1);
  f.sender.send_record(2, 2, id_of(1)); // waits
  f.sender.send_record(1, 1, id_of(8), 16, 1);
  CHECK(f.second.take_messages() == 1);
  f.sender.send_record(3, 3, id_of(1), 16, 1); // for another node, but of the stream that waits
  f.sender.send(wire::make_flush({id_of(1), 6, 0, {id_of(3)}}));
  CHECK(f.second.take_frames().empty()); // what waits is not overtaken
  f.answer(*f.flush_to_first());
  CHECK(f.second.take_messages() == 2);
}

TEST_CASE("a message outside of a batch closes the link, also while others wait for their route") {
  changing_route f;
  f.change();
  f.sender.send_record(2, 2, id_of(1));
  f.sender.send_frame("/far", 3, 16, id_of(9));
  CHECK(f.sender.carrier->reason() == errc::invalid_message);
  CHECK(f.second.take_messages() == 1); // what came before goes on
}

TEST_CASE("messages that wait for their route go on when their own link closes") {
  changing_route f;
  f.change();
  f.sender.send_record(2, 2, id_of(1));
  CHECK(f.second.take_messages() == 0);
  f.sender.carrier->end({});
  CHECK(f.second.take_messages() == 1);
}

TEST_CASE(
    "a flush follows messages on their route, and is answered for nodes that are not reached") {
  fake_node node;
  fake_peer from{node, id_of(1), 2, {}};
  fake_peer to{node, id_of(2), 2, {}};
  from.take_frames();
  to.take_frames();
  from.send(wire::make_flush({id_of(1), 5, 3, {node.self, id_of(2), id_of(77)}}));
  const auto answers = from.take_of_kind(wire::frame_kind::flushed);
  REQUIRE(answers.size() == 1);
  CHECK(wire::parse_flushed(answers[0])->from == std::vector{node.self, id_of(77)});
  const auto onward = to.take_of_kind(wire::frame_kind::flush);
  REQUIRE(onward.size() == 1);
  CHECK(wire::parse_flush(onward[0])->hops == 4);
  CHECK(wire::parse_flush(onward[0])->to == std::vector{id_of(2)});
}
