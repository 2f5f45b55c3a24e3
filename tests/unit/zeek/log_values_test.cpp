// Records in the binary format of Zeek's threads.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/hex.hpp"
#include "support/log_values.hpp"

#include <pubsub/zeek/message.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <limits>

using namespace pubsub;
using namespace std::chrono_literals;

namespace {

expected<vector> parse(std::string_view hex) {
  return zeek::parse_log_values(test::from_hex(hex));
}

/// The value of a record of one column, given as hex without the number of columns.
data only(std::string_view hex) {
  const auto record = parse("00000001" + std::string{hex});
  REQUIRE_MESSAGE(record, record.error().message());
  REQUIRE(record->size() == 1);
  return record->front();
}

void check_refused(std::string_view hex, errc code, std::string_view context) {
  const auto record = parse(hex);
  REQUIRE_FALSE(record);
  CHECK(record.error() == code);
  CHECK(record.error().context() == context);
}

std::string hex_of(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4)
    out += "0123456789abcdef"[bits >> shift & 15];
  return out;
}

const std::string none_below = "00000016"; // the subtype of what is no container
const std::string there = "01";

std::string head(std::string_view type) {
  return std::string{type} + none_below + there;
}

} // namespace

TEST_CASE("the records of the specification's example are two times") {
  CHECK(only("00000005 00000016 01 3ff0000000000000") == data{timestamp{1s}});
  CHECK(only("00000005 00000016 01 4000000000000000") == data{timestamp{2s}});
}

TEST_CASE("every type that logs can hold is read") {
  CHECK(only(head("00000001") + "0000000000000001") == data{true});
  CHECK(only(head("00000001") + "0000000000000000") == data{false});
  CHECK(only(head("00000002") + "ffffffffffffffff") == data{integer{-1}});
  CHECK(only(head("00000003") + "ffffffffffffffff") == data{~count{0}});
  CHECK(only(head("00000004") + hex_of(2.5)) == data{2.5});
  CHECK(only(head("00000004") + hex_of(std::numeric_limits<double>::infinity())) ==
        data{std::numeric_limits<double>::infinity()});
  CHECK(only(head("00000006") + hex_of(-0.25)) == data{timespan{-250ms}});
  for (const auto* type : {"00000007", "00000011", "00000012"}) // string, func, file
    CHECK(only(head(type) + "00000002 6162") == data{"ab"});
  CHECK(only(head("00000009") + "00000002 6162") == data{enum_value{"ab"}});
  CHECK(only(head("0000000a") + "0000000000000035 00000002") == data{port{53, transport::udp}});
  CHECK(only(head("0000000b") + "04 c0000201") == data{*address::parse("192.0.2.1")});
  CHECK(only(head("0000000b") + "06 20010db8 00000000 00000000 00000001") ==
        data{*address::parse("2001:db8::1")});
  CHECK(only(head("0000000c") + "70 04 c0a80000") == data{*subnet::parse("192.168.0.0/16")});
  CHECK(only(head("0000000c") + "20 06 20010db8 00000000 00000000 00000000") ==
        data{*subnet::parse("2001:db8::/32")});
  const auto member = [](const char* digit) {
    return head("00000003") + "000000000000000" + digit;
  };
  CHECK(only("0000000e 00000003 01 0000000000000002" + member("2") + member("1")) ==
        data{set{count{1}, count{2}}});
  CHECK(only("00000013 00000003 01 0000000000000002" + member("2") + member("1")) ==
        data{vector{count{2}, count{1}}});
}

TEST_CASE("a column that is not set is none, whatever its type") {
  CHECK(only("00000005 00000016 00") == data{});
  CHECK(only("00000014 00000016 00") == data{}); // opaque
  CHECK(only("00000003 00000016 02") == data{}); // true is 1 and nothing else
  CHECK(parse("00000000")->empty());
}

