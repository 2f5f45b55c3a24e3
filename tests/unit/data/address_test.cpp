// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/value/address.hpp>

#include <doctest/doctest.h>

using namespace pubsub;

namespace {

std::string canonical(std::string_view text) {
  const auto x = address::parse(text);
  return x ? to_string(*x) : "refused";
}

} // namespace

TEST_CASE("an address prints in the canonical form of RFC 5952") {
  CHECK(canonical("2001:0DB8:0:0:0:0:0:1") == "2001:db8::1");
  CHECK(canonical("2001:db8:0:1:1:1:1:1") == "2001:db8:0:1:1:1:1:1");
  CHECK(canonical("2001:db8:0:0:1:0:0:1") == "2001:db8::1:0:0:1");
  CHECK(canonical("2001:0:0:1:0:0:0:1") == "2001:0:0:1::1");
  CHECK(canonical("1:0:0:0:0:0:0:0") == "1::");
  CHECK(canonical("0:0:0:0:0:0:0:1") == "::1");
  CHECK(canonical("::") == "::");
  CHECK(canonical("0:1::") == "0:1::");
  CHECK(canonical("1:2:3:4:5:6:7:8") == "1:2:3:4:5:6:7:8");
  CHECK(canonical("fe80::abcd:0:1") == "fe80::abcd:0:1");
  CHECK(canonical("::5:0:0:0:6:7") == "0:0:5::6:7");
}

TEST_CASE("a mapped address is IPv4 and prints as a dotted quad") {
  CHECK(canonical("::ffff:192.0.2.1") == "192.0.2.1");
  CHECK(canonical("192.0.2.1") == "192.0.2.1");
  CHECK(canonical("64:ff9b::192.0.2.33") == "64:ff9b::c000:221");
  CHECK(address::v4(0x7f000001) == *address::parse("127.0.0.1"));
  CHECK(address::v4(0).is_v4());
  CHECK_FALSE(address{}.is_v4());
  CHECK(to_string(address{}) == "::");
}

TEST_CASE("text that is no address is refused") {
  for (const std::string_view text :
       {"", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", " 1.2.3.4", "1.2.3.4 ", "[::1]",
        "fe80::1%eth0", "1:2:3:4:5:6:7", "1::2::3", "12345::", "g::", "1.2.3.4/8"})
    CHECK_MESSAGE(canonical(text) == "refused", text);
  CHECK(canonical(std::string_view{"1.2.3.4\0", 8}) == "refused");
  CHECK(canonical(std::string(100, '1')) == "refused");
  CHECK(address::parse("nonsense").error() == errc::conversion_failed);
}

TEST_CASE("masking clears all but the leading bits") {
  auto x = *address::parse("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
  x.mask(128);
  CHECK(to_string(x) == "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
  x.mask(37);
  CHECK(to_string(x) == "ffff:ffff:f800::");
  x.mask(32);
  CHECK(to_string(x) == "ffff:ffff::");
  x.mask(0);
  CHECK(x == address{});
}

TEST_CASE("addresses order by their bytes") {
  CHECK(*address::parse("9.255.255.255") < *address::parse("10.0.0.1"));
  CHECK(*address::parse("::1") < *address::parse("0.0.0.0"));
  CHECK(*address::parse("255.255.255.255") < *address::parse("2001:db8::1"));
}
