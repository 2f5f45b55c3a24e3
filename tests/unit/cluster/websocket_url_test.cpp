// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/websocket_url.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::cluster;

TEST_CASE("what an address for a client leaves out has defaults") {
  const auto plain = read_client_url("ws://a");
  REQUIRE(plain);
  CHECK_FALSE(plain->encrypted);
  CHECK(plain->port == 27759);
  CHECK(plain->path == "/v1/messages/json");
  CHECK(plain->host_and_port() == "a:27759");
  CHECK(read_client_url("ws://a:1/")->path == "/v1/messages/json");
  const auto whole = read_client_url("wss://[::1]:443/p/q");
  REQUIRE(whole);
  CHECK(whole->encrypted);
  CHECK(whole->host == "::1");
  CHECK(whole->path == "/p/q");
  CHECK(whole->host_and_port() == "[::1]:443");
  CHECK(to_string(*whole) == "wss://[::1]:443/p/q");
}

TEST_CASE("an address that no client can connect to is refused") {
  for (const auto* each : {"", "http://a", "ws://", "ws://:1", "ws://a:", "ws://a:0",
                           "ws://a:65536", "ws://a:1x", "ws://[::1", "ws://[::1]1", "ws://[a]:1",
                           "ws://::1", "ws://a/b c", "ws://a\r\n/", "ws://a/?b", "ws://user@a"})
    CHECK_FALSE_MESSAGE(read_client_url(each), each);
}

TEST_CASE("a server listens at every address where none is said, and at any port with 0") {
  for (const auto* each : {"ws://:0", "ws://*:0", "ws://*:0/", "ws://*:0/v1/messages/json"}) {
    const auto url = read_server_url(each);
    REQUIRE_MESSAGE(url, each);
    CHECK(url->host.empty());
    CHECK(url->port == 0);
    CHECK(to_string(*url) == "ws://*:0/v1/messages/json");
  }
}

TEST_CASE("an address that is none says what is wrong with it") {
  const auto problem = [](std::string_view text) {
    return read_server_url(text).error().context();
  };
  CHECK(problem("tcp://a:1") == "no WebSocket address");
  CHECK(problem("ws://a") == "no port");
  CHECK(problem("ws://a:1/other") == "the path is /v1/messages/json");
  CHECK(problem("ws://::1:1") == "not a host name; an IPv6 address needs brackets");
  CHECK(problem("ws://[fe80]:1") == "not an IPv6 address in brackets");
  CHECK(problem("ws://a:65536") == "the port is not a number from 0 to 65535");
  CHECK(problem("ws://a:1/?x") == "the path has characters that it may not have");
  CHECK(read_client_url("ws://:1").error().context() == "no host");
  CHECK(read_client_url("ws://a:0").error().context() == "port 0 cannot be connected to");
}
