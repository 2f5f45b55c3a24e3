// SPDX-License-Identifier: BSD-3-Clause
#include "data/encoded.hpp"
#include "support/hex.hpp"
#include "support/random_data.hpp"

#include <pubsub/binary.hpp>
#include <pubsub/data_view.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace pubsub;
using pubsub::test::buffer;
using pubsub::test::from_hex;

namespace {

errc verdict(const buffer& bytes, const decode_limits& limits = {}) {
  const auto view = data_view::make(bytes, limits);
  return view ? errc::none : view.error().code();
}

errc verdict(std::string_view hex) {
  return verdict(from_hex(hex));
}

// `levels` vectors around none.
buffer nested_vectors(std::size_t levels) {
  buffer out;
  for (; levels > 0; --levels) {
    out.push_back(std::byte{0x0e});
    out.push_back(std::byte{0x01});
  }
  out.push_back(std::byte{0x00});
  return out;
}

} // namespace

TEST_CASE("a view reads each type in place") {
  const vector all{none{},
                   true,
                   count{42},
                   integer{-7},
                   2.5,
                   "text",
                   address::v4(0x01020304),
                   *subnet::parse("10.0.0.0/8"),
                   port{80, transport::tcp},
                   timestamp{timespan{5}},
                   timespan{-6},
                   enum_value{"Conn::LOG"},
                   set{count{1}, count{2}},
                   table{{"k", count{3}}}};
  const auto bytes = *encode_binary(data{all});
  const auto view = *data_view::make(bytes);
  CHECK(view.type() == data_type::vector);
  CHECK(view.size() == all.size());
  std::vector<data_view> member(view.elements().begin(), view.elements().end());
  REQUIRE(member.size() == all.size());
  CHECK(member[0].type() == data_type::none);
  CHECK(member[1].as_boolean());
  CHECK(member[2].as_count() == 42);
  CHECK(member[3].as_integer() == -7);
  CHECK(member[4].as_real() == 2.5);
  CHECK(member[5].as_string() == "text");
  CHECK(member[6].as_address() == address::v4(0x01020304));
  CHECK(to_string(member[7].as_subnet()) == "10.0.0.0/8");
  CHECK(member[8].as_port() == port{80, transport::tcp});
  CHECK(member[9].as_timestamp() == timestamp{timespan{5}});
  CHECK(member[10].as_timespan() == timespan{-6});
  CHECK(member[11].as_enum() == "Conn::LOG");
  CHECK(member[12].size() == 2);
  CHECK((*member[12].elements().begin()).as_count() == 1);
  const auto pair = *member[13].entries().begin();
  CHECK(pair.key.as_string() == "k");
  CHECK(pair.value.as_count() == 3);
  CHECK(view.bytes().size() == bytes.size());
  CHECK(member[13].bytes().data() + member[13].bytes().size() == bytes.data() + bytes.size());
  CHECK(view.to_data() == data{all});
}

TEST_CASE("what is too large for a size of one byte is read in place, too") {
  const std::string text(300, 'x');
  vector list;
  set numbers;
  table pairs;
  for (std::uint64_t i = 0; i < 200; ++i) {
    list.emplace_back(text);
    numbers.insert(i);
    pairs.emplace(i, enum_value{text});
  }
  const data all{vector{list, numbers, pairs}};
  const auto bytes = *encode_binary(all);
  const auto view = *data_view::make(bytes);
  std::size_t visited = 0;
  for (const auto member : view.elements()) {
    CHECK(member.size() == 200);
    for (const auto each : member.elements())
      visited += each.type() == data_type::string ? each.as_string() == text
                                                  : each.as_count() == visited - 200;
    for (const auto [key, value] : member.entries())
      visited += key.as_count() == visited - 400 && value.as_enum() == text;
  }
  CHECK(visited == 600);
  CHECK(view.to_data() == all);
}

TEST_CASE("a view by default is none and containers of other types are empty") {
  const data_view view;
  CHECK(view.type() == data_type::none);
  CHECK(view.size() == 0);
  CHECK(view.elements().begin() == view.elements().end());
  CHECK(view.entries().begin() == view.entries().end());
  CHECK(view.to_data() == data{});
  CHECK(data_view::from_valid({}).type() == data_type::none);
}

