// SPDX-License-Identifier: BSD-3-Clause
#include "wire/native/batch.hpp"

#include "support/hex.hpp"
#include "support/native_frames.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace pubsub;
using namespace pubsub::test;

namespace {

// The worked example of docs/wire-format.md: two messages of one topic.
const std::string topics_hex = "80000024 02 00 0007 06 2f612f636f6e 01 "
                               "ffeeddccbbaa99887766554433221100 0000000000000003";
const auto reader_id = *endpoint_id::parse("ffeeddcc-bbaa-9988-7766-554433221100");
const auto origin = *endpoint_id::parse("00112233-4455-6677-8899-aabbccddeeff");
const std::string header_hex = "80000038 01 10 0007 00000002 00000005 0000000000000064"
                               "00112233445566778899aabbccddeeff";
const std::string records_hex = "00000009 00 020000000000000001 00000001 00 00";

buffer example_frame() {
  return from_hex(header_hex + records_hex);
}

} // namespace

TEST_CASE("a batch shows its header and its records") {
  const auto frame = example_frame();
  CHECK(wire::kind_of(payload_of(frame)) == wire::frame_kind::records);
  const auto batch = wire::parse_batch(payload_of(frame));
  REQUIRE(batch);
  CHECK(batch->header.table == 7);
  CHECK(batch->header.messages == 2);
  CHECK(batch->header.origin.hops_left == 16);
  CHECK(batch->header.origin.stream == 5);
  CHECK(batch->header.origin.first_sequence == 100);
  CHECK(to_string(batch->header.origin.endpoint) == "00112233-4455-6677-8899-aabbccddeeff");
  CHECK(batch->records.size() == from_hex(records_hex).size());
  CHECK(wire::check_records(batch->records, 2, 1) == wire::records_check::one_topic);
}

TEST_CASE("a batch header is written as it is read") {
  const auto frame = example_frame();
  const auto batch = wire::parse_batch(payload_of(frame));
  buffer again(wire::batch_header_bytes);
  wire::write_batch_header(again.data(), batch->header, batch->records.size());
  CHECK(again == from_hex(header_hex));
}

TEST_CASE("a batch that is too short, empty, or names no table is none") {
  const auto frame = example_frame();
  const auto whole = payload_of(frame);
  for (std::size_t size = 0; size < wire::batch_header_bytes - 4; ++size)
    CHECK_FALSE(wire::parse_batch(whole.first(size)));
  auto empty = frame;
  store_be(empty.data() + 8, std::uint32_t{0});
  CHECK_FALSE(wire::parse_batch(payload_of(empty)));
  auto crowded = frame;
  store_be(crowded.data() + 8, std::uint32_t{1} << 31);
  CHECK_FALSE(wire::parse_batch(payload_of(crowded)));
  auto homeless = frame;
  store_be(homeless.data() + 6, wire::max_tables);
  CHECK_FALSE(wire::parse_batch(payload_of(homeless)));
}

TEST_CASE("records that do not fit, are too many or too few, or have no topic, are malformed") {
  using wire::records_check;
  const auto records = from_hex(records_hex); // of 14 and 6 bytes
  for (std::size_t size = 0; size < records.size(); ++size)
    CHECK(wire::check_records(std::span{records}.first(size), 2, 1) == records_check::malformed);
  CHECK(wire::check_records(std::span{records}.first(14), 1, 1) == records_check::one_topic);
  CHECK(wire::check_records(records, 1, 1) == records_check::malformed);
  CHECK(wire::check_records(records, 3, 1) == records_check::malformed);
  CHECK(wire::check_records(records, 2, 0) == records_check::malformed);
  CHECK(wire::check_records(from_hex("ffffffff 00 00"), 1, 1) == records_check::malformed);
  CHECK(wire::check_records(from_hex("00000000 ff"), 1, 255) == records_check::malformed);
  CHECK(wire::check_records(from_hex("00000000 fe"), 1, 255) == records_check::one_topic);
}

TEST_CASE("records of one topic are told from those of several") {
  using wire::records_check;
  const auto same = from_hex("00000000 03 00000001 03 00 00000000 03");
  CHECK(wire::check_records(same, 3, 4) == records_check::one_topic);
  const auto other = from_hex("00000000 03 00000001 02 00 00000000 03");
  CHECK(wire::check_records(other, 3, 4) == records_check::several_topics);
}

TEST_CASE("topics are read as they were written") {
  const int links[2] = {}; // Destinations are in the order of the links' addresses.
  const auto& elsewhere = links[0];
  const auto& here = links[1];
  const auto nodes = std::make_shared<destinations_by_link>(destinations_by_link{
      {&elsewhere, {{origin, 1}}}, {&here, {{reader_id, 2}, {origin, 0x0102030405060708}}}});
  const auto table = topic_table::make(4);
  table->add("/a/con", std::make_shared<destinations_by_link>(
                           destinations_by_link{{&here, {{reader_id, 3}}}}));
  CHECK(wire::make_topics(7, *table, 0, 1, &here) == from_hex(topics_hex));
  table->add("");
  table->add(std::string(300, 'x'), nodes);
  const auto frame = wire::make_topics(1023, *table, 1, 3, &here);
  CHECK(wire::kind_of(payload_of(frame)) == wire::frame_kind::topics);
  const auto announced = wire::parse_topics(payload_of(frame));
  REQUIRE(announced);
  CHECK(announced->table == 1023);
  CHECK(announced->first == 1);
  REQUIRE(announced->topics.size() == 2);
  CHECK(announced->topics[0].text.empty());
  CHECK(announced->topics[0].destinations.empty());
  CHECK(announced->topics[1].text == std::string(300, 'x'));
  CHECK(announced->topics[1].destinations ==
        std::vector<destination>{{reader_id, 2}, {origin, 0x0102030405060708}});
}

TEST_CASE("malformed topics are none") {
  for (const auto* hex :
       {"", "02", "02 00", "02 00 00", "02 00 0400", "02 00 0000 05 6162", "02 00 0000 ff",
        "02 00 0000 00", "02 00 0000 00 01 0102", "02 ff 0000 00 00 00 00"})
    CHECK_FALSE(wire::parse_topics(from_hex(hex)));
  CHECK(wire::parse_topics(from_hex("02 ff 0000 00 00"))); // the last number there is
}

TEST_CASE("a topic that names a node twice is malformed: the node would get messages twice") {
  const std::string one = "000102030405060708090a0b0c0d0e0f 0000000000000001";
  const std::string other = "ff0102030405060708090a0b0c0d0e0f 0000000000000001";
  const std::string again = "000102030405060708090a0b0c0d0e0f 0000000000000002";
  CHECK(wire::parse_topics(from_hex("02 00 0000 00 02" + one + other)));
  CHECK_FALSE(wire::parse_topics(from_hex("02 00 0000 00 03" + one + other + again)));
}

TEST_CASE("no bytes make a reader leave its frame") {
  std::mt19937 engine{5};
  for (int round = 0; round < 20'000; ++round) {
    auto frame = round % 2 == 0 ? example_frame() : from_hex(topics_hex);
    for (int i = 0; i < 3; ++i)
      frame[4 + engine() % (frame.size() - 4)] = static_cast<std::byte>(engine());
    wire::parse_topics(payload_of(frame));
    const auto batch = wire::parse_batch(payload_of(frame));
    if (batch)
      wire::check_records(batch->records, batch->header.messages, 1);
  }
}
