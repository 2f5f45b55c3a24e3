// Relays that end in good order: what has another way is not lost.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/published.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

endpoint_options relay_or_client(bool relay) {
  endpoint_options result;
  result.forwarding = relay ? forwarding::on : forwarding::off;
  return result;
}

/// Four relays in a ring, a publisher linked with two neighbours of it, and a subscriber with the
/// other two. The two at the ends are relays, too, or clients.
struct ring {
  explicit ring(bool ends_are_relays)
      : ends_relay(ends_are_relays), source(relay_or_client(ends_are_relays)),
        sink(relay_or_client(ends_are_relays)) {
    for (auto& each : relays)
      each = std::make_unique<endpoint>(forwarding_on());
    for (std::size_t i = 0; i < relays.size(); ++i)
      join(*relays[i], *relays[(i + 1) % relays.size()]);
    join(source, *relays[0]);
    join(source, *relays[1]);
    join(sink, *relays[2]);
    join(sink, *relays[3]);
    REQUIRE(source.wait_for_subscribers("/t", 1, patience));
  }
  /// Its place in the ring is taken by a new one.
  void restart(std::size_t i) {
    const auto links = ends_relay ? 6U : 4U;
    CHECK(relays[i]->retire(patience));
    relays[i] = std::make_unique<endpoint>(forwarding_on());
    const auto n = relays.size();
    join(*relays[i], *relays[(i + 1) % n]);
    join(*relays[i], *relays[(i + n - 1) % n]);
    join(i < 2 ? source : sink, *relays[i]);
    const auto id = relays[i]->id();
    for (auto* each : {&source, &sink})
      REQUIRE(eventually([&] { return !ends_relay || knows_links(*each, id, links); }));
    for (const auto& each : relays)
      if (each != relays[i])
        REQUIRE(eventually([&] { return knows_links(*each, id, links); }));
  }
  /// Whether both ends of the links between this node and others are known there.
  static bool knows_links(const endpoint& there, const endpoint_id& node, std::size_t links) {
    std::size_t ends = 0;
    for (const auto& each : there.nodes())
      ends += each.id == node ? each.neighbours.size()
                              : static_cast<std::size_t>(std::ranges::count(each.neighbours, node));
    for (const auto& each : there.peers())
      ends += each.id == node ? 1 : 0;
    return ends == links;
  }

  const bool ends_relay;
  std::array<std::unique_ptr<endpoint>, 4> relays;
  endpoint source;
  endpoint sink;
  subscriber all = sink.make_subscriber({"/t"});
};

/// Publishes all the time, and restarts all relays meanwhile: every message arrives once.
void check_rolling_restart(ring& net) {
  std::atomic<bool> stop{false};
  std::uint64_t published = 0;
  std::thread publisher{[&] {
    auto pub = net.source.make_publisher("/t/x");
    while (!stop) {
      const auto result = pub.publish(vector{count{published}});
      published += result == publish_result::taken ? 1 : 0;
      if (result != publish_result::taken)
        stop = true; // a subscriber that nobody knew of any more
    }
  }};
  std::uint64_t next = 0;
  std::uint64_t wrong = 0;
  std::thread consumer{[&] {
    while (const auto msg = net.all.get())
      wrong += (*get_view(*msg).elements().begin()).to_data() == data{count{next++}} ? 0 : 1;
  }};
  CHECK(eventually([&] { return net.all.counters().delivered > 0; }));
  for (std::size_t i = 0; i < net.relays.size(); ++i) {
    net.restart(i);
    CHECK(net.source.wait_for_subscribers("/t", 1, patience));
  }
  CHECK_FALSE(stop.exchange(true));
  publisher.join();
  CHECK(eventually([&] { return net.all.counters().delivered == published; }));
  const auto counted = net.all.counters();
  net.all.close();
  consumer.join();
  CHECK(next == published);
  CHECK(wrong == 0);
  if (net.ends_relay) // a client that changes over may count messages as missed that have come
    CHECK(counted.missed == 0);
  CHECK(counted.dropped() == 0);
}

} // namespace

TEST_CASE("a ring whose relays retire and start again loses nothing under load") {
  ring net{true};
  check_rolling_restart(net);
}

TEST_CASE("clients with two relays lose nothing when one after the other retires") {
  ring net{false};
  check_rolling_restart(net);
}

TEST_CASE(
    "what a client publishes until a retiring relay has parted from it arrives or is counted") {
  endpoint relay{forwarding_on()};
  endpoint sink{forwarding_on()};
  endpoint client;
  auto all = sink.make_subscriber({"/t"});
  join(sink, relay);
  join(client, relay);
  std::thread consumer{[&] {
    while (all.get())
      ;
  }};
  auto pub = client.make_publisher("/t/x");
  REQUIRE(pub.wait_for_subscribers(1, patience));
  std::atomic<bool> stop{false};
  std::uint64_t published = 0;
  std::thread publisher{[&] {
    while (!stop)
      published += pub.publish(vector{count{published}}) == publish_result::taken ? 1 : 0;
  }};
  CHECK(eventually([&] { return all.counters().offered > 1'000; }));
  CHECK(relay.retire(patience));
  stop = true;
  publisher.join();
  CHECK(published > 1'000);
  CHECK(relay.flush(patience) == 0);
  const auto too_late = [&] { return client.counters().links.dropped_gone; };
  CHECK(eventually([&] { return all.counters().offered + too_late() == published; }));
  CHECK(too_late() <= 8); // what was under way to the queue when the relay said goodbye
  CHECK(relay.counters().unreachable == 0);
  all.close();
  consumer.join();
}

TEST_CASE("a relay alone retires at once, and one that is closed never does") {
  endpoint alone{forwarding_on()};
  CHECK(alone.retire(patience));
  alone.close();
  CHECK_FALSE(alone.retire(patience));
}
