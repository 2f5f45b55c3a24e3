// The nodes of a Broker cluster, which are linked with one another and pass nothing on, all peered
// with one node. SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/published.hpp"

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

endpoint_options without_own_messages() {
  endpoint_options result;
  result.own_messages = own_messages::ignore;
  return result;
}

endpoint_options of_broker() {
  auto result = without_own_messages();
  result.max_wire_version = 1;
  result.forwarding = forwarding::off;
  return result;
}

endpoint_options at_the_border() {
  endpoint_options result;
  result.forwarding = forwarding::on;
  result.broker_transit = broker_transit::off;
  return result;
}

bool is_peered_with(const endpoint& at, const endpoint_id& peer, const filter& announced) {
  return std::ranges::any_of(
      at.peers(), [&](const auto& each) { return each.id == peer && each.filter == announced; });
}

/// How many of the next `n` messages have each number below 1,000.
std::vector<std::uint64_t> times_of_each(subscriber& sub, std::size_t n) {
  std::vector<std::uint64_t> result(1'000);
  for (std::size_t i = 0; i < n; ++i)
    ++result.at(next_number(sub));
  return result;
}

} // namespace

TEST_CASE("without transit what Broker peers send each other passes them by") {
  endpoint border{at_the_border()};
  endpoint manager{of_broker()}, worker{of_broker()}, outside{without_own_messages()};
  auto manager_gets = manager.make_subscriber({"/event", "/manager"});
  auto worker_gets = worker.make_subscriber({"/event", "/worker"});
  auto outside_gets = outside.make_subscriber({"/event", "/outside"});
  join(worker, manager);
  join(outside, border);
  join(manager, border);
  join(worker, border);
  // Peers are told what is wanted elsewhere, and not what the other peer wants.
  const filter wanted_elsewhere{"/event", "/outside"};
  REQUIRE(eventually([&] { return is_peered_with(manager, border.id(), wanted_elsewhere); }));
  REQUIRE(eventually([&] { return is_peered_with(worker, border.id(), wanted_elsewhere); }));
  REQUIRE(outside.wait_for_subscribers("/manager", 1, patience));
  REQUIRE(outside.wait_for_subscribers("/worker", 1, patience));

  for (std::uint64_t i = 0; i < 1'000; ++i) {
    sent((i % 2 == 0 ? worker : manager).publish("/event", count{i}));
    sent(outside.publish("/event", count{i}));
  }
  CHECK(std::ranges::count(times_of_each(outside_gets, 1'000), 1U) == 1'000);
  // Each gets all from outside, and what the other has sent over the link between them, once.
  for (auto* const each : {&manager_gets, &worker_gets}) {
    const auto times = times_of_each(*each, 1'500);
    CHECK(std::ranges::count(times, 1U) == 500);
    CHECK(std::ranges::count(times, 2U) == 500);
  }
  // Nothing more has come: this is the next.
  sent(outside.publish("/manager", count{7}));
  sent(outside.publish("/worker", count{8}));
  CHECK(next_number(manager_gets) == 7);
  CHECK(next_number(worker_gets) == 8);
  CHECK(border.counters().duplicates == 0);
}
