// SPDX-License-Identifier: BSD-3-Clause
#include "support/temporary_folder.hpp"

#include <pubsub/cluster/websocket_options.hpp>

#include <doctest/doctest.h>

#include <fstream>

#include <stdlib.h>

using namespace pubsub;
using namespace pubsub::cluster;

namespace {

using texts = std::vector<std::string>;

std::string websocket_problem_of(std::string_view uri) {
  const auto options = websocket_options_from(uri);
  return options ? "" : options.error().message();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("an address says where the WebSocket server is, and how to speak with it") {
  const auto plain = websocket_options_from("ws://192.0.2.1");
  REQUIRE(plain);
  CHECK_FALSE(plain->topics);
  CHECK_FALSE(plain->names);
  CHECK(plain->send == texts{""});
  CHECK(check(*plain));
  const auto all = websocket_options_from(
      "ws://[::1]:1/x?topics=a,b%2Cc,%2f&send=zeek/&names=as-they-are&application=a/1.0");
  REQUIRE(all);
  CHECK(all->url == "ws://[::1]:1/x");
  CHECK(all->topics == texts{"a", "b,c", "/"});
  CHECK(all->send == texts{"zeek/"});
  CHECK(all->names == topic_names::as_they_are);
  CHECK(all->application == "a/1.0");
  CHECK(check(*all));
  CHECK(websocket_options_from("ws://a?topics=")->topics == texts{});
  const auto tls = websocket_options_from("wss://a?ca=ca.pem&certificate=c.pem&key=k.pem");
  REQUIRE(tls);
  CHECK(tls->tls.ca_file == "ca.pem");
  CHECK(tls->tls.certificate == "c.pem");
  CHECK(tls->tls.key == "k.pem");
}

TEST_CASE("an address of a WebSocket server that means nothing is refused with a reason") {
  CHECK(has(websocket_problem_of("tcp://a"), "no WebSocket address; expected ws://HOST"));
  CHECK(has(websocket_problem_of("ws://a?b=c"), "\"b=c\" means nothing"));
  CHECK(has(websocket_problem_of("ws://a?names=other"), "\"names=other\""));
  CHECK(has(websocket_problem_of("ws://a?topics=%zz"),
            "a % must be followed by two hexadecimal digits"));
  CHECK(has(websocket_problem_of("ws://a?topics=%1"), "two hexadecimal digits"));
}

TEST_CASE("options of a WebSocket client that would do harm are refused by name") {
  const auto refused = [](auto change) {
    websocket_options options;
    change(options);
    const auto ok = check(options);
    return ok ? "" : ok.error().context();
  };
  CHECK(check(websocket_options{}));
  CHECK(has(refused([](auto& x) { x.url = "tcp://a"; }), "url: tcp://a: no WebSocket address"));
  CHECK(has(refused([](auto& x) { x.incoming.policy = overflow_policy::block; }),
            "incoming.policy must drop"));
  CHECK(has(refused([](auto& x) { x.outgoing.capacity_messages = 0; }), "outgoing: "));
  CHECK(refused([](auto& x) { x.timeout = {}; }) == "timeout must be positive");
  CHECK(has(refused([](auto& x) { x.application = "a b"; }), "application may have letters"));
  CHECK(has(refused([](auto& x) { x.token = "a\r\nHost: b"; }), "token may have printable"));
  CHECK(has(refused([](auto& x) { x.tls.ca_file = "ca.pem"; }), "does not encrypt"));
  CHECK(has(refused([](auto& x) {
              x.url = "wss://a";
              x.tls.ca_file = "/nowhere/ca.pem";
            }),
            "/nowhere/ca.pem"));
}

TEST_CASE("a token is read from a file or the environment, and not said in errors") {
  const test::temporary_folder folder;
  const auto file = folder / "token";
  CHECK(websocket_problem_of("ws://a?token=" + file).starts_with("cannot_open_file: "));
  std::ofstream{file} << "secret\n";
  CHECK(websocket_options_from("ws://a?token=" + file)->token == "secret");
  std::ofstream{file} << "hidden\x01word";
  CHECK(has(websocket_problem_of("ws://a?token=" + file), file + " holds no token"));
  CHECK_FALSE(has(websocket_problem_of("ws://a?token=" + file), "\x01"));
  ::unsetenv("PUBSUB_WEBSOCKET_TOKEN");
  CHECK(has(websocket_problem_of("ws://a?token=environment"),
            "PUBSUB_WEBSOCKET_TOKEN in the environment"));
  ::setenv("PUBSUB_WEBSOCKET_TOKEN", "from there", 1);
  CHECK(has(websocket_problem_of("ws://a?token=environment"), "holds no token"));
  ::setenv("PUBSUB_WEBSOCKET_TOKEN", "from-there", 1);
  CHECK(websocket_options_from("ws://a?token=environment")->token == "from-there");
  ::unsetenv("PUBSUB_WEBSOCKET_TOKEN");
}
