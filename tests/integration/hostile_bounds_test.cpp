// What peers that misbehave cannot do: stall the others, or take memory beyond the bounds.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/process_usage.hpp"
#include "support/published.hpp"
#include "support/raw_socket.hpp"
#include "wire/broker/envelope.hpp"

#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t mebibyte = 1024 * 1024;

/// The ids of hostile peers: larger than ours, so that all handshakes go the same way.
endpoint_id hostile_id(std::uint8_t number) {
  endpoint_id::bytes_type bytes;
  bytes.fill(0xff);
  bytes.back() = number;
  return endpoint_id{bytes};
}

buffer hello_of(const endpoint_id& id) {
  auto frame = from_hex("00000017 06 5a45454b ffffffffffffffffffffffffffffffff 0101");
  std::memcpy(frame.data() + 9, id.bytes().data(), id.bytes().size());
  return frame;
}

/// Has finished its handshake and wants nothing.
raw_socket peered(endpoint& ep, std::uint16_t port, std::uint8_t number) {
  auto wire = raw_socket::connect(port);
  CHECK(wire.send(hello_of(hostile_id(number))));
  for (int i = 0; i < 3; ++i)
    CHECK_FALSE(wire.read_frame().empty()); // probe, version_select, syn
  CHECK(wire.send("00000002 0b00"));
  CHECK(wire.read_frame() == from_hex("00000001 0c"));
  CHECK(ep.wait_for_peer(hostile_id(number), patience));
  return wire;
}

buffer data_frame(std::uint8_t sender, std::string_view topic, const buffer& value) {
  buffer out(wire::data_frame_bytes(topic.size(), value.size()));
  std::copy(value.begin(), value.end(),
            wire::write_data_header(out.data(), hostile_id(sender), topic, value.size()));
  return out;
}

/// A vector in a vector in a vector, and so on.
buffer nested(std::size_t depth) {
  buffer out;
  for (; depth > 0; --depth) {
    out.push_back(std::byte{0x0e});
    out.push_back(std::byte{1});
  }
  out.push_back(std::byte{0});
  return out;
}

/// A good peer that publishes `/good`, and the endpoint all others attack.
struct fixture {
  explicit fixture(endpoint_options options = {}) : ep(std::move(options)) {
    REQUIRE(good.peer(local_uri(port), {.retry = 10ms, .timeout = patience, .max_retry = 100ms}));
    REQUIRE(good.wait_for_subscribers("/good", 1, patience));
    before = resident_bytes();
  }
  /// What the good peer publishes now arrives, all of it and in order.
  void check_good_peer() {
    constexpr std::uint64_t messages = 5000;
    std::thread publisher{[&] {
      for (std::uint64_t n = 0; n < messages; ++n)
        sent(good.publish("/good", count{n}));
    }};
    CHECK(receives_in_order(sub, messages));
    publisher.join();
  }
  void check_memory(std::size_t bound_bytes) const {
    if (memory_is_ours)
      CHECK(resident_bytes() < before + bound_bytes);
  }

  endpoint ep;
  endpoint good;
  std::uint16_t port = *ep.listen("tcp://127.0.0.1:0");
  subscriber sub = ep.make_subscriber({"/good"});
  std::size_t before = 0;
};

} // namespace

TEST_CASE("a length of two gigabytes takes no memory and ends that link alone") {
  fixture f;
  for (const auto* length : {"7fffffff", "7ffffffb 0a", "80000000 06", "ffffffff"}) {
    auto fresh = raw_socket::connect(f.port);
    CHECK(fresh.send(length));
    CHECK(fresh.closed_by_peer());
    auto wire = peered(f.ep, f.port, 1);
    CHECK(wire.send(length));
    CHECK(wire.closed_by_peer());
    CHECK(eventually([&] { return f.ep.peers().size() == 1; }));
  }
  f.check_good_peer();
  f.check_memory(32 * mebibyte);
}

