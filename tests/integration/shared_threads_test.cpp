// Endpoints that share the I/O threads of their process: thousands of them cost no thread each, and
// one that goes disturbs no other.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/process_usage.hpp"
#include "support/published.hpp"
#include "support/raw_peer.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

endpoint_options sharing() {
  endpoint_options options;
  options.io_threads = 0;
  return options;
}

struct client_with_queue {
  explicit client_with_queue(const std::string& where) { REQUIRE(ep.peer(where).has_value()); }
  endpoint ep{sharing()};
  subscriber sub = ep.make_subscriber({"/down"});
};

} // namespace

TEST_CASE("two hundred endpoints share a thread for each processor") {
  constexpr std::size_t n = 200;
  const auto before = threads_now();
  {
    endpoint relay{sharing()};
    auto at_relay = relay.make_subscriber({"/up"});
    const auto where = listen(relay);
    std::vector<std::unique_ptr<client_with_queue>> all;
    for (std::size_t i = 0; i < n; ++i)
      all.push_back(std::make_unique<client_with_queue>(where));
    CHECK(threads_now() <= before + std::max(std::thread::hardware_concurrency(), 1U));
    REQUIRE(relay.wait_for_subscribers("/down", n, patience));
    sent(relay.publish("/down", count{7}));
    for (auto& each : all) {
      CHECK(next_number(each->sub) == 7);
      sent(each->ep.publish("/up", count{1}));
    }
    for (std::size_t i = 0; i < n; ++i)
      CHECK(next_number(at_relay) == 1);
    all.erase(all.begin(), all.begin() + n / 2);
    REQUIRE(eventually([&] { return relay.subscribers("/down") == n / 2; }));
    sent(relay.publish("/down", count{8}));
    for (auto& each : all)
      CHECK(next_number(each->sub) == 8);
  }
  CHECK(eventually([&] { return threads_now() <= before; })); // the last one ends them
}

TEST_CASE("endpoints that share threads come and go while others carry a stream") {
  endpoint relay{sharing()};
  const auto where = listen(relay);
  endpoint from{sharing()};
  endpoint to{sharing()};
  auto sub = to.make_subscriber({"/t"});
  REQUIRE(from.peer(where).has_value());
  REQUIRE(to.peer(where).has_value());
  REQUIRE(from.wait_for_subscribers("/t", 1, patience));
  std::atomic<bool> done{false};
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i)
    others.emplace_back([&] {
      while (!done) {
        client_with_queue each{where};
        sent(each.ep.publish("/up", count{1}));
        each.ep.close(1s);
      }
    });
  constexpr std::uint64_t n = 20'000;
  std::thread publisher{[&] {
    for (std::uint64_t i = 0; i < n; ++i)
      sent(from.publish("/t", count{i}));
  }};
  CHECK(receives_in_order(sub, n));
  done = true;
  publisher.join();
  for (auto& each : others)
    each.join();
}

TEST_CASE("an endpoint that shares threads closes in time beside a peer that does not answer") {
  auto options = sharing();
  options.id = raw_peer::id('1');
  endpoint ep{options};
  raw_peer mute{ep, *ep.listen("tcp://127.0.0.1:0"), 2};
  endpoint other{sharing()};
  const auto where = listen(other);
  const auto begin = std::chrono::steady_clock::now();
  ep.close(100ms);
  CHECK(std::chrono::steady_clock::now() - begin < 5s);
  CHECK(mute.wire.closed_by_peer());
  CHECK(client_with_queue{where}.ep.peers().size() == 1);
}
