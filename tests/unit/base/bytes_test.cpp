// SPDX-License-Identifier: BSD-3-Clause
#include "base/byte_reader.hpp"
#include "base/bytes.hpp"

#include <doctest/doctest.h>

#include <array>
#include <initializer_list>
#include <vector>

using namespace pubsub;

namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (const auto x : values)
    out.push_back(static_cast<std::byte>(x));
  return out;
}

varbyte_result load(const std::vector<std::byte>& from, std::uint32_t& out, std::size_t& used) {
  const auto* pos = from.data();
  const auto result = load_varbyte(pos, from.data() + from.size(), out);
  used = static_cast<std::size_t>(pos - from.data());
  return result;
}

} // namespace

TEST_CASE("integers are stored with the most significant byte first") {
  std::array<std::byte, 8> out{};
  CHECK(store_be(out.data(), std::uint32_t{0x01020304}) == out.data() + 4);
  CHECK(out[0] == std::byte{1});
  CHECK(out[3] == std::byte{4});
  CHECK(load_be<std::uint16_t>(out.data() + 1) == 0x0203);
  store_be(out.data(), std::int64_t{-2});
  CHECK(load_be<std::int64_t>(out.data()) == -2);
  CHECK(load_be<std::uint8_t>(out.data() + 7) == 0xfe);
}

TEST_CASE("a varbyte comes back as written and has the size foretold") {
  for (const std::uint32_t x : {0U, 1U, 127U, 128U, 300U, 16383U, 16384U, 2097151U, 2097152U,
                                268435455U, 268435456U, UINT32_MAX}) {
    std::array<std::byte, max_varbyte_bytes> out{};
    const auto* end = store_varbyte(out.data(), x);
    CHECK(static_cast<std::size_t>(end - out.data()) == varbyte_size(x));
    const std::byte* pos = out.data();
    std::uint32_t y = 0;
    CHECK(load_varbyte(pos, end, y) == varbyte_result::ok);
    CHECK(y == x);
    CHECK(pos == end);
    pos = out.data();
    CHECK(load_valid_varbyte(pos) == x);
    CHECK(pos == end);
  }
}

TEST_CASE("a varbyte may be longer than needed but not longer than five bytes or 32 bits") {
  std::uint32_t x = 9;
  std::size_t used = 0;
  CHECK(load(bytes({0x80, 0x00}), x, used) == varbyte_result::ok);
  CHECK(x == 0);
  CHECK(used == 2);
  CHECK(load(bytes({0x80, 0x80, 0x80, 0x80, 0x00}), x, used) == varbyte_result::ok);
  CHECK(load(bytes({0x80, 0x80, 0x80, 0x80, 0x80, 0x00}), x, used) == varbyte_result::overflow);
  CHECK(load(bytes({0xff, 0xff, 0xff, 0xff, 0x0f}), x, used) == varbyte_result::ok);
  CHECK(x == UINT32_MAX);
  CHECK(load(bytes({0xff, 0xff, 0xff, 0xff, 0x10}), x, used) == varbyte_result::overflow);
  CHECK(load(bytes({0x80, 0x80}), x, used) == varbyte_result::truncated);
  CHECK(load({}, x, used) == varbyte_result::truncated);
}

TEST_CASE("a byte reader hands out fields in order and refuses to leave its bytes") {
  const auto input = bytes({0x12, 0x34, 2, 'o', 'k', 0xff});
  byte_reader in{input};
  std::uint16_t number = 0;
  std::string_view text;
  CHECK(in.read(number));
  CHECK(number == 0x1234);
  CHECK(in.read_string(text));
  CHECK(text == "ok");
  CHECK(in.offset() == 5);
  CHECK(in.remaining() == 1);
  CHECK_FALSE(in.read(number));
  CHECK(in.skip(1));
  CHECK(in.at_end());
  CHECK_FALSE(in.skip(1));
}

TEST_CASE("a string longer than the bytes left is refused") {
  const auto input = bytes({5, 'a', 'b'});
  byte_reader in{input};
  std::string_view text;
  CHECK_FALSE(in.read_string(text));
}