TEST_CASE("bytes that end too early, go on too long or have an unknown tag are refused") {
  CHECK(verdict("") == errc::end_of_file);
  CHECK(verdict("02 00000000000000") == errc::end_of_file);
  CHECK(verdict("05 03 6162") == errc::end_of_file);
  CHECK(verdict("0e 02 00") == errc::end_of_file);
  CHECK(verdict("00 00") == errc::invalid_data);
  CHECK(verdict("0f") == errc::invalid_tag);
  CHECK(verdict("ff") == errc::invalid_tag);
  CHECK(verdict("0e 01 0f") == errc::invalid_tag);
  CHECK(verdict("08 0050 03") == errc::none);
  CHECK(verdict("08 0050 04") == errc::invalid_data);
  CHECK(verdict("01 07") == errc::none); // any byte but zero is true
}

TEST_CASE("the short look says of bytes what the long one does, whatever is wrong with them") {
  std::vector<buffer> samples;
  for (const auto* hex : {"0e 00", "0e 01 00", "0e 02 02 0000000000000001 05 03 616263",
                          "0e 03 05 00 0b 01 61 08 0050 01", "0e 02 0e 01 01 01 05 01 61",
                          "0e 02 0c 01 01 01 0d 01 05 01 61 00", "0e 02 02 0000000000000001 00",
                          "0e 03 01 01 0e 02 05 01 61 00 0c 00", "0e 02 0e 02 0e 00 00 05 00",
                          "0e 81 00 00", "05 02 6162"})
    samples.push_back(from_hex(hex));
  samples.push_back(from_hex("0e 02 05 7f"));
  samples.back().resize(samples.back().size() + 0x7f, std::byte{'x'});
  samples.back().push_back(std::byte{0});
  samples.push_back(from_hex("0e 02 05 80 01"));
  samples.back().resize(samples.back().size() + 0x80, std::byte{'x'});
  samples.back().push_back(std::byte{0});
  samples.emplace_back(2 + 0x7f); // as many members as the short look takes
  samples.back()[0] = std::byte{0x0e};
  samples.back()[1] = std::byte{0x7f};
  const auto is_agreed = [](const buffer& bytes) {
    return is_encoded_value(bytes) == data_view::make(bytes).has_value();
  };
  for (auto bytes : samples) {
    CHECK(is_encoded_value(bytes));
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      CHECK(is_agreed(buffer(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at))));
      const auto right = bytes[at];
      for (int other = 0; other < 256; ++other) {
        bytes[at] = static_cast<std::byte>(other);
        REQUIRE(is_agreed(bytes));
      }
      bytes[at] = right;
    }
    bytes.push_back(std::byte{0});
    CHECK(is_agreed(bytes));
  }
}

TEST_CASE("the error names the byte where reading stopped") {
  const auto stopped_at = [](std::string_view hex) {
    const auto bytes = from_hex(hex);
    const auto view = data_view::make(bytes);
    return view ? std::string{} : view.error().context();
  };
  CHECK(stopped_at("0e 02 00 ff") == "at byte 3");
  CHECK(stopped_at("0e 02 00 02 00") == "at byte 4");
  CHECK(stopped_at("0e 02 00 08 0050") == "at byte 4");
  CHECK(stopped_at("0e 02 00 08 0050 04") == "at byte 4");
  CHECK(stopped_at("0e 02 00") == "at byte 2");
}

TEST_CASE("a claimed count beyond the bytes left is refused at once") {
  for (const std::string_view tag : {"0c", "0d", "0e", "05", "0b"})
    CHECK(verdict(std::string{tag} + "ffffffff0f") == errc::end_of_file);
  CHECK(verdict("0d 02 00 00 00") == errc::end_of_file); // two pairs need four values
}

TEST_CASE("a length of six bytes or of more than 32 bits is refused, a long spelling is not") {
  CHECK(verdict("05 808080808000") == errc::invalid_data);
  CHECK(verdict("0e ffffffff1f") == errc::invalid_data);
  CHECK(verdict("05 8000") == errc::none);
  CHECK(verdict("0e 818000 00") == errc::none);
  CHECK(verdict("0e 80") == errc::end_of_file);
}

