// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/mailbox/speakers.hpp"

#include "data/binary.hpp"
#include "message/message_access.hpp"
#include "support/fake_node.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::pattern;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

/// A message that has come from this endpoint.
struct network {
  data_message message_of(const endpoint_id& origin) {
    fake_peer peer{node, origin, 2, {}};
    peer.announce_topics({"/a"}, {node.self});
    peer.send_record(1, 0, origin);
    peer.carrier->end({});
    std::vector<data_message> all;
    REQUIRE(queue->pull(all, 1, node.loop->now()) == 1);
    return all[0];
  }

  fake_node node;
  std::shared_ptr<message_queue> queue = node.subscribe({"/a"});
};

const speakers::time start{};

} // namespace

TEST_CASE("a part speaks from the endpoint that it was first heard from, and from no other") {
  network net;
  const auto honest = net.message_of(id_of(1));
  const auto forged = net.message_of(id_of(2));
  const auto of_broker_peer = make_data_message("/a", data{1});
  speakers known;
  CHECK(known.is_own_word(id_of(50), honest, start));
  CHECK_FALSE(known.is_own_word(id_of(50), forged, start));
  CHECK_FALSE(known.is_own_word(id_of(50), of_broker_peer, start));
  CHECK(known.is_own_word(id_of(50), honest, start + 1h));
  CHECK(known.is_own_word(id_of(51), forged, start)); // a part of its own
  CHECK(known.is_own_word(id_of(52), of_broker_peer, start));
  CHECK(known.is_own_word(id_of(52), of_broker_peer, start));
  CHECK(known.is_own_word(id_of(52), honest, start)); // now it is known
  CHECK_FALSE(known.is_own_word(id_of(52), of_broker_peer, start));
  CHECK_FALSE(known.is_own_word(id_of(52), forged, start));
}

TEST_CASE("one endpoint has only so many parts, and takes no room from others") {
  network net;
  const auto greedy = net.message_of(id_of(1));
  const auto other = net.message_of(id_of(2));
  speakers known;
  std::size_t heard = 0;
  for (std::size_t n = 0; n < 2 * pattern::tuning::most_parts_of_endpoint; ++n)
    heard += known.is_own_word(endpoint_id::random(), greedy, start) ? 1 : 0;
  CHECK(heard == pattern::tuning::most_parts_of_endpoint);
  CHECK(known.is_own_word(id_of(50), other, start));
  const auto later = start + pattern::tuning::memory_of_partners + 1s; // those are silent
  CHECK(known.is_own_word(endpoint_id::random(), greedy, later));
}

TEST_CASE("who has published a message is known from its record, but of Broker peers nobody is") {
  network net;
  CHECK(get_publishing_endpoint(net.message_of(id_of(1))) == id_of(1));
  CHECK_FALSE(get_publishing_endpoint(make_data_message("/a", data{1})));
  fake_peer broker{net.node, id_of(60), 1, {}};
  fake_peer node{net.node, id_of(3), 2, {"/b"}};
  node.take_frames();
  broker.send_frame("/b", 1);
  const auto entered = node.take_of_kind(wire::frame_kind::records);
  REQUIRE(entered.size() == 1);
  CHECK(has_entered(wire::parse_batch(entered[0])->header.origin.stream));
}
