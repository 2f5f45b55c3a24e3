// Peers that misbehave: garbage, silence, floods. The host program is never harmed.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/everything.hpp"
#include "support/nodes.hpp"
#include "support/published.hpp"
#include "support/raw_socket.hpp"
#include "wire/broker/envelope.hpp"

#include <random>
#include <thread>

#include <sys/resource.h>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

const std::string hello_of_ff = "00000017 06 5a45454b ffffffffffffffffffffffffffffffff 0101";
const endpoint_id id_ff{[] {
  endpoint_id::bytes_type bytes;
  bytes.fill(0xff);
  return bytes;
}()};

/// A raw peer with the id ff.. that has announced the filter in `filter_hex`.
raw_socket peered(endpoint& ep, std::uint16_t port, std::string_view filter_hex,
                  int receive_buffer = 0) {
  auto wire = raw_socket::connect(port, receive_buffer);
  CHECK(wire.send(hello_of_ff));
  for (int i = 0; i < 3; ++i)
    CHECK_FALSE(wire.read_frame().empty()); // probe, version_select, syn
  CHECK(wire.send(wire::make_frame(from_hex("0b" + std::string{filter_hex}))));
  CHECK(wire.read_frame() == from_hex("00000001 0c"));
  CHECK(ep.wait_for_peer(id_ff, patience));
  return wire;
}

std::uint16_t listen_port(endpoint& ep) {
  return *ep.listen("tcp://127.0.0.1:0");
}

/// The next connection, once we have said hello and were sent hello, version_select and syn.
raw_socket accept_up_to_syn(raw_listener& at) {
  auto wire = at.accept();
  REQUIRE(wire);
  CHECK(wire->send(hello_of_ff));
  for (int i = 0; i < 3; ++i)
    CHECK_FALSE(wire->read_frame().empty());
  return std::move(*wire);
}

} // namespace

TEST_CASE("garbage, half a frame and silence end at the latest with the handshake's time") {
  endpoint_options options;
  options.handshake_timeout = 100ms;
  endpoint ep{options};
  const auto port = listen_port(ep);
  auto garbage = raw_socket::connect(port);
  CHECK(garbage.send("474554202f20485454502f312e310d0a0d0a")); // GET / HTTP/1.1
  auto half = raw_socket::connect(port);
  CHECK(half.send("00000017 06 5a45"));
  auto silent = raw_socket::connect(port);
  auto stalled = raw_socket::connect(port);
  CHECK(stalled.send(hello_of_ff));
  for (auto* each : {&garbage, &half, &silent, &stalled})
    CHECK(each->closed_by_peer());
  CHECK(ep.peers().empty());
  endpoint good; // on a loaded machine the time may be over before it has begun
  CHECK(good.peer(local_uri(port), {.retry = 10ms, .timeout = patience, .max_retry = 100ms}));
}

TEST_CASE("a peer that never answers is given up, and the attempt fails with its reason") {
  endpoint_options options;
  options.handshake_timeout = 50ms;
  endpoint ep{options};
  raw_listener mute;
  const auto result = ep.peer(mute.uri(), {.retry = {}});
  REQUIRE_FALSE(result);
  CHECK(result.error() == errc::peer_timeout);
}

TEST_CASE("random bytes never hurt, before the handshake or after it") {
  endpoint_options options;
  options.handshake_timeout = 2s;
  endpoint ep{options};
  auto sub = ep.make_subscriber({""});
  const auto port = listen_port(ep);
  std::mt19937 engine{11};
  for (int round = 0; round < 60; ++round) {
    auto wire = round % 2 == 0 ? raw_socket::connect(port) : peered(ep, port, "0100");
    buffer junk(1 + engine() % 3000);
    for (auto& each : junk)
      each = static_cast<std::byte>(engine() % 4 == 0 ? engine() : 0);
    wire.send(junk);
    wire.close();
    CHECK(eventually([&] { return ep.peers().empty(); }));
  }
  sent(ep.publish("/t", count{1}));
  CHECK(eventually([&] { return everything(sub).size() > 0; }));
}

