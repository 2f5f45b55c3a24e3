// SPDX-License-Identifier: BSD-3-Clause
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

TEST_CASE("encoded messages that go the way of the one before see all that has changed since") {
  endpoint_options options;
  options.max_frame_bytes = 1000;
  fake_node node{id_of(100), options};
  const auto first = node.subscribe({"/a"});
  const auto publish = [&](std::string_view topic, std::int64_t value) {
    return node.out.publish(topic, bytes_of(value), node.loop->now());
  };
  for (int i = 0; i < 3; ++i)
    CHECK(publish("/a", i) == publish_result::taken);
  const auto second = node.subscribe({"/a"});
  const auto joined = node.last_subscriber;
  for (int i = 3; i < 6; ++i)
    CHECK(publish("/a", i) == publish_result::taken);
  node.routes.remove_subscriber(joined);
  CHECK(publish("/a", 6) == publish_result::taken);
  CHECK(publish("/a/b", 7) == publish_result::taken);
  CHECK(publish("/b", 8) == publish_result::unwanted);
  CHECK(publish("/a", 9) == publish_result::taken);
  CHECK(publish("/a", 10) == publish_result::taken);
  CHECK(node.out.publish("/a", buffer(1000)) == publish_result::refused);
  CHECK(publish("<$>", 11) == publish_result::refused);
  CHECK(node.out.publish("/a", data{std::int64_t{12}}) == publish_result::taken);
  CHECK(publish("/a", 13) == publish_result::taken);
  CHECK(publish("/a", 14) == publish_result::taken);
  CHECK(texts_in(*first) == texts{"/a=0", "/a=1", "/a=2", "/a=3", "/a=4", "/a=5", "/a=6", "/a/b=7",
                                  "/a=9", "/a=10", "/a=12", "/a=13", "/a=14"});
  CHECK(texts_in(*second) == texts{"/a=3", "/a=4", "/a=5"});
  CHECK(node.out.counters().published == 14);
  CHECK(node.out.counters().unwanted == 1);
  CHECK(node.out.counters().refused_size == 1);
  CHECK(node.out.counters().refused_topic == 1);
}

TEST_CASE("encoded messages that go the way of the one before stop where a queue is full") {
  fake_node node;
  const auto queue = node.subscribe({"/a"}, {overflow_policy::block, 3, 1 << 20});
  for (int i = 0; i < 5; ++i)
    CHECK(node.out.publish("/a", bytes_of(i), node.loop->now()) ==
          (i < 3 ? publish_result::taken : publish_result::would_block));
  CHECK(texts_in(*queue) == texts{"/a=0", "/a=1", "/a=2"});
  CHECK(node.out.publish("/a", bytes_of(5), node.loop->now()) == publish_result::taken);
  queue->discard();
  CHECK(node.out.publish("/a", bytes_of(6), node.loop->now()) == publish_result::taken);
  CHECK(queue->counters().offered == 5);
  CHECK(queue->counters().dropped_closed == 2);
}

TEST_CASE("messages for one node, between others that go one way, are no part of their stream") {
  fake_node node;
  fake_peer one{node, id_of(1), 2, {"/a"}};
  fake_peer two{node, id_of(2), 2, {"/a"}};
  two.take_frames();
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j)
      CHECK(node.out.publish("/a", bytes_of(i), node.loop->now()) == publish_result::taken);
    CHECK(node.out.publish_to(id_of(1), "/a", data{std::int64_t{i}}) == publish_result::taken);
  }
  CHECK(one.take_messages() == 9);
  std::uint64_t next = 0;
  for (const auto& each : two.take_of_kind(wire::frame_kind::records)) {
    const auto header = wire::parse_batch(each)->header;
    CHECK(header.origin.first_sequence == next);
    next += header.messages;
  }
  CHECK(next == 6);
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

TEST_CASE("a message for one Broker peer goes in a frame that names it, behind those for all") {
  fake_node node;
  fake_peer one{node, id_of(50), 1, {"/a"}};
  fake_peer two{node, id_of(51), 1, {"/a"}};
  one.take_frames();
  two.take_frames();
  CHECK(node.publish("/a", 1) == publish_result::taken);
  CHECK(node.out.publish_to(id_of(50), "/a", data{std::int64_t{2}}) == publish_result::taken);
  CHECK(node.publish("/a", 3) == publish_result::taken);
  std::vector<endpoint_id> receivers;
  for (const auto& each : one.take_frames())
    receivers.push_back(wire::parse_envelope(std::span{each}.subspan(4))->receiver);
  CHECK(receivers == std::vector{endpoint_id{}, id_of(50), endpoint_id{}});
  CHECK(two.take_messages() == 2);
}

TEST_CASE("a full outbox holds back messages for one node as it does all others") {
  endpoint_options options;
  options.link_queue = {overflow_policy::block, 100, 1 << 30};
  fake_node node{id_of(100), options};
  fake_peer one{node, id_of(1), 2, {"/a"}};
  std::uint64_t taken = 0;
  for (int i = 0; i < 1000; ++i)
    taken += node.out.publish_to(id_of(1), "/a", data{std::int64_t{1}}, node.loop->now()) ==
                     publish_result::taken
                 ? 1
                 : 0;
  CHECK(taken == 100);
  CHECK(node.out.counters().would_block == 900);
}

TEST_CASE("messages for one node leave no gap in what all others get") {
  fake_node node;
  fake_peer one{node, id_of(1), 2, {"/a"}};
  fake_peer two{node, id_of(2), 2, {"/a"}};
  two.take_frames();
  for (int i = 0; i < 3; ++i) {
    CHECK(node.publish("/a", i) == publish_result::taken);
    CHECK(node.out.publish_to(id_of(1), "/a", data{std::int64_t{i}}) == publish_result::taken);
  }
  std::vector<std::uint64_t> numbers;
  for (const auto& each : two.take_of_kind(wire::frame_kind::records)) {
    const auto header = wire::parse_batch(each)->header;
    CHECK(has_one_topic(header.origin.stream));
    numbers.push_back(header.origin.first_sequence);
  }
  CHECK(numbers == std::vector<std::uint64_t>{0, 1, 2});
}

TEST_CASE("a publisher whose route has changed waits until what took the old one has arrived") {
  fake_node node;
  fake_peer first{node, id_of(2), 2, {}};
  fake_peer second{node, id_of(3), 2, {"/near"}};
  first.announce(id_of(9), {"/far"}, {id_of(2)});
  CHECK(node.publish("/far", 1) == publish_result::taken);
  CHECK(first.take_messages() == 1);
  second.announce(id_of(9), {"/far"}, {id_of(2), id_of(3)}, 2);
  first.send(wire::make_report(neighbours_report{{id_of(2), 1, 3, true}, true, {node.self}, {}}));
  CHECK(node.publish("/far", 2) == publish_result::would_block);
  CHECK(node.publish("/near", 2) == publish_result::taken); // for another node
  CHECK(node.out.publish_to(id_of(3), "/far", data{std::int64_t{2}}) == publish_result::taken);
  CHECK(second.take_messages() == 2);
  const auto flush = first.take_of_kind(wire::frame_kind::flush);
  REQUIRE(flush.size() == 1);
  const auto request = wire::parse_flush(flush[0]);
  first.send(wire::make_flushed({request->from, request->number, wire::max_hops, request->to}));
  CHECK(node.publish("/far", 3) == publish_result::taken);
  CHECK(second.take_messages() == 1);
}
