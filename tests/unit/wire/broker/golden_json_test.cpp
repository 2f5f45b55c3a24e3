// Broker's own frames: read, and written again byte for byte.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/golden.hpp"
#include "support/handshake_party.hpp"
#include "support/ids.hpp"
#include "support/transcript.hpp"
#include "wire/broker/envelope.hpp"

#include <pubsub/data_view.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

using namespace pubsub;
using namespace pubsub::test;

namespace {

/// Handshake messages begin with their tag, the others with the sender's id, here 11.. or 22...
bool is_handshake(const golden_value& x) {
  return x.bytes.at(0) < std::byte{0x10};
}

buffer data_frame(const wire::envelope_view& x) {
  buffer out(wire::data_frame_bytes(x.topic.size(), x.payload.size()));
  auto* payload = wire::write_data_header(out.data(), x.sender, x.topic, x.payload.size());
  std::copy(x.payload.begin(), x.payload.end(), payload);
  std::memcpy(out.data() + wire::frame_header_bytes + 16, x.receiver.bytes().data(), 16);
  return out;
}

/// Writes what was read.
buffer write_again(const wire::envelope_view& x) {
  switch (x.type) {
  case wire::envelope_type::routing_update:
    return wire::make_routing_update(x.sender, x.receiver, *wire::parse_filter(x.payload));
  case wire::envelope_type::ping:
    return wire::make_ping(x.sender, x.receiver, x.payload);
  case wire::envelope_type::pong:
    return wire::make_pong(x.sender, x.receiver, x.payload);
  default:
    return data_frame(x);
  }
}

/// Every frame either side of a handshake between two of us can send, with Broker's test ids.
std::vector<buffer> frames_we_send() {
  std::vector<buffer> all;
  const filter filters[] = {{}, {"/a", "/b/c"}, {"zeek.test"}};
  for (const auto& announced : filters) {
    party low{tcp_role::connecting, filled_id(0x11), announced};
    party high{tcp_role::accepting, filled_id(0x22), announced};
    for (bool talking = true; talking;) {
      const auto said = low.take_sent();
      for (const auto& each : said)
        high.hear(each);
      const auto heard = high.take_sent();
      for (const auto& each : heard)
        low.hear(each);
      talking = !said.empty() || !heard.empty();
      all.insert(all.end(), said.begin(), said.end());
      all.insert(all.end(), heard.begin(), heard.end());
    }
    REQUIRE(low.machine.state() == outcome::peered);
  }
  party refusing{tcp_role::accepting, filled_id(0x11)};
  refusing.answer = admission::redundant;
  refusing.hear(all.at(2)); // the hello of 22
  all.insert(all.end(), refusing.sent.begin(), refusing.sent.end());
  return all;
}

} // namespace

TEST_CASE("every message of a peering reads as Broker means it and is written to the same bytes") {
  std::size_t seen = 0;
  for (const auto& vector : load_golden("wire_messages.json")) {
    if (is_handshake(vector))
      continue;
    const auto envelope = wire::parse_envelope(vector.bytes);
    CAPTURE(vector.name);
    REQUIRE(envelope);
    ++seen;
    CHECK(envelope->ttl == wire::default_ttl);
    CHECK((envelope->sender == filled_id(0x11) || envelope->sender == filled_id(0x22)));
    CHECK(write_again(*envelope) == wire::make_frame(vector.bytes));
    if (envelope->type == wire::envelope_type::data)
      CHECK(data_view::make(envelope->payload).has_value());
    else
      CHECK(envelope->topic == wire::control_topic);
  }
  CHECK(seen == 6);
}

TEST_CASE("every handshake frame Broker writes is one we write") {
  const auto ours = frames_we_send();
  std::size_t seen = 0;
  for (const auto& vector : load_golden("wire_messages.json")) {
    // Broker itself says something else on the wire than in this vector; see the transcripts.
    if (!is_handshake(vector) || vector.name.find("peer_incompatible") != std::string::npos)
      continue;
    CAPTURE(vector.name);
    ++seen;
    CHECK(std::ranges::find(ours, wire::make_frame(vector.bytes)) != ours.end());
  }
  CHECK(seen == 10);
}

TEST_CASE("forwarding replaces sender and hop limit and nothing else") {
  for (const auto& vector : load_golden("wire_messages.json")) {
    if (is_handshake(vector))
      continue;
    const auto before = wire::parse_envelope(vector.bytes);
    REQUIRE(before);
    auto frame = wire::make_frame(vector.bytes);
    wire::patch_for_forwarding(frame.data(), filled_id(0x77), 3);
    const auto after = wire::parse_envelope(std::span{frame}.subspan(4));
    REQUIRE(after);
    CHECK(after->sender == filled_id(0x77));
    CHECK(after->ttl == 3);
    CHECK(after->receiver == before->receiver);
    CHECK(after->type == before->type);
    CHECK(after->topic == before->topic);
    CHECK(std::ranges::equal(after->payload, before->payload));
  }
}