TEST_CASE("a frame that is no message is counted, and the peering lives on") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"});
  auto wire = peered(ep, listen_port(ep), "00");
  CHECK(wire.send("0000000a 30313233343536373839")); // too short
  CHECK(wire.send("00000000"));                      // empty: means nothing
  auto frame = [](const endpoint_id& sender, std::string_view hex) {
    const auto value = from_hex(hex);
    buffer out(wire::data_frame_bytes(2, value.size()));
    std::copy(value.begin(), value.end(),
              wire::write_data_header(out.data(), sender, "/t", value.size()));
    return out;
  };
  CHECK(wire.send(frame(ep.id(), "0100")));       // from ourselves
  CHECK(wire.send(frame(endpoint_id{}, "0100"))); // from nobody
  CHECK(wire.send(frame(id_ff, "ff")));           // no value
  CHECK(wire.send(frame(id_ff, "020000000000000007")));
  CHECK(next_number(sub) == 7);
  CHECK(ep.counters().malformed_frames == 3);
  CHECK(sub.counters().decode_errors == 1);
  CHECK(ep.peers().size() == 1);
}

TEST_CASE("a malformed routing update or too long a frame ends the peering with a reason") {
  endpoint_options options;
  options.max_frame_bytes = 1000;
  endpoint ep{options};
  auto events = ep.make_status_subscriber();
  const auto port = listen_port(ep);
  auto wire = peered(ep, port, "00");
  auto update = wire::make_routing_update(id_ff, ep.id(), {"/x"});
  update.back() = update[3] = std::byte{0x7f};
  update.resize(4 + 0x7f);
  CHECK(wire.send(update));
  CHECK(wire.closed_by_peer());
  CHECK(next_error(events)->failure() == errc::invalid_message);
  wire = peered(ep, port, "00");
  CHECK(wire.send("000003e9 00"));
  CHECK(wire.closed_by_peer());
  CHECK(next_error(events)->failure() == errc::limit_exceeded);
}

TEST_CASE("a hook of the log may ask the endpoint about its peers") {
  endpoint ep;
  std::atomic<bool> answered{false};
  set_log_hook([&](log_level, std::string_view) {
    ep.peers();
    answered = true;
  });
  auto wire = peered(ep, listen_port(ep), "00");
  CHECK(wire.send("7fffffff"));
  CHECK(eventually([&] { return answered.load(); }));
  CHECK(wire.closed_by_peer());
  set_log_hook({});
}

TEST_CASE("a stranger's handshake of millions of bytes is refused before it is read") {
  endpoint ep;
  const auto port = listen_port(ep);
  auto wire = raw_socket::connect(port);
  CHECK(wire.send(hello_of_ff));
  for (int i = 0; i < 3; ++i)
    CHECK_FALSE(wire.read_frame().empty()); // probe, version_select, syn
  CHECK(wire.send("00100001"));             // a MiB and a byte
  CHECK(wire.closed_by_peer());
  endpoint good;
  CHECK(good.peer(local_uri(port)));
}

TEST_CASE("a connection that says nothing makes room for the next, the oldest first") {
  endpoint_options options;
  options.max_half_open = 4;
  options.handshake_timeout = 60s;
  endpoint ep{options};
  const auto port = listen_port(ep);
  std::vector<raw_socket> idle;
  for (int i = 0; i < 12; ++i)
    idle.push_back(raw_socket::connect(port));
  for (int i = 0; i < 8; ++i)
    CHECK(idle[i].closed_by_peer());
  for (int i = 8; i < 12; ++i)
    CHECK_FALSE(idle[i].closed_by_peer(10ms));
  endpoint good;
  CHECK(good.peer(local_uri(port)));
}

TEST_CASE("a connection that has begun its handshake makes room only after a while") {
  endpoint_options options;
  options.max_half_open = 4;
  options.handshake_timeout = 60s;
  endpoint ep{options};
  const auto port = listen_port(ep);
  const auto since = std::chrono::steady_clock::now();
  std::vector<raw_socket> slow;
  for (const char digit : {'1', '2', '3', '4'}) {
    slow.push_back(raw_socket::connect(port));
    CHECK(slow.back().send("00000017 06 5a45454b " + std::string(31, 'f') + digit + " 0101"));
    for (int i = 0; i < 3; ++i)
      CHECK_FALSE(slow.back().read_frame().empty()); // probe, version_select, syn
  }
  endpoint good;
  REQUIRE(good.peer_async(local_uri(port)));
  CHECK(good.wait_for_peers(1, patience));
  CHECK(std::chrono::steady_clock::now() - since > 1s);
  CHECK(slow[0].closed_by_peer());
  CHECK_FALSE(slow[1].closed_by_peer(10ms));
}

