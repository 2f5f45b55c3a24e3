// SPDX-License-Identifier: BSD-3-Clause
#include "data/binary.hpp"
#include "data/real_bits.hpp"
#include "support/hex.hpp"
#include "support/random_data.hpp"

#include <pubsub/binary.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace pubsub;
using pubsub::test::from_hex;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double smallest_normal = std::numeric_limits<double>::min();
constexpr double smallest_subnormal = std::numeric_limits<double>::denorm_min();

} // namespace

TEST_CASE("values have the bytes the specification shows") {
  CHECK(*encode_binary(true) == from_hex("0101"));
  CHECK(*encode_binary(count{42}) == from_hex("02 000000000000002a"));
  CHECK(*encode_binary("ab") == from_hex("05 02 61 62"));
  CHECK(*encode_binary(*address::parse("192.168.9.8")) ==
        from_hex("06 00000000000000000000 ffff c0a80908"));
  CHECK(*encode_binary(*subnet::parse("192.168.9.0/24")) ==
        from_hex("07 00000000000000000000 ffff c0a80900 78"));
  CHECK(*encode_binary(port{8080, transport::tcp}) == from_hex("08 1f90 01"));
  CHECK(*encode_binary(vector{}) == from_hex("0e00"));
  CHECK(*encode_binary(vector{false, count{1}}) == from_hex("0e 02 0100 02 0000000000000001"));
}

TEST_CASE("infinities swap their signs on the wire and NaN is all ones") {
  CHECK(encode_real(infinity) == 0xfff0'0000'0000'0000);
  CHECK(encode_real(-infinity) == 0x7ff0'0000'0000'0000);
  CHECK(encode_real(std::nan("")) == UINT64_MAX);
  CHECK(encode_real(-std::nan("1")) == UINT64_MAX);
  CHECK(decode_real(0xfff0'0000'0000'0000) == infinity);
  CHECK(decode_real(0x7ff0'0000'0000'0000) == -infinity);
  CHECK(std::isnan(decode_real(UINT64_MAX)));
  CHECK(decode_real(0x7ff8'0000'0000'0000) == infinity);
  CHECK(decode_real(0xfff8'0000'0000'0000) == -infinity);
}

TEST_CASE("zeros keep their sign and subnormals become zeros") {
  CHECK(encode_real(0.0) == 0);
  CHECK(encode_real(-0.0) == 0x8000'0000'0000'0000);
  CHECK(std::signbit(decode_real(0x8000'0000'0000'0000)));
  CHECK(encode_real(smallest_subnormal) == 0);
  CHECK(encode_real(-smallest_normal / 2) == 0x8000'0000'0000'0000);
  CHECK(encode_real(smallest_normal) == 0x0010'0000'0000'0000);
  CHECK(encode_real(std::numeric_limits<double>::max()) == 0x7fef'ffff'ffff'ffff);
}

TEST_CASE("an exponent of zero with a mantissa decodes as Broker computes it") {
  CHECK(decode_real(0x0008'0000'0000'0000) == std::ldexp(1.5, -1023));
  CHECK(decode_real(0x8008'0000'0000'0000) == -std::ldexp(1.5, -1023));
  CHECK(decode_real(1) == std::ldexp(1.0, -1023));
}

TEST_CASE("random values come back from their bytes and the size is foretold") {
  test::random_data random{7};
  for (int i = 0; i < 3000; ++i) {
    const auto x = random.value();
    const auto bytes = *encode_binary(x);
    CHECK(bytes.size() == encoded_size(x));
    const auto y = decode_binary(bytes);
    REQUIRE(y);
    CHECK(*y == x);
    CHECK(*encode_binary(*y) == bytes);
  }
}

TEST_CASE("encoding appends to what is there") {
  auto out = from_hex("ff");
  CHECK(encode_binary(count{1}, out));
  CHECK(encode_binary(data{}, out));
  CHECK(out == from_hex("ff 02 0000000000000001 00"));
}

TEST_CASE("encode writes exactly into reserved memory") {
  const data x = vector{"some text", set{count{1}, "b"}, table{{"k", enum_value{"E"}}}};
  test::buffer out(encoded_size(x) + 1, std::byte{0xee});
  CHECK(encode(x, out.data()) == out.data() + out.size() - 1);
  CHECK(out.back() == std::byte{0xee});
  out.pop_back();
  CHECK(out == *encode_binary(x));
}