TEST_CASE("times are rounded to the nanosecond and nothing else") {
  const auto read = [](double seconds) {
    return only(head("00000006") + hex_of(seconds)).get<timespan>().count();
  };
  CHECK(read(1'530'820'000.123456789) == 1'530'820'000'123'456'717); // all that the double has
  CHECK(read(0.1) == 100'000'000);
  CHECK(read(-0.1) == -100'000'000);
  CHECK(read(1e-10) == 0);
  CHECK(read(9'223'372'035.5) == 9'223'372'035'500'000'000);
  const auto unfit = std::string{"column 0, byte 4: a time that does not fit into 64 bits of "
                                 "nanoseconds"};
  for (const auto x : {1e10, -1e10, std::numeric_limits<double>::infinity(),
                       std::numeric_limits<double>::quiet_NaN()})
    check_refused("00000001" + head("00000005") + hex_of(x), errc::invalid_data, unfit);
}

TEST_CASE("what is written in natural types is read as it was") {
  const vector record{none{},
                      true,
                      count{7},
                      integer{-7},
                      1.5,
                      "text",
                      *address::parse("::1"),
                      *subnet::parse("10.0.0.0/8"),
                      port{80, transport::tcp},
                      timestamp{1'700'000'000s},
                      timespan{1500ns},
                      enum_value{"A::B"},
                      set{"a", "b"},
                      vector{none{}, set{}}};
  const auto bytes = test::log_values_writer::write(record);
  const auto again = zeek::parse_log_values(bytes);
  REQUIRE_MESSAGE(again, again.error().message());
  CHECK(*again == record);
  for (std::size_t size = 0; size < bytes.size(); ++size) { // cut anywhere, it is refused
    const auto cut = zeek::parse_log_values(std::string_view{bytes}.substr(0, size));
    REQUIRE_FALSE(cut);
    CHECK(cut.error() == errc::end_of_file);
  }
}

TEST_CASE("bytes that are no record are refused with the column and the cause") {
  using enum errc;
  check_refused("", end_of_file, "column 0, byte 0: the record ends within a value");
  check_refused("ffffffff", invalid_data, "column 0, byte 0: a negative number of columns");
  check_refused("7fffffff", end_of_file,
                "column 0, byte 0: 2147483647 columns do not fit into the rest");
  check_refused("00000000 00", invalid_data, "column 0, byte 4: bytes behind the last column");
  const std::string one = "00000001";
  check_refused(one + "00000017 00000016 00", invalid_tag, "column 0, byte 4: there is no type 23");
  check_refused(one + "ffffffff 00000016 00", invalid_tag, "column 0, byte 4: there is no type -1");
  check_refused(one + head("00000008"), not_supported,
                "column 0, byte 4: logs cannot hold the type pattern");
  check_refused(one + head("00000007") + "ffffffff", invalid_data,
                "column 0, byte 4: text of negative length");
  check_refused(one + head("00000007") + "00000002 61", end_of_file,
                "column 0, byte 4: the record ends within a value");
  check_refused(one + head("0000000a") + "0000000000010000 00000001", invalid_data,
                "column 0, byte 4: no port: 65536, protocol 1");
  check_refused(one + head("0000000a") + "0000000000000001 00000004", invalid_data,
                "column 0, byte 4: no port: 1, protocol 4");
  check_refused(one + head("0000000b") + "05", invalid_data,
                "column 0, byte 4: an address of family 5");
  check_refused(one + head("0000000c") + "10 04 c0a80000", invalid_data,
                "column 0, byte 4: a subnet of length 16");
  check_refused(one + head("0000000c") + "81 06 20010db8 00000000 00000000 00000000", invalid_data,
                "column 0, byte 4: a subnet of length 129");
  check_refused("00000002" + ("00000001 00000016 00" + head("0000000e")) + "ffffffffffffffff",
                invalid_data, "column 1, byte 13: a container of negative size");
  check_refused(one + head("00000013") + "7fffffffffffffff", end_of_file,
                "column 0, byte 4: 9223372036854775807 members do not fit into the rest");
  const auto twin = head("00000002") + "0000000000000001";
  check_refused(one + head("0000000e") + "0000000000000002" + twin + twin, duplicate_key,
                "column 0, byte 38: a member of a set occurs twice");
}

TEST_CASE("containers in a record nest up to 64 deep and no deeper") {
  data x = vector{};
  for (int level = 1; level < 64; ++level) {
    vector outer;
    outer.push_back(std::move(x));
    x = std::move(outer);
  }
  vector record;
  record.push_back(x);
  CHECK(*zeek::parse_log_values(test::log_values_writer::write(record)) == record);
  vector deeper;
  deeper.push_back(record);
  const auto refused = zeek::parse_log_values(test::log_values_writer::write(deeper));
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == errc::limit_exceeded);
}

TEST_CASE("a record that is none of Zeek's leaves the message readable") {
  const auto refused = zeek::parse_log_values(std::string_view{"serial\0data\0", 12});
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == errc::end_of_file);
}