TEST_CASE("thousands of silent connections keep no honest peer waiting") {
  endpoint_options options;
  options.handshake_timeout = 600s;
  endpoint ep{options};
  const auto port = listen_port(ep);
  rlimit files{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &files) == 0);
  const auto before = std::exchange(files.rlim_cur, files.rlim_max);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &files) == 0);
  std::vector<raw_socket> silent;
  for (rlim_t i = 0; i < 3'000 && i + 200 < files.rlim_cur; ++i)
    silent.push_back(raw_socket::connect(port));
  endpoint good;
  REQUIRE(good.peer_async(local_uri(port)));
  CHECK(good.wait_for_peers(1, patience));
  silent.clear();
  files.rlim_cur = before;
  CHECK(::setrlimit(RLIMIT_NOFILE, &files) == 0);
}

TEST_CASE("a peer that asks without end and never listens is cut off") {
  endpoint ep;
  auto events = ep.make_status_subscriber();
  auto wire = peered(ep, listen_port(ep), "00", 4096);
  const auto ping = wire::make_ping(id_ff, ep.id(), buffer(60'000));
  for (int i = 0; i < 2000 && wire.send(ping); ++i) {
  }
  const auto event = next_error(events);
  REQUIRE(event);
  CHECK(event->failure() == errc::limit_exceeded);
}

TEST_CASE("a peer that calls a running handshake redundant is tried again") {
  raw_listener liar;
  endpoint ep;
  REQUIRE(ep.peer_async(liar.uri(), {.retry = 10ms}));
  for (int i = 0; i < 3; ++i) {
    auto wire = accept_up_to_syn(liar);
    CHECK(wire.send("00000018 09 5a45454b ffffffffffffffffffffffffffffffff 27 01 78"));
    CHECK(wire.closed_by_peer());
  }
}

TEST_CASE("a peer that ends every peering as soon as it has begun is not dialed without pause") {
  raw_listener fickle;
  endpoint ep;
  auto events = ep.make_status_subscriber();
  REQUIRE(ep.peer_async(fickle.uri(), {.retry = 400ms}));
  const auto be_peered_and_gone = [&] {
    auto wire = accept_up_to_syn(fickle);
    CHECK(wire.send(wire::make_frame(from_hex("0b00"))));
    CHECK(next_event(events, status_code::peer_added));
    wire.close();
    CHECK(next_event(events, status_code::peer_lost));
  };
  be_peered_and_gone();
  be_peered_and_gone();
  const auto before = std::chrono::steady_clock::now();
  be_peered_and_gone();
  be_peered_and_gone();
  CHECK(std::chrono::steady_clock::now() - before >= 300ms); // less a quarter, by chance
  be_peered_and_gone();
  CHECK(std::chrono::steady_clock::now() - before >= 900ms); // and twice that
}

TEST_CASE("closing takes no longer than asked for, even with a peer that never reads") {
  endpoint_options options;
  options.link_queue = {overflow_policy::block, 16, 1 << 20};
  auto ep = std::make_unique<endpoint>(options);
  auto wire = peered(*ep, listen_port(*ep), "0100", 4096);
  std::thread publisher{[&] {
    while (ep->publish("/t", std::string(100'000, 'x')) != publish_result::refused) {
    }
  }};
  CHECK(eventually([&] {
    const auto peers = ep->peers();
    return !peers.empty() && peers[0].counters.queued > 5;
  }));
  const auto before = std::chrono::steady_clock::now();
  ep->close(200ms);
  CHECK(std::chrono::steady_clock::now() - before < 5s);
  publisher.join();
}

TEST_CASE("unpeering from one who never answers is cut at the timeout and says so") {
  endpoint ep;
  auto events = ep.make_status_subscriber();
  auto wire = peered(ep, listen_port(ep), "00");
  const auto before = std::chrono::steady_clock::now();
  CHECK(ep.unpeer(id_ff, 50ms).error() == errc::request_timeout);
  CHECK(std::chrono::steady_clock::now() - before < 5s);
  CHECK(wire.closed_by_peer());
  const auto event = next_event(events, status_code::peer_removed);
  REQUIRE(event);
  CHECK(event->message().find("timeout during graceful disconnect") != std::string::npos);
}

TEST_CASE("a frame that arrives byte by byte is a frame") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"});
  auto wire = peered(ep, listen_port(ep), "00");
  buffer frame(wire::data_frame_bytes(2, 9));
  auto* value = wire::write_data_header(frame.data(), id_ff, "/t", 9);
  *value = std::byte{2};
  store_be(value + 1, std::uint64_t{99});
  for (const auto& each : frame)
    CHECK(wire.send(std::span{&each, 1}));
  CHECK(next_number(sub) == 99);
}