TEST_CASE("a frame that was announced and does not come takes no memory") {
  fixture f;
  std::vector<raw_socket> waiting;
  for (std::uint8_t n = 0; n < 20; ++n) {
    waiting.push_back(peered(f.ep, f.port, n));
    CHECK(waiting.back().send("03ffffff 00112233")); // 64 MiB but for one byte
    waiting.push_back(raw_socket::connect(f.port));
    CHECK(waiting.back().send("00ffffff 0a")); // 16 MiB but for one byte
  }
  f.check_good_peer();
  f.check_memory(64 * mebibyte); // where all were believed it would be 1.6 GiB
  CHECK(f.ep.peers().size() == 21);
}

TEST_CASE("topics of 65,535 bytes arrive, and leave nothing behind") {
  fixture f;
  auto evil = f.ep.make_subscriber(
      {"/evil"}, {.policy = overflow_policy::drop_newest, .capacity_messages = 16});
  auto wire = peered(f.ep, f.port, 1);
  const auto value = from_hex("020000000000000001");
  for (int n = 0; n < 4000; ++n) {
    auto topic = "/evil/" + std::to_string(n);
    topic.resize(65'535, 'x');
    CHECK(wire.send(data_frame(1, topic, value)));
  }
  CHECK(eventually([&] { return evil.counters().offered == 4000; }));
  const auto first = evil.get_for(patience);
  REQUIRE(first);
  CHECK(get_topic(*first).size() == 65'535);
  f.check_good_peer();
  f.check_memory(64 * mebibyte);
}

TEST_CASE("deeply nested values are refused to their consumer and cost nobody else anything") {
  fixture f;
  auto evil = f.ep.make_subscriber({"/evil"});
  auto wire = peered(f.ep, f.port, 1);
  for (const std::size_t depth : {65, 513, 10'000, 2'000'000})
    CHECK(wire.send(data_frame(1, "/evil", nested(depth))));
  CHECK(wire.send(data_frame(1, "/evil", nested(64))));
  const auto last = evil.get_for(patience);
  REQUIRE(last);
  CHECK(get_view(*last).bytes().size() == 129);
  CHECK(evil.counters().decode_errors == 4);
  f.check_good_peer();
  CHECK(f.ep.peers().size() == 2);
}

TEST_CASE("a handshake and messages that come byte by byte are as good as any") {
  fixture f;
  auto evil = f.ep.make_subscriber({"/evil"});
  auto wire = raw_socket::connect(f.port);
  const auto send_slowly = [&](const buffer& bytes) {
    for (const auto& each : bytes)
      CHECK(wire.send(std::span{&each, 1}));
  };
  send_slowly(hello_of(hostile_id(1)));
  for (int i = 0; i < 3; ++i)
    CHECK_FALSE(wire.read_frame().empty());
  send_slowly(from_hex("00000002 0b00"));
  CHECK(wire.read_frame() == from_hex("00000001 0c"));
  send_slowly(data_frame(1, "/evil", from_hex("020000000000000007")));
  CHECK(next_number(evil) == 7);
  f.check_good_peer();
}

TEST_CASE("all kinds of hostile peers at once stall nobody") {
  endpoint_options options;
  options.handshake_timeout = 200ms;
  fixture f{options};
  std::atomic<bool> over = false;
  const std::vector<std::string> attacks{"474554202f20485454502f312e310d0a0d0a",
                                         "00000017 06 5a45",
                                         "00000000",
                                         "7fffffff",
                                         "03ffffff",
                                         "00000005 07 00000000",
                                         "0000000a 0a ffffffff0f 00000000",
                                         "00000001 0c",
                                         "",
                                         "16030100c8010000c40303"};
  std::vector<std::thread> attackers;
  for (std::size_t i = 0; i < 2; ++i)
    attackers.emplace_back([&, i] {
      std::vector<raw_socket> open;
      for (auto n = i; !over; n += 2) {
        open.push_back(raw_socket::connect(f.port));
        open.back().send(attacks[n % attacks.size()]);
        if (open.size() > 16)
          open.erase(open.begin());
      }
    });
  f.check_good_peer();
  over = true;
  for (auto& each : attackers)
    each.join();
  CHECK(eventually([&] { return f.ep.peers().size() == 1; }));
  f.check_memory(64 * mebibyte);
}
