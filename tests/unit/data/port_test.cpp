// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/value/port.hpp>

#include <doctest/doctest.h>

using namespace pubsub;

TEST_CASE("port text names number and protocol") {
  CHECK(*port::parse("80/tcp") == port{80, transport::tcp});
  CHECK(*port::parse("53/udp") == port{53, transport::udp});
  CHECK(*port::parse("8/icmp") == port{8, transport::icmp});
  CHECK(*port::parse("0/?") == port{});
  CHECK(*port::parse("443") == port{443, transport::tcp});
  for (const std::string_view text : {"0/?", "80/tcp", "65535/udp", "8/icmp"})
    CHECK(to_string(*port::parse(text)) == text);
}

TEST_CASE("text that is no port is refused") {
  for (const std::string_view text :
       {"", "/", "/tcp", "x/tcp", "65536/tcp", "-1/tcp", "80/", "80/tcpx", "80 /tcp", "80/TCP"})
    CHECK_MESSAGE(port::parse(text).error() == errc::conversion_failed, text);
}

TEST_CASE("ports order by number and then by protocol") {
  CHECK(port{53, transport::udp} < port{80, transport::tcp});
  CHECK(port{80, transport::tcp} < port{80, transport::udp});
}
