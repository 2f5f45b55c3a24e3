
#include <doctest/doctest.h>

#include "support/hex.hpp"
#include "wire/broker/envelope.hpp"

using namespace pubsub;
using namespace pubsub::test;

namespace {

const wire::circle_probe example{*endpoint_id::parse("00112233-4455-6677-8899-aabbccddeeff"),
                                 *endpoint_id::parse("ffeeddcc-bbaa-9988-7766-554433221100")};

/// As docs/wire-format.md has it.
const std::string payload_hex = "6c69627075627375 00112233445566778899aabbccddeeff 0000000000000000"
                                " ffeeddccbbaa99887766554433221100 0000000000000000"
                                " 0a 6c69627075627375";

} // namespace

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
