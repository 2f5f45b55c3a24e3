// A server of Zeek's WebSocket API and its clients, those included that no library would be;
// tests/python/test_websocket_server.py has ordinary ones.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/eventually.hpp"
#include "support/websocket_client.hpp"

#include "cluster/websocket_messages.hpp"

#include <pubsub/binary.hpp>
#include <pubsub/cluster/websocket_server.hpp>
#include <pubsub/zeek/event.hpp>

#include <doctest/doctest.h>

#include <array>
#include <vector>

using namespace pubsub;
using namespace pubsub::cluster;
using namespace std::chrono_literals;
using test::eventually;
using test::patience;

namespace {

using client = test::websocket_client;

std::string event_text(std::string_view topic, std::string_view name, std::size_t bytes = 0) {
  std::string out;
  const auto encoded =
      *encode_binary(zeek::make_event(std::string{name}, {data{std::string(bytes, 'x')}}));
  append_event(out, topic, data_view::from_valid(encoded));
  return out;
}

std::string name_in(const std::string& text) {
  websocket_event event;
  if (!read_event(text, event))
    return "no event: " + text;
  return std::string{zeek::view_event(data_view::from_valid(event.value.bytes()))->name()};
}

/// A node that serves, with a subscriber and short times.
struct serving_node {
  explicit serving_node(websocket_server_options options = {}) : server(start(node, options)) {}

