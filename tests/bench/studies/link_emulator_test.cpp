// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <cerrno>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "studies/emulator/link_emulator.hpp"
#include "support/rates.hpp"
#include "support/raw_socket.hpp"

using namespace std::chrono_literals;
using emulator::link_emulator;
using emulator::link_settings;
using pubsub::test::buffer;
using pubsub::test::eventually;
using pubsub::test::mb_per_s;
using pubsub::test::patience;
using pubsub::test::raw_listener;
using pubsub::test::raw_socket;

namespace {

using clock = std::chrono::steady_clock;

std::string at(std::uint16_t port) {
  return "127.0.0.1:" + std::to_string(port);
}

// A link and who listens at its end; nothing is taken off, so it is never faster than it says.
struct linked {
  explicit linked(const link_settings& settings)
      : link{"127.0.0.1:0", at(listener.port()), settings, emulator::own_costs{}} {}

  struct connection {
    raw_socket client;
    raw_socket server;
  };
  connection connect() {
    auto client = raw_socket::connect(link.port());
    auto server = listener.accept();
    REQUIRE(server);
    return {std::move(client), std::move(*server)};
  }

  raw_listener listener;
  link_emulator link;
};

buffer random_bytes(std::size_t size, unsigned seed) {
  std::mt19937_64 dice{seed};
  buffer bytes(size);
  for (auto& x : bytes)
    x = static_cast<std::byte>(dice());
  return bytes;
}

// Sends in a thread of its own what nobody can take at once.
class sending {
public:
  sending(raw_socket& to, const buffer& bytes)
      : thread_{[&to, &bytes, this] { whole_ = to.send(bytes); }} {}
  ~sending() {
    if (thread_.joinable())
      thread_.join();
  }
  bool whole() {
    thread_.join();
    return whole_;
  }

private:
  bool whole_ = false;
  std::thread thread_;
};

// A reset is an error, not an end of the stream.
bool is_reset(raw_socket& x) {
  pollfd one{x.fd(), POLLIN, 0};
  std::byte piece;
  return ::poll(&one, 1, static_cast<int>(std::chrono::milliseconds{patience}.count())) == 1 &&
         ::recv(x.fd(), &piece, 1, 0) < 0 && errno == ECONNRESET;
}

void reset(raw_socket& x) {
  const linger at_once{1, 0};
  ::setsockopt(x.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  x.close();
}

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

} // namespace

TEST_CASE("megabytes pass a link both ways at once and arrive as they were sent") {
  for (const auto& settings :
       {link_settings{}, link_settings{2ms, 0, 0}, link_settings{100us, 800e6, 400e6}}) {
    linked world{settings};
    auto [client, server] = world.connect();
    const auto there = random_bytes(5'000'000, 1);
    const auto back = random_bytes(3'000'001, 2);
    buffer came_there;
    {
      sending up{client, there};
      sending down{server, back};
      std::thread reads{[&, &far = server] { came_there = far.read(there.size()); }};
      const auto came_back = client.read(back.size());
      reads.join();
      CHECK(came_back == back);
      CHECK((up.whole() && down.whole()));
    }
    CHECK(came_there == there);
    CHECK(eventually([&] { return world.link.counters().up_bytes == there.size(); }));
    CHECK(world.link.counters().down_bytes == back.size());
    CHECK(world.link.counters().up_held_bytes + world.link.counters().down_held_bytes == 0);
  }
}

TEST_CASE("the end of one direction follows its bytes, and the other direction goes on") {
  linked world{{5ms, mb_per_s, 0}};
  auto [client, server] = world.connect();
  const auto bytes = random_bytes(100'000, 3);
  REQUIRE(client.send(bytes));
  client.shut_down();
  CHECK(server.read(bytes.size() + 1) == bytes);
  CHECK(server.closed_by_peer());
  REQUIRE(server.send(bytes));
  CHECK(client.read(bytes.size()) == bytes);
  CHECK(world.link.counters().open == 1);
  server.close();
  CHECK(client.closed_by_peer());
  CHECK(eventually([&] { return world.link.counters().open == 0; }));
}

TEST_CASE("a reset follows what came before it, and is a reset at the other end, too") {
  for (const bool from_client : {true, false}) {
    linked world{{10ms, mb_per_s, mb_per_s}};
    auto [client, server] = world.connect();
    auto& resets = from_client ? client : server;
    auto& hears = from_client ? server : client;
    const auto bytes = random_bytes(50'000, 4);
    REQUIRE(resets.send(bytes));
    REQUIRE(eventually([&] { // the link has it all: a reset takes it from nowhere else
      const auto now = world.link.counters();
      return now.up_held_bytes + now.down_held_bytes + now.up_bytes + now.down_bytes ==
             bytes.size();
    }));
    reset(resets);
    CHECK(hears.read(bytes.size()) == bytes);
    CHECK(is_reset(hears));
    CHECK(eventually([&] { return world.link.counters().open == 0; }));
  }
}

TEST_CASE("who closes while the other one sends on resets it, as without a link") {
  linked world{{1ms, 0, 0}};
  auto [client, server] = world.connect();
  client.close();
  CHECK(server.closed_by_peer());
  const auto bytes = random_bytes(1000, 5);
  CHECK(eventually([&, &far = server] { return !far.send(bytes); }));
  CHECK(eventually([&] { return world.link.counters().open == 0; }));
}

TEST_CASE("nobody listens at the end of the link: the connection is reset") {
  auto closed = at(pubsub::test::unused_port());
  link_emulator link{"127.0.0.1:0", closed, {4ms, 0, 0}, emulator::own_costs{}};
  auto client = raw_socket::connect(link.port());
  CHECK(is_reset(client));
  CHECK(eventually([&] { return link.counters().open == 0; }));
}

TEST_CASE("who does not read holds the sender back, and others pass") {
  constexpr double rate = 100 * mb_per_s;
  linked world{{1ms, rate, rate}};
  const auto room = emulator::link_room_bytes(rate, 1ms);
  auto [client, server] = world.connect();
  const auto piece = random_bytes(1'000'000, 6);
  std::size_t sent = 0;
  // The kernel's buffers take some megabytes at most, too.
  while (sent < 64'000'000) {
    const auto n = ::send(client.fd(), piece.data() + sent % piece.size(),
                          piece.size() - sent % piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    pollfd one{client.fd(), POLLOUT, 0};
    if (n < 0 && ::poll(&one, 1, 500) == 0)
      break;
    sent += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
    CHECK(world.link.counters().up_held_bytes <= 2 * room);
  }
  CHECK(sent > room);
  CHECK(sent < 40'000'000);
  auto [other_client, other_server] = world.connect();
  REQUIRE(other_client.send(piece));
  CHECK(other_server.read(piece.size()) == piece);
  for (std::size_t got = 0; got < sent; got += piece.size()) {
    const auto expected = std::min(piece.size(), sent - got);
    const auto came = server.read(expected);
    REQUIRE(std::equal(came.begin(), came.end(), piece.begin(), piece.begin() + expected));
  }
}

TEST_CASE("a link is not faster than it says") {
  linked world{{30ms, mb_per_s, 2 * mb_per_s}};
  auto begin = clock::now();
  auto [client, server] = world.connect();
  const auto ping = random_bytes(24, 7);
  const auto exchange = [&, &near = client, &far = server] {
    REQUIRE(near.send(ping));
    REQUIRE(far.read(ping.size()) == ping);
    REQUIRE(far.send(ping));
    REQUIRE(near.read(ping.size()) == ping);
  };
  exchange();
  CHECK(seconds_since(begin) >= 0.060); // the first round trip makes the connection
  begin = clock::now();
  exchange();
  CHECK(seconds_since(begin) >= 0.030);

  const auto bytes = random_bytes(1'000'000, 8);
  begin = clock::now();
  sending up{client, bytes};
  CHECK(server.read(bytes.size()) == bytes);
  CHECK(seconds_since(begin) >= 1.015);
  begin = clock::now();
  sending down{server, bytes};
  CHECK(client.read(bytes.size()) == bytes);
  CHECK(seconds_since(begin) >= 0.515);
}

TEST_CASE("all connections together have the rate of the link") {
  linked world{{1ms, 0, 2 * mb_per_s}};
  auto one = world.connect();
  auto two = world.connect();
  const auto bytes = random_bytes(500'000, 9);
  const auto begin = clock::now();
  sending first{one.server, bytes};
  sending second{two.server, bytes};
  CHECK(one.client.read(bytes.size()) == bytes);
  CHECK(two.client.read(bytes.size()) == bytes);
  CHECK(seconds_since(begin) >= 0.5);
}

TEST_CASE("a link that changes treats anew what waits, and keeps its order") {
  linked world{{2ms, mb_per_s / 50, 0}};
  auto [client, server] = world.connect();
  const auto bytes = random_bytes(2'000'000, 10); // a hundred seconds, as it is
  sending up{client, bytes};
  REQUIRE(eventually([&] { return world.link.counters().up_bytes > 0; }));
  world.link.change({10ms, 50 * mb_per_s, 0});
  REQUIRE(eventually([&] { return world.link.counters().up_bytes > bytes.size() / 4; }));
  world.link.change({0ms, 0, 0});
  CHECK(server.read(bytes.size()) == bytes);
  CHECK(up.whole());
}

TEST_CASE("connections come and go in numbers, and none is left") {
  linked world{{1ms, 0, 0}};
  for (int turn = 0; turn < 5; ++turn) {
    std::vector<linked::connection> all;
    for (int i = 0; i < 20; ++i)
      all.push_back(world.connect());
    const auto ping = random_bytes(100, 11);
    for (auto& x : all)
      REQUIRE(x.client.send(ping));
    for (auto& x : all)
      REQUIRE(x.server.read(ping.size()) == ping);
  }
  CHECK(eventually([&] { return world.link.counters().open == 0; }));
  CHECK(world.link.counters().connections == 100);
}

TEST_CASE("the end of a link resets its connections, whatever is under way") {
  std::optional<linked> world{std::in_place, link_settings{1s, mb_per_s, mb_per_s}};
  auto client = raw_socket::connect(world->link.port());
  REQUIRE(eventually([&] { return world->link.counters().open == 1; }));
  const auto begin = clock::now();
  world.reset();
  CHECK(seconds_since(begin) < 0.9);
  CHECK(is_reset(client));
}

TEST_CASE("addresses that cannot be used are said") {
  CHECK_THROWS_AS((link_emulator{"127.0.0.1", "127.0.0.1:1", {}, {}}), std::runtime_error);
  CHECK_THROWS_AS((link_emulator{"127.0.0.1:0", "127.0.0.1:many", {}, {}}), std::runtime_error);
  raw_listener taken;
  CHECK_THROWS_AS((link_emulator{at(taken.port()), "127.0.0.1:1", {}, {}}), std::system_error);
}
