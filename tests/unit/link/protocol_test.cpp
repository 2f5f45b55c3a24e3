// SPDX-License-Identifier: BSD-3-Clause
#include "link/broker_protocol.hpp"
#include "link/native_protocol.hpp"

#include "support/bounded_queues.hpp"
#include "support/hex.hpp"
#include "wire/broker/envelope.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;

namespace {

const endpoint_id us{[] {
  endpoint_id::bytes_type bytes;
  bytes.fill(0x22);
  return bytes;
}()};

struct protocol_under_test {
  explicit protocol_under_test(std::uint8_t version) {
    if (version == 1)
      writer = std::make_unique<broker_protocol>(us, this);
    else
      writer = std::make_unique<native_protocol>(this);
  }

  /// A run of records of `payloads`, one for each, on topics taken in turn.
  run_slice records(const topic_table& topics, const std::vector<buffer>& payloads) {
    record_source source;
    source.topics = &topics;
    source.origin = {us, 9, 1000, 5};
    std::size_t total = 0;
    for (const auto& each : payloads)
      total += record_header_bytes + each.size();
    auto* pos = memory.reserve(total);
    source.owner = memory.current();
    source.first = pos;
    for (std::size_t i = 0; i < payloads.size(); ++i) {
      pos = write_record_header(pos, static_cast<std::uint32_t>(payloads[i].size()),
                                static_cast<std::uint8_t>(i % topics.size()));
      pos = std::ranges::copy(payloads[i], pos).out;
    }
    memory.commit(total);
    const run_position size{static_cast<std::uint32_t>(payloads.size()), total};
    return {message_run::of_records(source, size), {}, size};
  }
  buffer encode(const run_slice& slice) {
    gathered_write out;
    const auto size = writer->encode(slice, out);
    buffer bytes;
    for (const auto& each : out.buffers) {
      const auto* data = static_cast<const std::byte*>(each.data());
      bytes.insert(bytes.end(), data, data + each.size());
    }
    CHECK(size == bytes.size());
    return bytes;
  }

  slab memory;
  std::unique_ptr<link_protocol> writer;
};

buffer operator+(buffer x, const buffer& y) {
  x.insert(x.end(), y.begin(), y.end());
  return x;
}

} // namespace

TEST_CASE("version 2: topics are told once, records go out as they lie") {
  protocol_under_test f{2};
  const auto topics = topic_table::make(3);
  topics->add("/a");
  const auto slice = f.records(*topics, {from_hex("00"), from_hex("0101")});
  const auto records = from_hex("00000001 00 00 00000002 00 0101");
  auto header = [&](const char* table, const char* count, const char* sequence) {
    return from_hex(std::string{"80000031 01 05 "} + table + count + "00000009" + sequence +
                    "22222222222222222222222222222222");
  };
  const auto batch = header("0000", "00000002", "00000000000003e8") + records;
  CHECK(f.encode(slice) == from_hex("80000008 02 00 0000 02 2f61 00") + batch);
  CHECK(f.encode(slice) == batch);
  topics->add("/b");
  CHECK(f.encode(slice) == from_hex("80000008 02 01 0000 02 2f62 00") + batch);
  const auto other = topic_table::make(1);
  other->add("/a");
  const auto second = header("0001", "00000002", "00000000000003e8") + records;
  CHECK(f.encode(f.records(*other, {from_hex("00"), from_hex("0101")})) ==
        from_hex("80000008 02 00 0001 02 2f61 00") + second);
}

TEST_CASE("version 2: a slice from the middle of a run says where it begins") {
  protocol_under_test f{2};
  const auto topics = topic_table::make(1);
  topics->add("/a");
  auto slice = f.records(*topics, {from_hex("00"), from_hex("0101")});
  f.encode(slice);
  slice.from = {1, 6};
  slice.size = {1, 7};
  const auto bytes = f.encode(slice);
  const auto batch = wire::parse_batch(std::span{bytes}.subspan(4));
  REQUIRE(batch);
  CHECK(batch->header.messages == 1);
  CHECK(batch->header.origin.first_sequence == 1001);
  CHECK(std::ranges::equal(batch->records, from_hex("00000002 00 0101")));
}

TEST_CASE("version 2: with more tables than numbers, the one not used for longest gives way") {
  protocol_under_test f{2};
  std::vector<intrusive_ptr<topic_table>> tables;
  std::vector<run_slice> slices;
  for (int i = 0; i <= wire::max_tables; ++i) {
    tables.push_back(topic_table::make(1));
    tables.back()->add("/" + std::to_string(i));
    slices.push_back(f.records(*tables.back(), {from_hex("00")}));
  }
  auto number_in = [&](const run_slice& slice, bool announced) {
    const auto bytes = f.encode(slice);
    CHECK((bytes[4] == std::byte{2}) == announced);
    return load_be<std::uint16_t>(bytes.data() + 6);
  };
  for (std::uint16_t i = 0; i < wire::max_tables; ++i)
    CHECK(number_in(slices[i], true) == i);
  CHECK(number_in(slices[0], false) == 0); // used again: now 1 is the oldest
  CHECK(number_in(slices[wire::max_tables], true) == 1);
  CHECK(number_in(slices[0], false) == 0);
  CHECK(number_in(slices[1], true) == 2);
}

TEST_CASE("version 1: every record becomes a frame of its own") {
  protocol_under_test f{1};
  const auto topics = topic_table::make(2);
  topics->add("/a");
  topics->add("/bc");
  const std::vector<buffer> payloads = {from_hex("00"), from_hex("0101"), buffer(70'000)};
  const auto bytes = f.encode(f.records(*topics, payloads));
  auto rest = std::span{bytes};
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    const auto size = frame_bytes(rest.data());
    const auto x = wire::parse_envelope(rest.first(size).subspan(4));
    REQUIRE(x);
    CHECK(x->sender == us);
    CHECK(x->receiver.is_nil());
    CHECK(x->type == wire::envelope_type::data);
    CHECK(x->ttl == 5);
    CHECK(x->topic == topics->at(i % 2));
    CHECK(std::ranges::equal(x->payload, payloads[i]));
    rest = rest.subspan(size);
  }
  CHECK(rest.empty());
}

TEST_CASE("frames and control frames go out as they are, in both versions") {
  for (const std::uint8_t version : {1, 2}) {
    protocol_under_test f{version};
    const auto frame = from_hex("00000003 010203");
    auto copy = chunk::make(frame.size());
    std::ranges::copy(frame, copy->data());
    for (const std::uint32_t messages : {0, 1}) {
      const run_position size{messages, frame.size()};
      CHECK(f.encode({message_run::of_frames(copy.get(), copy->data(), size), {}, size}) == frame);
    }
  }
}
