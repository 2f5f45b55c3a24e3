// Metrics, health and events over HTTP: what is answered, and that a hostile client costs nothing.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/published.hpp"
#include "support/raw_socket.hpp"

#include <atomic>
#include <thread>

#include <pubsub/metrics/metrics_server.hpp>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

metrics_server serve(const endpoint& ep, const metrics_options& options = {}) {
  auto result = metrics_server::start(ep, "127.0.0.1:0", options);
  REQUIRE(result);
  REQUIRE(result->port() != 0);
  return std::move(*result);
}

bool say(raw_socket& to, std::string_view text) {
  return to.send(std::as_bytes(std::span{text}));
}

/// Reads on until `text` has come; fails the test where it does not. Returns all that came.
std::string read_until(raw_socket& from, std::string_view text) {
  std::string result;
  while (result.find(text) == std::string::npos) {
    const auto byte = from.read(1);
    REQUIRE_MESSAGE(byte.size() == 1, result);
    result += static_cast<char>(byte[0]);
  }
  return result;
}

/// All that comes until the other side ends the stream.
std::string read_all(raw_socket& from) {
  const auto bytes = from.read(std::size_t{1} << 24);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The answer to a request on a connection of its own, which the request asks to close.
std::string ask(std::uint16_t port, const std::string& first_line, const std::string& more = "") {
  auto to = raw_socket::connect(port);
  REQUIRE(say(to, first_line + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + more +
                      "\r\n"));
  return read_all(to);
}

bool is(const std::string& answer, unsigned status) {
  return answer.starts_with("HTTP/1.1 " + std::to_string(status) + " ");
}

std::string body_of(const std::string& answer) {
  return answer.substr(answer.find("\r\n\r\n") + 4);
}

} // namespace

TEST_CASE("each path of the metrics server has its answer") {
  endpoint ep;
  sent(ep.publish("/t", count{1}));
  const auto server = serve(ep);
  const auto metrics = ask(server.port(), "GET /metrics");
  CHECK(is(metrics, 200));
  CHECK(metrics.find("Content-Type: text/plain; version=0.0.4") != std::string::npos);
  CHECK(metrics.find("\npubsub_published_messages_total 1\n") != std::string::npos);
  CHECK(metrics.ends_with("\npubsub_ready 1\n"));
  CHECK(body_of(ask(server.port(), "GET /healthz")) == "ok\n");
  CHECK(body_of(ask(server.port(), "GET /readyz")) == "ready\n");
  CHECK(body_of(ask(server.port(), "GET /status?x=1")).starts_with("{\"schema\":1,"));
  CHECK(body_of(ask(server.port(), "GET /network")) ==
        "{\"id\":\"" + to_string(ep.id()) + "\",\"nodes\":[],\"left_out\":0}");
  const auto page = ask(server.port(), "GET /");
  CHECK(is(page, 200));
  CHECK(page.find("Content-Security-Policy: default-src 'none'") != std::string::npos);
  CHECK(page.find("Access-Control") == std::string::npos);
  CHECK(body_of(page).starts_with("<!doctype html>"));
  CHECK(body_of(page).ends_with("</html>\n"));
}

TEST_CASE("the metrics server tells the status of any node, which it asks for it") {
  chain net{3};
  const auto server = serve(net.front());
  const auto of = [&](const std::string& id) {
    return ask(server.port(), "GET /status?node=" + id);
  };
  const auto far = to_string(net.back().id());
  REQUIRE(eventually([&] { return is(of(far), 200); })); // once it knows a path
  CHECK(body_of(of(far)).starts_with("{\"schema\":1,\"id\":\"" + far + '"'));
  CHECK(is(of(to_string(endpoint_id::random())), 502));
  CHECK(is(of("nobody"), 400));
  std::vector<std::thread> many;
  for (int i = 0; i < 8; ++i)
    many.emplace_back([&] { CHECK(is(of(far), 200)); });
  for (auto& each : many)
    each.join();
}

