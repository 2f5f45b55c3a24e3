// SPDX-License-Identifier: BSD-3-Clause
#include "rules/mask.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <fstream>
#include <random>

#include "support/temporary_folder.hpp"

#include <pubsub/binary.hpp>

using namespace pubsub;
using namespace pubsub::tool;

namespace {

mask_key key_of(std::uint8_t x) {
  mask_key result;
  result.bytes.fill(std::byte{x});
  return result;
}

/// The value that comes of this one; it must be valid and as long.
data masked(masker& with, const data& value) {
  auto bytes = *encode_binary(value);
  REQUIRE(with.mask(bytes));
  const auto result = decode_binary(bytes);
  REQUIRE(result);
  REQUIRE(result->type() == value.type());
  return *result;
}

/// How many bits two addresses have in common at their beginning.
std::size_t common_bits(const address& x, const address& y) {
  for (std::size_t i = 0; i < address::size_bytes; ++i)
    if (const auto differing = static_cast<std::uint8_t>(x.bytes()[i] ^ y.bytes()[i]);
        differing != 0)
      return i * 8 + static_cast<std::size_t>(std::countl_zero(differing));
  return 128;
}

} // namespace

TEST_CASE("masked addresses have a prefix in common exactly as long as before") {
  masker with{key_of(1)};
  std::mt19937 random{42};
  for (const bool version_4 : {true, false}) {
    std::vector<std::pair<address, address>> all;
    for (int i = 0; i < 200; ++i) {
      std::array<std::uint8_t, 16> bytes{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
      if (i > 0) // half of the bits of another, so that prefixes of all lengths occur
        bytes = all[random() % all.size()].first.bytes();
      for (auto place = version_4 ? 96 + random() % 32 : random() % 128; place < 128; ++place)
        if (random() % 2 == 0)
          bytes[place / 8] ^= static_cast<std::uint8_t>(0x80U >> (place % 8));
      const address plain{bytes};
      all.emplace_back(plain, get<address>(masked(with, plain)));
    }
    for (const auto& [plain, hidden] : all) {
      CHECK(plain.is_v4() == hidden.is_v4());
      for (const auto& [other, hidden_other] : all)
        REQUIRE(common_bits(plain, other) == common_bits(hidden, hidden_other));
    }
  }
}

TEST_CASE("the same key masks alike at every node, and another key differently") {
  masker one{key_of(1)};
  masker same{key_of(1)};
  masker other{key_of(2)};
  for (const data& value :
       {data{*address::parse("192.0.2.7")}, data{*address::parse("2001:db8::7")}, data{"a user"},
        data{std::string(1000, 'x')}, data{count{5}}, data{integer{-5}},
        data{port{443, transport::tcp}}, data{enum_value{"Notice::ACTION_LOG"}}}) {
    CHECK(masked(one, value) == masked(same, value));
    CHECK(masked(one, value) != value);
    CHECK(masked(one, value) != masked(other, value));
  }
}

TEST_CASE("a subnet is masked as the addresses in it") {
  masker with{key_of(1)};
  const auto net = masked(with, *subnet::parse("10.20.0.0/16"));
  const auto inside = masked(with, *address::parse("10.20.30.40"));
  const auto outside = masked(with, *address::parse("10.21.30.40"));
  CHECK(get<subnet>(net).contains(get<address>(inside)));
  CHECK_FALSE(get<subnet>(net).contains(get<address>(outside)));
  CHECK(get<subnet>(net).length() == subnet::parse("10.20.0.0/16")->length());
}

TEST_CASE("types and sizes stay: text becomes letters, a port keeps its protocol") {
  masker with{key_of(1)};
  for (const std::size_t size : {0U, 1U, 63U, 64U, 65U, 200U, 20'000U}) {
    const auto text = get<std::string>(masked(with, std::string(size, '\xff')));
    CHECK(text.size() == size);
    CHECK(text.find_first_not_of("abcdefghijklmnop") == std::string::npos);
  }
  CHECK(masked(with, "user a") != masked(with, "user b"));
  CHECK(get<port>(masked(with, port{53, transport::udp})).protocol() == transport::udp);
  CHECK(masked(with, data{}) == data{});
  CHECK(masked(with, data{true}) == data{false});
  CHECK(masked(with, data{real{2.5}}) == data{real{0}});
}

TEST_CASE("every member of a vector is masked; sets and tables are refused") {
  masker with{key_of(1)};
  const data host{*address::parse("192.0.2.7")};
  const data all = vector{host, vector{host, "x"}};
  CHECK(masked(with, all) ==
        data{vector{masked(with, host), vector{masked(with, host), masked(with, "x")}}});
  for (const data& each : {data{set{"a"}}, data{table{{"a", "b"}}}, data{vector{set{"a"}}}}) {
    auto bytes = *encode_binary(each);
    CHECK_FALSE(with.mask(bytes));
  }
  CHECK(masked(with, set{}) == data{set{}});
  std::vector<std::byte> broken(3, std::byte{0xff});
  CHECK_FALSE(with.mask(broken));
}

TEST_CASE("a key is all of a file, which must not be short") {
  const pubsub::test::temporary_folder folder;
  const auto write = [&](const std::string& text) {
    const auto path = folder / "key";
    std::ofstream{path} << text;
    return path;
  };
  const auto one = read_mask_key(write("0123456789abcdef"));
  REQUIRE(one);
  CHECK(*one == *read_mask_key(write("0123456789abcdef")));
  CHECK(*one != *read_mask_key(write("0123456789abcdeg")));
  CHECK(read_mask_key(write("0123456789abcde")).error() == errc::invalid_argument);
  CHECK(read_mask_key(write(std::string(70'000, 'x'))).error() == errc::invalid_argument);
  CHECK(read_mask_key(folder / "none").error() == errc::cannot_open_file);
}