  static websocket_server start(const endpoint& node, websocket_server_options options) {
    options.address = "ws://127.0.0.1:0";
    auto started = websocket_server::start(node, std::move(options));
    REQUIRE_MESSAGE(started, started.error().message());
    return std::move(*started);
  }
  /// One that was acknowledged.
  client join(std::string_view subscriptions = "[]", std::string_view fields = {}) {
    client result{server.port()};
    REQUIRE(result.upgrade(fields) == 101);
    REQUIRE(result.send(subscriptions));
    const auto ack = result.read_text();
    CAPTURE(ack);
    REQUIRE(ack.find(R"({"type":"ack","endpoint":")" + to_string(node.id()) + "-websocket-") == 0);
    return result;
  }

  endpoint node;
  subscriber events = node.make_subscriber({"/in/"});
  websocket_server server;
};

} // namespace

TEST_CASE("events go both ways, to others and not back") {
  serving_node net;
  auto one = net.join(R"(["/in/","/out/"])", "X-Application-Name: test/1=a\r\n");
  auto other = net.join(R"(["/in/"])");
  REQUIRE(one.send(event_text("/in/x", "from_client")));
  const auto received = net.events.get_for(patience);
  REQUIRE(received);
  CHECK(get_topic(*received) == "/in/x");
  CHECK(zeek::view_event(get_view(*received))->name() == "from_client");
  CHECK(name_in(other.read_text()) == "from_client");
  CHECK(net.node.publish("/out/x", zeek::make_event("from_node", {})) == publish_result::taken);
  CHECK(name_in(one.read_text()) == "from_node"); // nothing of its own came before
  const auto peers = net.node.peers();
  REQUIRE(peers.size() == 2);
  for (const auto& each : peers) {
    CHECK(each.client);
    CHECK((each.name.starts_with("test/1_a@127.0.0.1:") ||
           each.name.starts_with("websocket@127.0.0.1:")));
  }
  const auto counted = net.server.counters();
  CHECK(counted.clients == 2);
  CHECK(counted.accepted == 2);
  CHECK(counted.events_received == 1);
  CHECK(counted.events_sent == 2);
}

TEST_CASE("several threads serve clients as one does") {
  constexpr std::size_t clients = 12;
  serving_node net{{.threads = 3}};
  std::vector<client> all;
  while (all.size() < clients)
    all.push_back(net.join(R"(["/in/"])"));
  for (auto& each : all)
    REQUIRE(each.send(event_text("/in/x", "hello")));
  for (auto& each : all)
    for (std::size_t i = 0; i + 1 < clients; ++i)
      CHECK(name_in(each.read_text()) == "hello");
  for (std::size_t i = 0; i < clients; ++i)
    CHECK(net.events.get_for(patience));
  CHECK(net.server.counters().events_sent == clients * (clients - 1));
}

TEST_CASE("what is no Zeek event does not reach clients") {
  serving_node net;
  auto one = net.join(R"([""])");
  CHECK(net.node.publish("/x", data{42}) == publish_result::taken);
  CHECK(net.node.publish("/x", zeek::make_event("after", {})) == publish_result::taken);
  CHECK(name_in(one.read_text()) == "after");
  CHECK(net.server.counters().not_events == 1);
}

TEST_CASE("a client that leaves is no peer any more") {
  serving_node net;
  {
    auto left = net.join();
    REQUIRE(left.send(std::string{"\x03\xe8", 2}, client::close));
    CHECK(left.read_close().first == 1000);
  }
  { auto lost = net.join(); }
  CHECK(eventually([&] { return net.node.peers().empty() && net.server.counters().clients == 0; }));
}

TEST_CASE("requests that are no upgrade are answered") {
  serving_node net;
  const std::string old_version =
      "GET /v1/messages/json HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 8\r\n\r\n";
  for (const auto& [request, status] :
       {std::pair<std::string, int>{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"nonsense\r\n\r\n", 400},
        {old_version, 426}}) {
    client one{net.server.port()};
    one.send_bytes(request);
    CHECK(one.read_answer() == status);
    one.socket().shut_down();
    CHECK(one.socket().closed_by_peer());
  }
  client too_long{net.server.port()};
  too_long.send_bytes("GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x'));
  CHECK(too_long.read_answer() == 400);
  CHECK(eventually([&] { return net.server.counters().failed == 3; }));
}

TEST_CASE("another path, or a name that is none, is refused as Zeek does") {
  serving_node net;
  for (const auto& [target, fields, code, context] :
       {std::array{"/v2/x", "", "invalid_uri", "Invalid URI - use /v1/messages/json"},
        std::array{"/v1/messages/json?a=1", "", "invalid_uri",
                   "Invalid URI - use /v1/messages/json"},
        std::array{"/v1/messages/json", "X-Application-Name: bad name!\r\n",
                   "invalid_application_name", "Invalid X-Application-Name"}}) {
    client one{net.server.port()};
    REQUIRE(one.upgrade(fields, target) == 101);
    CHECK(one.read_text() == error_message({code, context}));
    CHECK(one.read_close() == std::pair{1008U, std::string{context}});
  }
}

TEST_CASE("subscriptions that are none end the connection, and events that are none do not") {
  serving_node net;
  client dead{net.server.port()};
  REQUIRE(dead.upgrade() == 101);
  dead.send("{}");
  CHECK(dead.read_text() ==
        error_message({"deserialization_failed", "subscriptions not an array"}));
  CHECK(dead.read_close().first == 1008);
  auto one = net.join();
  for (const auto* text : {"", "nonsense", "[]", R"({"topic":"/in/x"})"}) {
    one.send(text);
    CHECK(one.read_text() ==
          error_message({"deserialization_failed", "failed to decode JSON object"}));
  }
  one.send(event_text("/in/x", "after"), client::binary);
  CHECK(net.events.get_for(patience));
  CHECK(net.server.counters().malformed == 5);
}

TEST_CASE("frames that are none end the connection, and nothing else") {
  serving_node net{{.max_message_bytes = 100'000}};
  auto bystander = net.join();
  auto bad_text = net.join();
  bad_text.send("\xff\xfe");
  CHECK(bad_text.read_close().first == 1007);
  auto too_long = net.join();
  too_long.send(std::string(100'001, 'x'));
  CHECK(too_long.read_close().first == 1009);
  auto announced = net.join(); // an exabyte
  announced.send_bytes({"\x81\xff\x0f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", 14});
  CHECK(announced.read_close().first == 1009);
  auto not_masked = net.join();
  not_masked.send_bytes({"\x81\x02[]", 4});
  CHECK(not_masked.read_close().first == 1002);
  auto reserved = net.join();
  reserved.send_bytes(client::frame(3, "x"));
  CHECK(reserved.read_close().first == 1002);
  CHECK(eventually([&] { return net.server.counters().bad_frames == 5; }));
  // In fragments, and with a ping between them, a message is one.
  const auto text = event_text("/in/x", "in_pieces");
  bystander.send_bytes(client::frame(client::text, text.substr(0, 10), false) +
                       client::frame(client::ping, "?") + client::frame(0, text.substr(10)));
  CHECK(net.events.get_for(patience));
}

TEST_CASE("a client that does not answer pings is cut off") {
  serving_node net{{.ping_interval = 50ms}};
  client silent{net.server.port()};
  REQUIRE(silent.upgrade() == 101);
  REQUIRE(silent.send("[]"));
  std::optional<test::websocket_frame> last;
  while (auto next = silent.read_any()) // the pings are not answered
    last = std::move(next);
  REQUIRE(last);
  CHECK(last->kind == client::close);
  CHECK(last->code() == 1011);
  CHECK(last->reason() == "Ping timeout");
  CHECK(net.server.counters().timed_out == 1);
}

TEST_CASE("a connection without an upgrade does not stay") {
  serving_node net{{.handshake_timeout = 50ms}};
  client silent{net.server.port()};
  CHECK(silent.socket().closed_by_peer());
  CHECK(eventually([&] { return net.server.counters().failed == 1; }));
}

TEST_CASE("one client more than there may be gets an answer") {
  serving_node net{{.max_clients = 2}};
  auto one = net.join();
  {
    auto two = net.join();
    client three{net.server.port()};
    CHECK(three.upgrade() == 503);
  }
  CHECK(eventually([&] { return net.server.counters().clients == 1; }));
  auto again = net.join();
  CHECK(net.server.counters().refused == 1);
}

TEST_CASE("a client that does not read loses messages, and no other client does") {
  constexpr std::size_t messages = 3'000;
  serving_node net{
      {.queue = {.policy = overflow_policy::drop_oldest, .capacity_messages = 100'000}}};
  serving_node small{{.queue = {.policy = overflow_policy::drop_oldest, .capacity_messages = 100}}};
  auto reads = net.join(R"(["/out/"])");
  client stuck{small.server.port(), 4096};
  REQUIRE(stuck.upgrade() == 101);
  REQUIRE(stuck.send(R"(["/out/"])"));
  REQUIRE(stuck.read_text().find(R"("type":"ack")") != std::string::npos);
  const auto event = zeek::make_event("e", {data{std::string(2'000, 'x')}});
  for (std::size_t i = 0; i < messages; ++i) {
    CHECK(net.node.publish("/out/x", event) == publish_result::taken);
    CHECK(small.node.publish("/out/x", event) != publish_result::would_block);
  }
  for (std::size_t i = 0; i < messages; ++i)
    REQUIRE(name_in(reads.read_text()) == "e");
  CHECK(net.server.counters().events_sent == messages);
  // All that was published is accounted for: sent, or dropped here or by the link.
  CHECK(small.node.drain(patience) == 0);
  stuck.socket().close();
  CHECK(eventually([&] { return small.server.counters().clients == 0; }));
  const auto all = small.server.counters();
  const auto by_link = small.node.counters().links.dropped();
  CHECK(all.dropped + by_link > 0);
  CHECK(all.events_sent + all.dropped + all.unsent + by_link == messages);
}

TEST_CASE("with the policy disconnect a client learns that it has missed something") {
  serving_node net{{.queue = {.policy = overflow_policy::disconnect, .capacity_messages = 100}}};
  client stuck{net.server.port(), 4096};
  REQUIRE(stuck.upgrade() == 101);
  REQUIRE(stuck.send(R"(["/out/"])"));
  REQUIRE(stuck.read_text().find(R"("type":"ack")") != std::string::npos);
  const auto event = zeek::make_event("e", {data{std::string(20'000, 'x')}});
  for (std::size_t i = 0; i < 1'000; ++i)
    (void)net.node.publish("/out/x", event);
  CHECK(eventually([&] { return net.node.peers().empty(); }));
}

TEST_CASE("a client that floods and does not read is held back") {
  serving_node net;
  auto flood = net.join();
  const auto bad = client::frame(client::text, "nonsense");
  std::string many;
  for (int i = 0; i < 10'000; ++i)
    many += bad;
  // The server answers each with an error; once the client takes none, the server stops reading.
  bool taken = true;
  for (int i = 0; i < 200 && taken; ++i)
    taken = flood.socket().send(std::as_bytes(std::span{many.data(), many.size()}), 500ms);
  CHECK_FALSE(taken);
  CHECK(net.server.counters().clients == 1);
  auto other = net.join();
  other.send(event_text("/in/x", "other"));
  CHECK(net.events.get_for(patience));
}

TEST_CASE("rights are those of the first rule that is for the client") {
  // printf secret | sha256sum
  const std::string secret =
      "sha256:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
  const access_rules rules{{.name = "sensors",
                            .tokens = {secret},
                            .publish = filter{"/in/sensor"},
                            .subscribe = filter{"/out/"},
                            .limits = {.connections = 1}},
                           {.name = "guests", .anonymous = true, .publish = filter{}}};
  serving_node net{{.access = rules}};
  auto guest = net.join(R"(["/out/"])");
  auto sensor = net.join(R"(["/"])", "Authorization: Bearer secret\r\n");
  client second{net.server.port()};
  CHECK(second.upgrade("Authorization: Bearer secret\r\n") == 429);
  client wrong{net.server.port()};
  CHECK(wrong.upgrade("Authorization: Bearer other\r\n") == 401);
  CHECK(wrong.head().find("WWW-Authenticate: Bearer") != std::string::npos);

  guest.send(event_text("/in/sensor", "of_guest"));
  const auto said = guest.read_text();
  CHECK(said.find(R"({"type":"error","code":"denied")") == 0);
  sensor.send(event_text("/in/other", "not_allowed"));
  sensor.send(event_text("/in/sensor", "allowed"));
  const auto received = net.events.get_for(patience);
  REQUIRE(received);
  CHECK(zeek::view_event(get_view(*received))->name() == "allowed");
  std::vector<std::string> names;
  for (const auto& each : net.node.peers())
    names.push_back(each.access);
  CHECK(std::ranges::count(names, "sensors") == 1);
  CHECK(std::ranges::count(names, "guests") == 1);

  // A rule that is another now closes its clients, and no others.
  auto changed = rules;
  changed[1].publish.reset();
  REQUIRE(net.server.set_access(changed));
  CHECK(guest.read_close() == std::pair{1008U, std::string{"access rules have changed"}});
  sensor.send(event_text("/in/sensor", "still_here"));
  CHECK(net.events.get_for(patience));
  CHECK_FALSE(net.server.set_access(access_rules{{.name = "nobody"}}));
}

TEST_CASE("a token may be in a subprotocol or in the query, and origins are looked at") {
  const std::string secret =
      "sha256:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
  serving_node net{{.access = access_rules{{.name = "sensors", .tokens = {secret}}},
                    .allowed_origins = {"https://desk.example.org"}}};
  const auto status = [&](std::string_view fields, std::string_view target = "/v1/messages/json") {
    client one{net.server.port()};
    const auto result = one.upgrade(fields, target);
    CAPTURE(one.head());
    if (fields.find("zeek, bearer") != fields.npos)
      CHECK(one.head().find("Sec-WebSocket-Protocol: zeek\r\n") != std::string::npos);
    return result;
  };
  CHECK(status("") == 401);
  CHECK(status("Sec-WebSocket-Protocol: zeek, bearer.secret\r\n") == 101);
  CHECK(status("Sec-WebSocket-Protocol: bearer.wrong\r\n") == 401);
  CHECK(status("", "/v1/messages/json?token=secret") == 101);
  CHECK(status("", "/v1/messages/json?token=s%65cret") == 101);
  CHECK(status("", "/v1/messages/json?token=wrong") == 401);
  const std::string token = "Authorization: bearer secret\r\n";
  CHECK(status(token + "Origin: https://desk.example.org\r\n") == 101);
  CHECK(status(token + "Origin: http://localhost:1\r\n") == 101); // its own
  CHECK(status(token + "Origin: https://evil.example.org\r\n") == 403);
}

TEST_CASE("clients are told when the server ends, and when the endpoint does") {
  std::optional<client> one;
  {
    serving_node net;
    one.emplace(net.join());
    std::thread reader{[&] {
      CHECK(one->read_close() == std::pair{1001U, std::string{"Terminating"}});
    }};
    { auto gone = std::move(net.server); }
    reader.join();
  }
  serving_node net;
  auto two = net.join();
  net.node.close();
  CHECK(two.read_close().first == 1001);
}

TEST_CASE("options out of range are refused") {
  const auto refused = [](websocket_server_options x) { return !check(x); };
  CHECK(check(websocket_server_options{}));
  CHECK(refused({.address = "http://127.0.0.1:1"}));
  CHECK(refused({.address = "ws://127.0.0.1"}));
  CHECK(refused({.address = "ws://127.0.0.1:70000"}));
  CHECK(refused({.address = "ws://127.0.0.1:1/other"}));
  CHECK(refused({.address = "ws://::1:1"}));
  CHECK(refused({.address = "ws://[a@b]:1"}));
  CHECK(check({.address = "wss://[::1]:1/v1/messages/json"}));
  CHECK(refused({.queue = {.policy = overflow_policy::block}}));
  CHECK(refused({.ping_interval = -1ms}));
  CHECK(refused({.handshake_timeout = 0ms}));
  CHECK(refused({.max_clients = 0}));
  CHECK(refused({.threads = 0}));
  endpoint node;
  const auto without = websocket_server::start(node, {.address = "wss://127.0.0.1:0"});
  REQUIRE_FALSE(without);
  CHECK(without.error() == errc::invalid_argument);
  serving_node net;
  const auto twice = websocket_server::start(
      node, {.address = "ws://127.0.0.1:" + std::to_string(net.server.port())});
  REQUIRE_FALSE(twice);
  CHECK(twice.error() == errc::address_in_use);
}
