// SPDX-License-Identifier: BSD-3-Clause
#include "transport/uri.hpp"

#include <doctest/doctest.h>

using namespace pubsub;

TEST_CASE("an address names host and port, with or without its transport") {
  struct row {
    const char* text;
    const char* host;
    int port;
  };
  for (const auto& each : {row{"tcp://localhost:9999", "localhost", 9999},
                           {"localhost:9999", "localhost", 9999},
                           {"10.0.0.1:1", "10.0.0.1", 1},
                           {"tcp://[::1]:65535", "::1", 65535},
                           {"[fe80::1%eth0]:5", "fe80::1%eth0", 5},
                           {"tcp://*:0", "", 0},
                           {":80", "", 80},
                           {"tcp://:80", "", 80}}) {
    CAPTURE(each.text);
    const auto x = parse_uri(each.text);
    REQUIRE(x);
    CHECK(x->host == each.host);
    CHECK(x->port == each.port);
  }
}

TEST_CASE("an address says whether connections are encrypted") {
  CHECK(parse_uri("tls://localhost:9999")->security == encryption::tls);
  CHECK(parse_uri("tls://[::1]:1")->host == "::1");
  CHECK(parse_uri("tls://*:0")->host.empty());
  CHECK(parse_uri("tcp://localhost:9999")->security == encryption::none);
  CHECK(parse_uri("localhost:9999")->security == encryption::none);
}

TEST_CASE("what is not an address is refused with a sentence that shows one") {
  for (const auto* text : {"",
                           "localhost",
                           "localhost:",
                           "localhost:http",
                           "localhost:-1",
                           "localhost:65536",
                           "localhost:1x",
                           "localhost: 1",
                           "::1:80",
                           "[::1:80",
                           "tcp://a/b:1",
                           "tcp://a:1/path",
                           "user@host:1",
                           "two words:1",
                           "tcp://",
                           "tls://",
                           "tls://h",
                           "unix://",
                           "unix://run/x",
                           "unix:///",
                           "unix:///run/"}) {
    CAPTURE(text);
    const auto x = parse_uri(text);
    REQUIRE_FALSE(x);
    CHECK(x.error() == errc::invalid_argument);
    CHECK(x.error().context().find("tcp://host:port") != std::string::npos);
  }
}

TEST_CASE("a transport this build lacks is named as such") {
  for (const auto* text : {"TLS://h:1", "udp://h:1", "TCP://h:1", "://h:1"})
    CHECK(parse_uri(text).error() == errc::not_supported);
}

TEST_CASE("a socket of the host is named by its path") {
  const auto x = parse_uri("unix:///run/a b:1.sock");
  REQUIRE(x);
  CHECK(x->path == "/run/a b:1.sock");
  CHECK(x->host.empty());
  CHECK(x->security == encryption::none);
  CHECK(to_string(*x) == "unix:///run/a b:1.sock");
  CHECK(parse_uri("unix:///" + std::string(106, 'x')));
  const auto too_long = parse_uri("unix:///" + std::string(107, 'x'));
  CHECK(too_long.error() == errc::invalid_argument);
  CHECK(too_long.error().context().find("longer than 107 bytes") != std::string::npos);
}

TEST_CASE("an address is printed the way it can be read again") {
  CHECK(to_string(uri{"host", 1}) == "host:1");
  CHECK(to_string(uri{"::1", 2}) == "[::1]:2");
  CHECK(to_string(uri{"::1", 2, encryption::tls}) == "tls://[::1]:2");
  for (const auto* text : {"host:1", "[::1]:2", ":3", "tls://host:1", "tls://[::1]:2"})
    CHECK(to_string(*parse_uri(text)) == text);
}
