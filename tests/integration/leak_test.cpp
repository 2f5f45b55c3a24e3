// Endpoints come and go without leaving anything behind, and go in bounded time, whatever others
// do.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/process_usage.hpp"
#include "support/published.hpp"
#include "support/raw_peer.hpp"

#include <thread>

#include <malloc.h>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

struct usage {
  std::size_t descriptors;
  std::size_t threads;
  std::size_t heap_bytes;
};

usage in_use() {
  const auto heap = ::mallinfo2();
  return {descriptors_now(), threads_now(), heap.uordblks + heap.hblkhd};
}

/// One of a few names: a node remembers the names of nodes it has met, up to a limit.
endpoint_options named(std::uint8_t x) {
  endpoint_id::bytes_type bytes;
  bytes.fill(static_cast<std::uint8_t>(x + 1));
  endpoint_options result;
  result.id = endpoint_id{bytes};
  return result;
}

/// What an endpoint does in its life: peers, subscribes, publishes, receives.
void live_and_die(endpoint& hub, subscriber& at_hub, const std::string& where, std::uint64_t n) {
  endpoint each{named(static_cast<std::uint8_t>(n % 16))};
  auto sub = each.make_subscriber({"/down"});
  auto events = each.make_status_subscriber();
  REQUIRE(each.peer(where, {.retry = {}}));
  REQUIRE(hub.wait_for_subscribers("/down", 1, patience));
  sent(each.publish("/up", count{n}));
  CHECK(next_number(at_hub) == n);
  sent(hub.publish("/down", count{n}));
  CHECK(next_number(sub) == n);
  if (n % 2 == 0)
    each.close();
  else
    CHECK(each.unpeer(hub.id()));
  REQUIRE(eventually([&] { return hub.subscribers("/down") == 0; }));
}

/// How long `ep` takes to close.
std::chrono::milliseconds time_to_close(endpoint& ep, std::chrono::milliseconds timeout) {
  const auto begin = std::chrono::steady_clock::now();
  ep.close(timeout);
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               begin);
}

constexpr auto slack = 5s; // of a loaded machine

} // namespace

TEST_CASE("a thousand endpoints with peers leave no descriptor, thread or memory behind") {
  endpoint hub;
  auto at_hub = hub.make_subscriber({"/up"});
  const auto where = listen(hub);
  std::uint64_t n = 0;
  auto live = [&](std::uint64_t until) {
    for (; n < until; ++n)
      live_and_die(hub, at_hub, where, n);
    REQUIRE(eventually([&] { return hub.peers().empty(); }));
  };
  live(200); // what is allocated once is allocated
  const auto before = in_use();
  live(1200);
  CHECK(eventually([&] { return in_use().descriptors == before.descriptors; }));
  CHECK(eventually([&] { return in_use().threads == before.threads; }));
  if (memory_is_ours)
    CHECK(in_use().heap_bytes < before.heap_bytes + 1'000'000); // 1,000 bytes a cycle
}

TEST_CASE("a thousand endpoints that close while they connect and accept leave nothing either") {
  const auto port = unused_port();
  auto live = [&] { // nobody listens: the attempts go on until the end
    endpoint each;
    REQUIRE(each.peer_async(local_uri(port), {.retry = 1ms}));
    REQUIRE(each.peer_async("tcp://localhost:" + std::to_string(port), {.retry = 1ms}));
    auto listening = listen(each);
    raw_socket half = raw_socket::connect(
        static_cast<std::uint16_t>(std::stoi(listening.substr(listening.rfind(':') + 1))));
    each.close();
  };
  for (int i = 0; i < 50; ++i)
    live();
  const auto before = in_use();
  for (int i = 0; i < 1000; ++i)
    live();
  // Looking a name up cannot be interrupted: it may outlive the endpoint for a moment.
  CHECK(eventually([&] { return in_use().threads <= before.threads; }));
  CHECK(eventually([&] { return in_use().descriptors <= before.descriptors; }));
  if (memory_is_ours)
    CHECK(in_use().heap_bytes < before.heap_bytes + 1'000'000);
}

TEST_CASE("closing takes no longer than its timeout when a peer does not answer the goodbye") {
  for (const int version : {1, 2}) {
    endpoint ep;
    raw_peer mute{ep, *ep.listen("tcp://127.0.0.1:0"), version};
    CHECK(time_to_close(ep, 100ms) < 100ms + slack);
    CHECK(mute.wire.closed_by_peer());
  }
}

TEST_CASE("closing takes no longer than its timeout when a peer has stopped reading") {
  endpoint ep;
  raw_peer stopped{ep, *ep.listen("tcp://127.0.0.1:0"), 2, 4096};
  while (ep.try_publish("/t", std::string(100'000, 'x')) == publish_result::taken) {
  }
  CHECK(ep.peers()[0].counters.queued > 0);
  CHECK(time_to_close(ep, 100ms) < 100ms + slack);
}

TEST_CASE("closing takes no longer than its timeout when a local subscriber does not read") {
  endpoint ep;
  auto stuck = ep.make_subscriber({"/t"}, {overflow_policy::block, 1, 1});
  endpoint far;
  join(far, ep);
  REQUIRE(far.wait_for_subscribers("/t", 1, patience));
  while (far.try_publish("/t", std::string(100'000, 'x')) == publish_result::taken ||
         far.flush(20ms) == 0) {
  }
  std::thread blocked{[&] { (void)ep.publish("/t", count{1}); }};
  CHECK(time_to_close(ep, 100ms) < 100ms + slack);
  blocked.join(); // it was let go
  CHECK(time_to_close(far, 100ms) < 100ms + slack);
  CHECK(stuck.get_for(patience)); // what it holds can still be read
}

TEST_CASE("an endpoint that closes while others wait ends all of their waits") {
  endpoint ep;
  raw_peer mute{ep, *ep.listen("tcp://127.0.0.1:0"), 2};
  auto sub = ep.make_subscriber({"/t"});
  auto events = ep.make_status_subscriber();
  std::thread waits[] = {
      std::thread{[&] { CHECK_FALSE(sub.get()); }},
      std::thread{[&] { CHECK_FALSE(ep.wait_for_peers(5, 1h)); }},
      std::thread{[&] { CHECK_FALSE(ep.wait_for_subscribers("/t", 5, 1h)); }},
      std::thread{[&] { CHECK_FALSE(ep.status_of(raw_peer::id(), 1h)); }},
      std::thread{[&] { CHECK(ep.drain(1h) <= 1); }},
      std::thread{[&] {
        while (events.get()) {
        }
      }},
  };
  CHECK(mute.next_of_kind(16).size() > 0); // one of them has begun
  ep.close(10ms);
  for (auto& each : waits)
    each.join();
}
