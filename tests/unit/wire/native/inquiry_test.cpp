// SPDX-License-Identifier: BSD-3-Clause
#include "wire/native/inquiry.hpp"

#include "support/hex.hpp"
#include "support/native_frames.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace pubsub;
using namespace pubsub::test;

namespace {

wire::inquiry trace_of(std::string topic, std::vector<destination> to) {
  wire::inquiry x{.number = 9, .subject = wire::inquiry_subject::trace, .hops_left = 3};
  x.topic = std::move(topic);
  x.destinations = std::move(to);
  return x;
}

trace_hop some_hop() {
  return {.node = a,
          .name = "sensor-1",
          .from = b,
          .outcome = trace_outcome::no_answer,
          .round_trip = std::chrono::microseconds{1234},
          .queued = 5,
          .subscribers = 6,
          .waiting = 7,
          .remarks = {"one", "two"}};
}

} // namespace

TEST_CASE("inquiries and replies have the bytes of the worked example") {
  wire::inquiry asked{.number = 7, .node = a};
  asked.time_left = std::chrono::milliseconds{10'000};
  asked.max_bytes = 64'000;
  CHECK(wire::make_inquiry(asked) ==
        from_hex("8000001f 10 00000007 01 10 00002710 0000fa00" + a_hex));
  CHECK(wire::make_reply({.number = 7, .body = "{}"}) ==
        from_hex("8000000c 11 00000007 00 00000000 7b7d"));
}

TEST_CASE("an inquiry that is made is parsed") {
  for (const auto subject : {wire::inquiry_subject::status, wire::inquiry_subject::network}) {
    wire::inquiry x{.number = 0xfffffffe, .subject = subject, .hops_left = 2, .node = b};
    x.time_left = std::chrono::milliseconds{0xffffffff};
    x.max_bytes = 3;
    const auto read = wire::parse_inquiry(payload_of(wire::make_inquiry(x)));
    REQUIRE(read);
    CHECK(read->number == x.number);
    CHECK(read->subject == subject);
    CHECK(read->hops_left == 2);
    CHECK(read->time_left == x.time_left);
    CHECK(read->max_bytes == 3);
    CHECK(read->node == b);
  }
  const auto traced = trace_of("zeek/\xc3\xa4", {{a, 4, {}}, {b, destination::addressed, a}});
  const auto read = wire::parse_inquiry(payload_of(wire::make_inquiry(traced)));
  REQUIRE(read);
  CHECK(read->topic == traced.topic);
  CHECK(read->destinations == traced.destinations);
}

TEST_CASE("a malformed inquiry is nothing") {
  const std::string head = "10 00000007 01 10 00002710 0000fa00";
  const std::string of_trace = "10 00000007 03 10 00002710 0000fa00" + std::string(32, '0');
  for (const auto& bad : {
           std::string{}, std::string{"01 00000007"},
           head + a_hex.substr(2),                        // half an id
           head + a_hex + "00",                           // more than a status needs
           head + std::string(32, '0'),                   // about no node
           "10 00000007 00 10 00002710 0000fa00" + a_hex, // no subject
           "10 00000007 04 10 00002710 0000fa00" + a_hex, // an unknown one
           "10 00000007 01 00 00002710 0000fa00" + a_hex, // no hop left
           "10 00000007 01 11 00002710 0000fa00" + a_hex, // more than there may be
           of_trace,                                      // no topic
           of_trace + "01 61",                            // no destinations
           of_trace + "01 61 ff 01",                      // more than there are bytes
           of_trace + "01 61 02" + a_hex + "0000000000000001" + a_hex + "0000000000000002",
           "10 00000007 03 10 00002710 0000fa00" + a_hex + "01 61 00", // a trace about a node
       }) {
    CAPTURE(bad);
    CHECK_FALSE(wire::parse_inquiry(from_hex(bad)));
  }
  CHECK(wire::parse_inquiry(from_hex(head + a_hex)));
  CHECK(wire::parse_inquiry(from_hex(of_trace + "01 61 00")));
}

TEST_CASE("a reply that is made is parsed, and a malformed one is nothing") {
  wire::reply x{.number = 3, .outcome = wire::reply_outcome::not_allowed};
  x.spent = std::chrono::microseconds{77};
  x.body = "no right";
  const auto read = wire::parse_reply(payload_of(wire::make_reply(x)));
  REQUIRE(read);
  CHECK(read->number == 3);
  CHECK(read->outcome == x.outcome);
  CHECK(read->spent == x.spent);
  CHECK(read->body == x.body);
  for (const auto* bad : {
           "11 000000",               // half a number
           "11 00000007 00 000000",   // half a time
           "11 00000007 07 00000000", // an unknown outcome
       }) {
    CAPTURE(bad);
    CHECK_FALSE(wire::parse_reply(from_hex(bad)));
  }
  const wire::reply fits{.number = 1, .body = std::string(wire::max_reply_bytes, 'x')};
  CHECK(wire::parse_reply(payload_of(wire::make_reply(fits))));
  const wire::reply too_long{.number = 1, .body = fits.body + "x"};
  CHECK_FALSE(wire::parse_reply(payload_of(wire::make_reply(too_long))));
  wire::reply refused{.number = 1, .outcome = wire::reply_outcome::not_told};
  refused.body.assign(1000, 'x'); // a reason is cut
  CHECK(wire::parse_reply(payload_of(wire::make_reply(refused)))->body.size() ==
        wire::max_reason_bytes);
}

TEST_CASE("hops are written and read, as many as fit") {
  const std::vector<trace_hop> all(3, some_hop());
  const auto body = wire::write_hops(all, 10'000);
  const auto read = wire::read_hops(body);
  REQUIRE(read);
  REQUIRE(read->size() == 3);
  for (const auto& each : *read) {
    CHECK(each.node == a);
    CHECK(each.name == "sensor-1");
    CHECK(each.from == b);
    CHECK(each.outcome == trace_outcome::no_answer);
    CHECK(each.round_trip == std::chrono::microseconds{1234});
    CHECK(each.queued == 5);
    CHECK(each.subscribers == 6);
    CHECK(each.waiting == 7);
    CHECK(each.remarks == some_hop().remarks);
  }
  const auto fewer = wire::read_hops(wire::write_hops(all, body.size() - 1));
  REQUIRE(fewer);
  CHECK(fewer->size() == 2);
  CHECK(wire::read_hops("")->empty());
  for (std::size_t size = 1; size < body.size() / 3; ++size)
    CHECK_FALSE(wire::read_hops(body.substr(0, size)));
}

TEST_CASE("what a peer says reaches no terminal that would act upon it") {
  auto hop = some_hop();
  hop.name = "\x1b[2J";
  hop.remarks = {"a\nb", "\xc2\x9b"};
  const auto read = wire::read_hops(wire::write_hops({&hop, 1}, 1'000));
  REQUIRE(read);
  CHECK(read->at(0).name == "?[2J");
  CHECK(read->at(0).remarks == std::vector<std::string>{"a?b", "??"});
  const wire::reply refused{.outcome = wire::reply_outcome::not_told, .body = "\x1b]0;"};
  CHECK(wire::parse_reply(payload_of(wire::make_reply(refused)))->body == "?]0;");
}

TEST_CASE("no bytes make the readers of inquiries leave their frame") {
  std::minstd_rand engine{1};
  const auto asked = wire::make_inquiry(trace_of("/t", {{a, 1, {}}, {b, 2, {}}}));
  const auto hops = wire::write_hops(std::vector(2, some_hop()), 10'000);
  for (int i = 0; i < 20'000; ++i) {
    auto frame = asked;
    auto body = hops;
    for (int n = 0; n < 3; ++n) {
      frame[4 + engine() % (frame.size() - 4)] = static_cast<std::byte>(engine());
      body[engine() % body.size()] = static_cast<char>(engine());
    }
    const auto payload = payload_of(frame).first(frame.size() - 4 - engine() % 8);
    wire::parse_inquiry(payload);
    wire::parse_reply(payload);
    wire::read_hops(body);
  }
}
