// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/value/subnet.hpp>

#include <doctest/doctest.h>

using namespace pubsub;

TEST_CASE("a subnet clears host bits and counts length in its family") {
  const subnet x{*address::parse("192.168.1.77"), 24};
  CHECK(to_string(x) == "192.168.1.0/24");
  CHECK(x.length() == 24);
  CHECK(x.raw_length() == 120);
  const subnet y{*address::parse("2001:db8:1:2:3::"), 64};
  CHECK(to_string(y) == "2001:db8:1:2::/64");
  CHECK(y.raw_length() == 64);
}

TEST_CASE("an over-long prefix gives the empty subnet, as in Broker") {
  CHECK(subnet{*address::parse("10.0.0.0"), 33} == subnet{});
  CHECK(subnet{*address::parse("2001:db8::"), 129} == subnet{});
  CHECK(subnet{*address::parse("10.0.0.0"), 4294967295U} == subnet{});
  CHECK(to_string(subnet{}) == "::/0");
}

TEST_CASE("subnet text parses strictly") {
  CHECK(to_string(*subnet::parse("10.1.2.3/8")) == "10.0.0.0/8");
  CHECK(to_string(*subnet::parse("fe80::/10")) == "fe80::/10");
  for (const std::string_view text : {"", "/", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "::/129",
                                      "10.0.0.0/8 ", "10.0.0.0/-1", "x/8", "10.0.0.0/8/8"})
    CHECK_MESSAGE(subnet::parse(text).error() == errc::conversion_failed, text);
}

TEST_CASE("a subnet contains the addresses that share its prefix") {
  const auto x = *subnet::parse("10.20.0.0/14");
  CHECK(x.contains(*address::parse("10.20.0.0")));
  CHECK(x.contains(*address::parse("10.23.255.255")));
  CHECK_FALSE(x.contains(*address::parse("10.24.0.0")));
  CHECK_FALSE(x.contains(*address::parse("::1")));
  CHECK(subnet{}.contains(*address::parse("10.24.0.0")));
}

TEST_CASE("a received subnet is taken as it is") {
  const auto host = *address::parse("10.0.0.1");
  const auto x = subnet::from_raw(host, 104);
  CHECK(to_string(x) == "10.0.0.1/8");
  CHECK(subnet::from_raw(host, 10).length() == 0);
  CHECK(subnet::from_raw(host, 255).contains(host));
}

TEST_CASE("subnets order by network and then by length") {
  CHECK(*subnet::parse("10.0.0.0/8") < *subnet::parse("10.0.0.0/16"));
  CHECK(*subnet::parse("9.0.0.0/32") < *subnet::parse("10.0.0.0/8"));
}
