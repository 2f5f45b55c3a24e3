// SPDX-License-Identifier: BSD-3-Clause
#include "wire/broker/envelope.hpp"

#include "base/byte_writer.hpp"
#include "support/hex.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <random>
#include <string>

using namespace pubsub;
using namespace pubsub::test;

namespace {

// A frame as Broker writes it: topic "foobar", payload the string "hello world".
const buffer sample = from_hex("5746d8ee36445bd29f54d5a44c26c2a1 c0551e8d392b509ba47bae46f75befac"
                               "01 0010 0006 666f6f626172 050b68656c6c6f20776f726c64");

const wire::circle_probe example{*endpoint_id::parse("00112233-4455-6677-8899-aabbccddeeff"),
                                 *endpoint_id::parse("ffeeddcc-bbaa-9988-7766-554433221100")};

/// As docs/wire-format.md has it.
const std::string payload_hex = "6c69627075627375 00112233445566778899aabbccddeeff 0000000000000000"
                                " ffeeddccbbaa99887766554433221100 0000000000000000"
                                " 0a 6c69627075627375";

} // namespace

TEST_CASE("an envelope shows its fields without copying") {
  const auto x = wire::parse_envelope(sample);
  REQUIRE(x);
  CHECK(to_string(x->sender) == "5746d8ee-3644-5bd2-9f54-d5a44c26c2a1");
  CHECK(to_string(x->receiver) == "c0551e8d-392b-509b-a47b-ae46f75befac");
  CHECK(x->type == wire::envelope_type::data);
  CHECK(x->ttl == 16);
  CHECK(x->topic == "foobar");
  CHECK(static_cast<const void*>(x->topic.data()) == sample.data() + wire::envelope_header_bytes);
  CHECK(x->payload.size() == 13);
  CHECK(x->payload.data() + 13 == sample.data() + sample.size());
}

TEST_CASE("an envelope that ends inside its header or topic is none") {
  for (std::size_t size = 0; size < wire::envelope_header_bytes + 6; ++size)
    CHECK_FALSE(wire::parse_envelope(std::span{sample}.first(size)));
  CHECK(wire::parse_envelope(std::span{sample}.first(wire::envelope_header_bytes + 6)));
}

TEST_CASE("only types 1 to 5 are messages") {
  auto bytes = sample;
  for (int type = 0; type < 256; ++type) {
    bytes[32] = static_cast<std::byte>(type);
    CHECK(wire::parse_envelope(bytes).has_value() == (type >= 1 && type <= 5));
  }
}

TEST_CASE("the longest topic fits and none reaches beyond the frame") {
  const std::string topic(65'535, 't');
  buffer frame(wire::data_frame_bytes(topic.size(), 1));
  *wire::write_data_header(frame.data(), {}, topic, 1) = std::byte{0};
  const auto x = wire::parse_envelope(std::span{frame}.subspan(4));
  REQUIRE(x);
  CHECK(x->topic == topic);
  CHECK(x->payload.size() == 1);
  auto bytes = sample;
  bytes[35] = bytes[36] = std::byte{0xff};
  CHECK_FALSE(wire::parse_envelope(bytes));
}

TEST_CASE("a filter is written as count and strings, and read back") {
  const filter all[] = {{}, {""}, {"/a", "b"}, {std::string(300, 'x'), "/y"}};
  for (const auto& x : all) {
    buffer bytes = byte_writer{}.add(x).take();
    CHECK(*wire::parse_filter(bytes) == x);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      CHECK_FALSE(wire::parse_filter(std::span{bytes}.first(size)));
    bytes.push_back(std::byte{0});
    CHECK_FALSE(wire::parse_filter(bytes));
  }
  CHECK(byte_writer{}.add(filter{"/a", "b"}).take() == from_hex("02 02 2f61 01 62"));
}

TEST_CASE("a filter whose entries cover one another is read as the set it means") {
  CHECK(*wire::parse_filter(from_hex("03 02 2f61 01 2f 02 2f62")) == filter{"/"});
}

namespace {

/// So many prefixes of seven bytes, in falling order.
buffer falling_filter(std::uint32_t count) {
  byte_writer out;
  out.add_count(count);
  for (auto i = count; i > 0; --i)
    out.add(std::to_string(1'000'000 + i));
  return out.take();
}

} // namespace

TEST_CASE("a large filter in falling order is read quickly") {
  const auto bytes = falling_filter(wire::max_prefixes);
  const auto begin = std::chrono::steady_clock::now();
  const auto x = wire::parse_filter(bytes);
  REQUIRE(x);
  CHECK(x->size() == wire::max_prefixes);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{2}); // not minutes
}

TEST_CASE("a filter of too many prefixes is refused by its count") {
  CHECK(wire::parse_filter(falling_filter(wire::max_prefixes + 1)).error() == errc::limit_exceeded);
}

TEST_CASE("a filter that announces more than it brings costs nothing") {
  CHECK_FALSE(wire::parse_filter(from_hex("ffffffff0f")));
  CHECK_FALSE(wire::parse_filter(from_hex("01 ffffffff0f 61")));
  CHECK_FALSE(wire::parse_filter(from_hex("808080808001")));
}

TEST_CASE("any bytes parse to nothing or to something that lies within them") {
  std::mt19937 engine{5};
  for (int i = 0; i < 20'000; ++i) {
    auto bytes = sample;
    bytes.resize(engine() % (sample.size() + 1));
    for (auto n = engine() % 4; n > 0 && !bytes.empty(); --n)
      bytes[engine() % bytes.size()] = static_cast<std::byte>(engine());
    if (const auto x = wire::parse_envelope(bytes))
      CHECK(wire::envelope_header_bytes + x->topic.size() + x->payload.size() == bytes.size());
  }
}

// -- probes ---------------------------------------------------------------------------------------

TEST_CASE("a probe is a command on its topic, and read as it was written") {
  const auto frame = wire::make_circle_probe(example, "/t");
  const auto x = wire::parse_envelope(std::span{frame}.subspan(wire::frame_header_bytes));
  REQUIRE(x);
  CHECK(x->type == wire::envelope_type::command);
  CHECK(x->sender == example.from);
  CHECK(x->receiver.is_nil());
  CHECK(x->ttl == wire::default_ttl);
  CHECK(x->topic == "/t");
  CHECK(buffer{x->payload.begin(), x->payload.end()} == from_hex(payload_hex));
  CHECK(wire::parse_circle_probe(x->payload) == example);
}

TEST_CASE("commands of data stores are no probes") {
  const auto good = from_hex(payload_hex);
  CHECK(wire::parse_circle_probe(good));
  CHECK_FALSE(wire::parse_circle_probe({}));
  CHECK_FALSE(wire::parse_circle_probe(std::span{good}.first(good.size() - 1)));
  for (const std::size_t at : {std::size_t{0}, std::size_t{7}, std::size_t{56}, good.size() - 1}) {
    auto bad = good;
    bad[at] ^= std::byte{1};
    CHECK_FALSE(wire::parse_circle_probe(bad));
  }
}