TEST_CASE("nesting is bounded whatever the limit says") {
  CHECK(verdict(nested_vectors(64)) == errc::none);
  CHECK(verdict(nested_vectors(65)) == errc::limit_exceeded);
  CHECK(verdict(nested_vectors(100'000)) == errc::limit_exceeded);
  CHECK(verdict(nested_vectors(100'000), {.max_depth = UINT32_MAX}) == errc::limit_exceeded);
  CHECK(verdict(nested_vectors(500), {.max_depth = UINT32_MAX}) == errc::none);
  CHECK(verdict(nested_vectors(1), {.max_depth = 0}) == errc::limit_exceeded);
  CHECK(verdict(nested_vectors(0), {.max_depth = 0}) == errc::none);
}

TEST_CASE("the number of values is bounded, containers and members counted") {
  const auto bytes = from_hex("0e 03 00 00 0d 01 00 00");
  CHECK(verdict(bytes, {.max_values = 6}) == errc::none);
  CHECK(verdict(bytes, {.max_values = 5}) == errc::limit_exceeded);
  CHECK(verdict(bytes, {.max_values = 0}) == errc::limit_exceeded);
}

TEST_CASE("a set member or table key that occurs twice is refused, sorted or not") {
  CHECK(verdict("0c 02 0101 0101") == errc::duplicate_key);
  CHECK(verdict("0c 02 0101 0102") == errc::duplicate_key); // both are true
  CHECK(verdict("0c 03 050161 050162 050161") == errc::duplicate_key);
  CHECK(verdict("0c 04 050162 050161 0501 63 050162") == errc::duplicate_key);
  CHECK(verdict("0c 02 050161 05810061") == errc::duplicate_key); // long spelling of the length
  CHECK(verdict("0d 02 00 0101 00 0100") == errc::duplicate_key);
  CHECK(verdict("0d 03 0101 00 0100 00 0101 00") == errc::duplicate_key);
  CHECK(verdict("0c 02 040000000000000000 048000000000000000") == errc::duplicate_key); // zeros
  CHECK(verdict("0c 02 04ffffffffffffffff 04ffffffffffffffff") == errc::duplicate_key); // NaN
  CHECK(verdict("0e 02 0101 0101") == errc::none);
}

TEST_CASE("members out of order are accepted and the tree is in order") {
  const auto bytes = from_hex("0c 03 050163 050161 050162");
  const auto view = *data_view::make(bytes);
  CHECK(view.to_data() == data{set{"a", "b", "c"}});
  const auto table_bytes = from_hex("0d 02 050162 00 050161 0101");
  CHECK(data_view::make(table_bytes)->to_data() == data{table{{"a", true}, {"b", none{}}}});
  CHECK(verdict("0c 02 04ffffffffffffffff 04fff0000000000000") == errc::none); // NaN, infinity
}

TEST_CASE("twins in different order inside are found") {
  // {{a, b}, {b, a}} in three disguises: as members, inside members, and as table keys.
  CHECK(verdict("0c 02 0c02050161050162 0c02050162050161") == errc::duplicate_key);
  CHECK(verdict("0c 02 0c02050162050161 0c02050161050162") == errc::duplicate_key);
  CHECK(verdict("0c 02 0e010c02050161050162 0e010c02050162050161") == errc::duplicate_key);
  CHECK(verdict("0d 02 0c02050161050162 00 0c02050162050161 00") == errc::duplicate_key);
  CHECK(verdict("0c 02 0c02050161050162 0c02050163050161") == errc::none);
  // Order inside a table's values says nothing about its keys.
  CHECK(verdict("0d 02 0100 0c02050162050161 0101 0c02050162050161") == errc::none);
}

TEST_CASE("sorting a hundred thousand members out of order stays quick") {
  buffer bytes = from_hex("0c a08d06");
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    const std::uint32_t scattered = i * 2654435761U;
    bytes.push_back(std::byte{2});
    for (int shift = 56; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<std::byte>(std::uint64_t{scattered} >> shift));
  }
  CHECK(verdict(bytes, {.max_values = 100'001}) == errc::none);
  std::copy_n(bytes.begin() + 4, 9, bytes.end() - 9);
  CHECK(verdict(bytes) == errc::duplicate_key);
}

TEST_CASE("encoded values order exactly as the trees do") {
  test::random_data random{11};
  for (int i = 0; i < 4000; ++i) {
    const auto x = random.value(2);
    const auto y = random.below(8) == 0 ? x : random.value(2);
    const auto x_bytes = *encode_binary(x);
    const auto y_bytes = *encode_binary(y);
    const auto* x_pos = x_bytes.data();
    const auto* y_pos = y_bytes.data();
    const int order = compare_encoded(x_pos, y_pos);
    CHECK((order < 0) == (x < y));
    CHECK((order == 0) == (x == y));
    if (order == 0) {
      CHECK(x_pos == x_bytes.data() + x_bytes.size());
      CHECK(y_pos == y_bytes.data() + y_bytes.size());
    }
    CHECK(skip_value(x_bytes.data()) == x_bytes.data() + x_bytes.size());
  }
}
