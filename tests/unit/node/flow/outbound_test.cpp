#include "node/flow/outbound.hpp"

#include "support/fake_node.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;

namespace {
using texts = std::vector<std::string>;
}

TEST_CASE("a message on a topic without subscribers is counted, and costs nothing else") {
  fake_node node;
  const auto queue = node.subscribe({"/a"});
  CHECK(node.publish("/b", 1) == publish_result::unwanted);
  CHECK(node.out.counters().unwanted == 1);
  CHECK(node.out.counters().published == 1);
  CHECK(texts_in(*queue).empty());
}

TEST_CASE("a message goes to queues and to links of both versions, in order") {
  fake_node node;
  const auto queue = node.subscribe({"/a"});
  fake_peer broker{node, id_of(50), 1, {"/a"}};
  fake_peer peer{node, id_of(1), 2, {"/a"}};
  for (int i = 0; i < 3; ++i)
    CHECK(node.publish("/a", i) == publish_result::taken);
  CHECK(texts_in(*queue) == texts{"/a=0", "/a=1", "/a=2"});
  CHECK(broker.take_messages() == 3);
  CHECK(peer.take_messages() == 3);
  CHECK(node.counts.sum().links.sent == 6);
}

TEST_CASE("reserved topics, and messages longer than a frame may be, are refused and counted") {
  endpoint_options options;
  options.max_frame_bytes = 1000;
  fake_node node{id_of(100), options};
  const auto queue = node.subscribe({""});
  CHECK(node.publish("<$>/x", 1) == publish_result::refused);
  CHECK(node.out.publish("/a", data{std::string(1000, 'x')}) == publish_result::refused);
  CHECK(node.out.counters().refused_topic == 1);
  CHECK(node.out.counters().refused_size == 1);
  CHECK(texts_in(*queue).empty());
}

TEST_CASE("a queue that makes producers wait and is full takes nothing, and neither do the links") {
  fake_node node;
  const auto queue = node.subscribe({"/a"}, {overflow_policy::block, 1, 1 << 20});
  fake_peer peer{node, id_of(1), 2, {"/a"}};
  CHECK(node.publish("/a", 1) == publish_result::taken);
  CHECK(node.publish("/a", 2) == publish_result::would_block);
  CHECK(node.out.counters().would_block == 1);
  CHECK(peer.take_messages() == 1);
  CHECK(texts_in(*queue) == texts{"/a=1"});
  CHECK(node.publish("/a", 3) == publish_result::taken);
}

TEST_CASE("a message for one node goes to it whatever it has announced, and to no other") {
  fake_node node;
  fake_peer one{node, id_of(1), 2, {}};
  fake_peer two{node, id_of(2), 2, {"/a"}};
  CHECK(node.out.publish_to(id_of(1), "/a", data{std::int64_t{1}}) == publish_result::taken);
  CHECK(one.take_messages() == 1);
  CHECK(two.take_messages() == 0);
  CHECK(node.out.publish_to(id_of(9), "/a", data{std::int64_t{1}}) == publish_result::unwanted);
}

TEST_CASE("a publisher whose route has changed waits until what took the old one has arrived") {
  fake_node node;
  fake_peer first{node, id_of(2), 2, {}};
  fake_peer second{node, id_of(3), 2, {}};
  first.announce(id_of(9), {"/far"}, {id_of(2)});
  CHECK(node.publish("/far", 1) == publish_result::taken);
  CHECK(first.take_messages() == 1);
  second.announce(id_of(9), {"/far"}, {id_of(2), id_of(3)}, 2);
  first.send(wire::make_report(neighbours_report{{id_of(2), 1, 3, true}, true, {node.self}, {}}));
  CHECK(node.publish("/far", 2) == publish_result::would_block);
  const auto flush = first.take_of_kind(wire::frame_kind::flush);
  REQUIRE(flush.size() == 1);
  const auto request = wire::parse_flush(flush[0]);
  first.send(wire::make_flushed({request->from, request->number, wire::max_hops, request->to}));
  CHECK(node.publish("/far", 3) == publish_result::taken);
  CHECK(second.take_messages() == 1);
}
