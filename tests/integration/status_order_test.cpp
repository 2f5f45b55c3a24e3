// Status events and messages come in separate queues; what can be said about their order.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/everything.hpp"
#include "support/nodes.hpp"
#include "support/published.hpp"

#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

bool has(const std::vector<status>& events, status_code code, const endpoint_id& peer) {
  return std::ranges::any_of(events,
                             [&](const status& x) { return x.code() == code && x.peer() == peer; });
}

/// Publishes as soon as anybody wants it.
void publish_at_once(endpoint& from, std::uint64_t n) {
  REQUIRE(from.wait_for_subscribers("/t", 1, patience));
  for (std::uint64_t i = 0; i < n; ++i)
    sent(from.publish("/t", count{i}));
}

} // namespace

TEST_CASE(
    "peer_added is in the status queue before any message of that peer is in a subscriber's") {
  for (int round = 0; round < 50; ++round) {
    endpoint receiver;
    endpoint sender;
    auto events = receiver.make_status_subscriber();
    auto sub = receiver.make_subscriber({"/t"});
    const bool connects = round % 2 == 0; // either side may be the one that connects
    std::thread publishes{[&] { publish_at_once(sender, 3); }};
    REQUIRE((connects ? sender : receiver).peer_async(listen(connects ? receiver : sender)));
    REQUIRE(sub.get_for(patience));
    const auto so_far = everything(events);
    CHECK(has(so_far, status_code::endpoint_discovered, sender.id()));
    CHECK(has(so_far, status_code::peer_added, sender.id()));
    publishes.join();
  }
}

TEST_CASE("a client that is reported as a peer gets what is published from then on") {
  for (int round = 0; round < 200; ++round) {
    endpoint relay;
    endpoint client;
    auto events = relay.make_status_subscriber();
    auto sub = client.make_subscriber({"/t"});
    REQUIRE(client.peer_async(listen(relay)));
    REQUIRE(next_event(events, status_code::peer_added));
    sent(relay.publish("/t", count{1}));
    CHECK(sub.get_for(patience));
  }
}

TEST_CASE("after peer_lost no message of that peer enters a subscriber's queue") {
  for (int round = 0; round < 50; ++round) {
    endpoint receiver;
    auto events = receiver.make_status_subscriber();
    auto sub = receiver.make_subscriber({"/t"});
    {
      endpoint sender;
      REQUIRE(sender.peer(listen(receiver)));
      publish_at_once(sender, 1000);
    } // closes in good order: all of it is sent
    REQUIRE(next_event(events, status_code::peer_lost));
    CHECK(sub.available() == 1000);
    CHECK(next_event(events, status_code::endpoint_unreachable));
    CHECK(sub.available() == 1000);
  }
}

TEST_CASE("after peer_removed no message of that peer enters a subscriber's queue") {
  for (int round = 0; round < 20; ++round) {
    endpoint receiver;
    endpoint sender;
    auto events = receiver.make_status_subscriber();
    auto sub = receiver.make_subscriber({"/t"}, {overflow_policy::drop_oldest, 1000, 1 << 20});
    REQUIRE(sender.peer(listen(receiver), {.retry = {}}));
    std::atomic<bool> done{false};
    std::thread publishes{[&] {
      for (std::uint64_t i = 0; !done; ++i)
        sent(sender.publish("/t", count{i}));
    }};
    REQUIRE(sub.get_for(patience));
    CHECK(receiver.unpeer(sender.id()));
    REQUIRE(next_event(events, status_code::peer_removed));
    const auto at_removal = sub.counters().offered;
    done = true;
    publishes.join();
    CHECK(sub.counters().offered == at_removal);
  }
}

TEST_CASE("a peer that comes back is lost before it is added again") {
  endpoint hub;
  auto events = hub.make_status_subscriber();
  const auto where = listen(hub);
  endpoint_options options;
  options.id = endpoint_id::random();
  for (int life = 0; life < 20; ++life) {
    endpoint each{options};
    REQUIRE(each.peer(where));
  }
  REQUIRE(eventually([&] { return hub.peers().empty(); }));
  bool there = false;
  int lives = 0;
  for (const auto& event : everything(events)) {
    if (event.code() == status_code::peer_added) {
      CHECK_FALSE(there);
      there = true;
      ++lives;
    } else if (event.code() == status_code::peer_lost) {
      CHECK(there);
      there = false;
    }
  }
  CHECK(lives == 20);
}