TEST_CASE("what the metrics server cannot answer it refuses with a reason") {
  endpoint ep;
  const auto server = serve(ep);
  CHECK(is(ask(server.port(), "GET /nothing"), 404));
  const auto post = ask(server.port(), "POST /metrics", "Content-Length: 3\r\n\r\nabc");
  CHECK(is(post, 405));
  CHECK(post.find("Allow: GET, HEAD\r\n") != std::string::npos);
  CHECK(is(ask(server.port(), "GET /metrics", "Content-Length: 3\r\n"), 400));
  CHECK(is(ask(server.port(), "GET /metrics", "X: " + std::string(20'000, 'x') + "\r\n"), 431));
  CHECK(is(ask(server.port(), "GET /" + std::string(20'000, 'x')), 431));
  CHECK(is(ask(server.port(), "\x16\x03\x01"), 400));
  const auto head = ask(server.port(), "HEAD /healthz");
  CHECK(is(head, 200));
  CHECK(head.find("Content-Length: 3\r\n") != std::string::npos);
  CHECK(body_of(head).empty());
}

TEST_CASE("a name that is not this host's is refused on a loopback address") {
  endpoint ep;
  const auto server = serve(ep);
  const auto with_host = [&](const std::string& host) {
    auto to = raw_socket::connect(server.port());
    REQUIRE(say(to, "GET /healthz HTTP/1.1\r\nConnection: close\r\nHost: " + host + "\r\n\r\n"));
    return read_all(to);
  };
  for (const auto* ours : {"localhost", "localhost:9464", "127.0.0.1:80", "[::1]:9464"})
    CHECK(is(with_host(ours), 200));
  for (const auto* other : {"evil.example.org", "127.0.0.1.evil.example.org:9464", ""})
    CHECK(is(with_host(other), 421));
}

TEST_CASE("many requests go over one connection, also where they come at once") {
  endpoint ep;
  const auto server = serve(ep);
  auto to = raw_socket::connect(server.port());
  const std::string one = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  std::string many;
  for (int i = 0; i < 50; ++i)
    many += one;
  REQUIRE(say(to, many));
  for (int i = 0; i < 50; ++i)
    CHECK(is(read_until(to, "\r\n\r\nok\n"), 200));
}

TEST_CASE("an endpoint is ready with one of the peers that it connects to") {
  endpoint relay;
  endpoint ep;
  const auto server = serve(ep);
  const auto away = unused_port();
  REQUIRE(ep.peer_async(local_uri(away), {.retry = 1h}));
  REQUIRE(eventually([&] { return is(ask(server.port(), "GET /readyz"), 503); }));
  CHECK(body_of(ask(server.port(), "GET /readyz")) ==
        "none of the peers it connects to is connected: 127.0.0.1:" + std::to_string(away) +
            " is not reached yet\n");
  CHECK(is(ask(server.port(), "GET /healthz"), 200));
  const auto uri = listen(relay);
  REQUIRE(ep.peer(uri));
  CHECK(eventually([&] { return is(ask(server.port(), "GET /readyz"), 200); }));
  relay.close();
  CHECK(eventually([&] { return is(ask(server.port(), "GET /readyz"), 503); }));
}

TEST_CASE("an endpoint is overloaded while more than half of its links are full") {
  endpoint_options small;
  small.link_queue = {overflow_policy::drop_newest, 3, 1 << 20};
  endpoint ep{small};
  endpoint slow;
  join(slow, ep);
  std::vector<subscriber> held; // a full queue of the reader holds the link's queue up
  held.push_back(slow.make_subscriber({"/t"}, {overflow_policy::block, 1, 1}));
  REQUIRE(ep.wait_for_subscribers("/t", 1, patience));
  CHECK_FALSE(why_not_ready(ep));
  const std::string big(100'000, 'x');
  REQUIRE(eventually([&] {
    (void)ep.try_publish("/t", big);
    return ep.peers().at(0).counters.queued >= 3;
  }));
  CHECK(why_not_ready(ep) == "overloaded: the queues of 1 of 1 links are full");
  held.clear();
  CHECK(eventually([&] { return !why_not_ready(ep); }));
}

TEST_CASE("the program that has the endpoint may say what ready means") {
  endpoint ep;
  std::atomic<int> mood = 0;
  metrics_options options;
  options.readiness = [&](const endpoint&) -> std::optional<std::string> {
    if (mood == 2)
      throw std::runtime_error{"no mood"};
    return mood == 1 ? std::optional<std::string>{"not today"} : std::nullopt;
  };
  const auto server = serve(ep, options);
  CHECK(is(ask(server.port(), "GET /readyz"), 200));
  mood = 1;
  REQUIRE(eventually([&] { return is(ask(server.port(), "GET /readyz"), 503); }));
  CHECK(body_of(ask(server.port(), "GET /readyz")) == "not today\n");
  CHECK(eventually([&] { return ask(server.port(), "GET /metrics").ends_with("_ready 0\n"); }));
  mood = 2;
  CHECK(eventually([&] {
    return body_of(ask(server.port(), "GET /readyz")) == "the check itself failed: no mood\n";
  }));
}

TEST_CASE("the program that has the endpoint may add metrics, and to fail at it does no harm") {
  const endpoint ep;
  std::atomic<bool> fails = false;
  metrics_options options;
  options.more_metrics = [&]() -> std::string {
    if (fails)
      throw std::runtime_error{"no"};
    return "own_total 7\n";
  };
  const auto server = serve(ep, options);
  CHECK(ask(server.port(), "GET /metrics").ends_with("_ready 1\nown_total 7\n"));
  fails = true;
  CHECK(eventually([&] { return ask(server.port(), "GET /metrics").ends_with("_ready 1\n"); }));
}

TEST_CASE("events tell status, readiness and network at once, and what has changed later") {
  endpoint ep;
  const auto server = serve(ep);
  auto to = raw_socket::connect(server.port());
  REQUIRE(say(to, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  const auto first = read_until(to, "event: network\ndata: {\"id\":");
  CHECK(is(first, 200));
  CHECK(first.find("Content-Type: text/event-stream\r\n") != std::string::npos);
  CHECK(first.find("\r\n\r\nevent: status\ndata: {\"schema\":1,") != std::string::npos);
  CHECK(first.find("\n\nevent: ready\ndata: {\"ready\":true,\"reason\":null}\n\n") !=
        std::string::npos);
  const auto second = read_until(to, "event: ready\n");
  CHECK(second.find("event: status\n") != std::string::npos);
  CHECK(second.find("event: network\n") == std::string::npos); // the same as before
  endpoint other;
  join(other, ep);
  CHECK(eventually([&] { return ep.peers().size() == 1; }));
  read_until(to, "\"client\":true");
}

TEST_CASE("connections to the metrics server are bounded: the one idle for longest makes room") {
  endpoint ep;
  metrics_options options;
  options.max_connections = 3;
  options.max_watchers = 1;
  const auto server = serve(ep, options);
  auto watcher = raw_socket::connect(server.port());
  REQUIRE(say(watcher, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  read_until(watcher, "event: status\n");
  auto first = raw_socket::connect(server.port());
  REQUIRE(say(first, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  CHECK(is(read_all(first), 503)); // one watches already
  std::vector<raw_socket> silent;
  for (int i = 0; i < 20; ++i)
    silent.push_back(raw_socket::connect(server.port()));
  CHECK(silent[0].closed_by_peer());
  CHECK(is(ask(server.port(), "GET /metrics"), 200));
  read_until(watcher, "event: status\n"); // it has kept its place
}

TEST_CASE("whoever sends half a request, or does not read, is cut") {
  endpoint ep;
  metrics_options options;
  options.request_timeout = 100ms;
  const auto server = serve(ep, options);
  auto half = raw_socket::connect(server.port());
  REQUIRE(say(half, "GET /metrics HTTP/1.1\r\nHost: loc"));
  CHECK(half.closed_by_peer());
  auto deaf = raw_socket::connect(server.port(), 4096);
  std::string many;
  for (int i = 0; i < 100; ++i)
    many += "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
  CHECK(eventually([&] { return !deaf.send(std::as_bytes(std::span{many}), 1s); }));
  CHECK(is(ask(server.port(), "GET /healthz"), 200));
}

TEST_CASE("a metrics server outlives its endpoint, and ends with connections open") {
  std::optional<endpoint> ep{std::in_place};
  std::optional<metrics_server> server{serve(*ep)};
  const auto port = server->port();
  auto watcher = raw_socket::connect(port);
  REQUIRE(say(watcher, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  read_until(watcher, "event: status\n");
  ep.reset();
  CHECK(is(ask(port, "GET /metrics"), 200));
  auto idle = raw_socket::connect(port);
  server.reset();
  CHECK(watcher.closed_by_peer());
  CHECK(idle.closed_by_peer());
}

TEST_CASE("where a metrics server cannot listen it says why") {
  endpoint ep;
  const raw_listener taken;
  const auto why = [&](const std::string& address) {
    const auto server = metrics_server::start(ep, address);
    REQUIRE_FALSE(server);
    return server.error();
  };
  CHECK(why("127.0.0.1:" + std::to_string(taken.port())) == errc::address_in_use);
  CHECK(why("127.0.0.1:" + std::to_string(taken.port())).context().find("in use") !=
        std::string::npos);
  for (const auto* wrong : {"localhost", "localhost:", "localhost:99999", "localhost:1x", "::1:80"})
    CHECK(why(wrong) == errc::invalid_argument);
  CHECK(why("no.such.host.invalid:0") == errc::cannot_listen);
  for (const auto* right : {"*:0", ":0", "http://127.0.0.1:0/"})
    CHECK(metrics_server::start(ep, right));
}
