// SPDX-License-Identifier: BSD-3-Clause
#include "support/hex.hpp"

#include <pubsub/binary.hpp>
#include <pubsub/data_writer.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace pubsub;

namespace {

test::buffer copy(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

} // namespace

TEST_CASE("a writer makes the bytes of the tree it describes") {
  const vector tree{none{},
                    true,
                    count{42},
                    integer{-7},
                    -HUGE_VAL,
                    "text",
                    address::v4(0x01020304),
                    *subnet::parse("10.0.0.0/8"),
                    port{80, transport::tcp},
                    timestamp{timespan{5}},
                    timespan{-6},
                    enum_value{"Conn::LOG"},
                    set{count{1}},
                    table{{"k", count{3}}},
                    std::string(200, 'x')};
  data_writer out;
  out.begin_vector(15);
  out.write_none();
  out.write_boolean(true);
  out.write_count(42);
  out.write_integer(-7);
  out.write_real(-HUGE_VAL);
  out.write_string("text");
  out.write_address(address::v4(0x01020304));
  out.write_subnet(*subnet::parse("10.0.0.0/8"));
  out.write_port(port{80, transport::tcp});
  out.write_timestamp(timestamp{timespan{5}});
  out.write_timespan(timespan{-6});
  out.write_enum("Conn::LOG");
  out.begin_set(1);
  out.write_count(1);
  out.begin_table(1);
  out.write_string("k");
  out.write(count{3});
  out.write_encoded(*encode_binary(std::string(200, 'x')));
  CHECK(copy(out.bytes()) == *encode_binary(data{tree}));
  CHECK(out.size_bytes() == out.bytes().size());
}

TEST_CASE("a blank string is filled in place") {
  for (const std::size_t size : {0u, 1u, 127u, 128u, 20'000u}) {
    data_writer out;
    out.write_string(std::string(size + 20, 'y')); // what is there does not show through
    out.clear();
    out.write_count(1);
    const auto space = out.write_blank_string(size);
    REQUIRE(space.size() == size);
    CHECK(std::ranges::all_of(space, [](std::byte x) { return x == std::byte{0}; }));
    std::ranges::fill(space, std::byte{'x'});
    data_writer whole;
    whole.write_count(1);
    whole.write_string(std::string(size, 'x'));
    CHECK(copy(out.bytes()) == copy(whole.bytes()));
  }
}

TEST_CASE("a writer can be cut back, cleared and emptied") {
  data_writer out;
  out.write_boolean(true);
  const auto mark = out.size_bytes();
  out.write_string("undone");
  out.truncate(mark);
  CHECK(copy(out.bytes()) == test::from_hex("0101"));
  out.truncate(100);
  CHECK(out.size_bytes() == 2);
  CHECK(out.take() == test::from_hex("0101"));
  CHECK(out.size_bytes() == 0);
  out.write_none();
  out.clear();
  CHECK(out.bytes().empty());
}

TEST_CASE("a writer that is moved from is empty, and may be used again") {
  data_writer first;
  first.write_boolean(true);
  data_writer second{std::move(first)};
  CHECK(first.bytes().empty());
  first.write_none();
  CHECK(copy(first.bytes()) == test::from_hex("00"));
  data_writer third{second};
  second = std::move(first);
  CHECK(first.bytes().empty());
  CHECK(copy(second.bytes()) == test::from_hex("00"));
  CHECK(third.take() == test::from_hex("0101"));
}

TEST_CASE("what was written stays while a writer grows") {
  data_writer out;
  std::vector<std::byte> expected;
  for (std::uint64_t i = 0; i < 3'000; ++i) {
    data_writer one;
    one.write_string(std::string(i % 700, static_cast<char>('a' + i % 26)));
    out.write_encoded(one.bytes());
    expected.insert(expected.end(), one.bytes().begin(), one.bytes().end());
    REQUIRE(out.size_bytes() == expected.size());
  }
  CHECK(out.take() == expected);
}
