// SPDX-License-Identifier: BSD-3-Clause
#include "node/routing/dispatcher.hpp"

#include <ctime>

#include "filter/subscription_text.hpp"
#include "support/fake_node.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;

namespace {

struct dispatching_node : fake_node {
  using fake_node::fake_node;

  dispatcher from{self, routes, {}};

  const route& resolve(std::string_view topic) {
    from.refresh();
    return from.resolve(topic);
  }
};

/// A client of the node, of which each report has the next number.
struct reporting_client {
  explicit reporting_client(dispatching_node& relay, const filter& subscriptions = {})
      : node(relay) {
    const auto link = std::make_shared<fake_link>(node.loop);
    node.links.push_back(link);
    REQUIRE(node.routes.add_client(self, link, false));
    REQUIRE(report({subscriptions.begin(), subscriptions.end()}));
    node.routes.client_ready(self);
  }
  bool report(std::vector<std::string> added, std::vector<std::string> removed = {}) {
    ++number;
    const report_header about{self, 1, number, number == 1};
    return node.routes.receive(self, filter_report{about, std::move(added), std::move(removed)});
  }
  /// With which of its reports a message comes to it that knows so many of the node's; 0: none.
  std::uint64_t gets(std::string_view topic, std::uint64_t known) {
    node.from.refresh();
    const destination to{node.self, known};
    const auto& found = node.from.resolve(topic, {&to, 1}, 1);
    return found.nodes->empty() ? 0 : found.nodes->front().nodes.front().filter_number;
  }

  dispatching_node& node;
  const endpoint_id self = id_of(7);
  std::uint64_t number = 0;
};

/// Of this thread.
std::chrono::nanoseconds processor_time() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

/// What it takes to resolve so many topics that differ in the number of their destination's filter.
std::chrono::nanoseconds cost_of_routes(std::uint64_t routes) {
  auto least = std::chrono::nanoseconds::max();
  for (int round = 0; round < 3; ++round) {
    dispatching_node f;
    const fake_peer one{f, id_of(1), 2, {"/a"}};
    f.from.refresh();
    const auto before = processor_time();
    for (std::uint64_t number = 0; number < routes; ++number)
      f.from.resolve("/a", std::vector<destination>{{id_of(1), number}}, 1);
    least = std::min(least, processor_time() - before);
  }
  return least;
}

} // namespace

TEST_CASE("a peer cannot make routes hard to find: four times as many take less than nine times "
          "as long") {
  CHECK(cost_of_routes(8'000) < 9 * cost_of_routes(2'000));
}

TEST_CASE("a topic takes the queues and links of its subscribers, and topics with the same exits "
          "share a route") {
  dispatching_node f;
  const auto queue = f.subscribe({"/a"});
  const fake_peer broker{f, id_of(50), 1, {"/a/b"}};
  const fake_peer node{f, id_of(1), 2, {"/a"}};
  const auto& all = f.resolve("/a/b");
  CHECK(all.queues == std::vector{queue});
  REQUIRE(all.links.size() == 2);
  CHECK(all.to_broker_peers().size() == 1);
  CHECK(all.links[0] == broker.carrier);
  CHECK(all.links[1] == node.carrier);
  CHECK(&f.resolve("/a/c") == &f.resolve("/a/d"));
  CHECK(&f.resolve("/a/b") != &f.resolve("/a/c"));
  CHECK(f.resolve("/b").empty());
}

TEST_CASE("what nodes report of one that has the id of a Broker peer names no destination") {
  dispatching_node f;
  const fake_peer broker{f, id_of(50), 1, {"/a"}};
  fake_peer node{f, id_of(1), 2, {"/a"}};
  node.announce(id_of(50), filter{"/a"}, {id_of(1)});
  const auto& all = f.resolve("/a");
  CHECK(all.to_broker_peers().size() == 1);
  REQUIRE(all.nodes->size() == 1);
  REQUIRE((*all.nodes)[0].nodes.size() == 1);
  CHECK((*all.nodes)[0].nodes[0].node == id_of(1));
}

TEST_CASE("messages for named nodes go there alone, after so many hops") {
  dispatching_node f;
  const auto queue = f.subscribe({"/a"});
  const fake_peer one{f, id_of(1), 2, {"/a"}};
  const fake_peer two{f, id_of(2), 2, {"/a"}};
  f.from.refresh();
  const std::vector<destination> to{{id_of(2), 1}};
  const auto& found = f.from.resolve("/a", to, 3);
  CHECK(found.queues.empty());
  REQUIRE(found.links.size() == 1);
  CHECK(found.links[0] == two.carrier);
  CHECK(found.to_network()[0] == &two.carrier->out(3));
}

TEST_CASE("a link stands once in a route, even if a node is said to have the id of a Broker peer") {
  dispatching_node f;
  const fake_peer broker{f, id_of(50), 1, {"/a"}};
  fake_peer node{f, id_of(1), 2, {}};
  node.send(wire::make_report(filter_report{{id_of(50), 1, 1, true}, {"/a"}, {}}));
  CHECK(std::ranges::count(f.resolve("/a").links, broker.carrier) == 1);
  CHECK(f.publish("/a", 1) == publish_result::taken);
}

TEST_CASE("a message never goes back to the Broker peer it came from") {
  dispatching_node f;
  const fake_peer one{f, id_of(50), 1, {"/a"}};
  const fake_peer two{f, id_of(51), 1, {"/a"}};
  dispatcher from_one{f.self, f.routes, {.from = one.carrier.get()}};
  from_one.refresh();
  CHECK(from_one.resolve("/a").links == std::vector<std::shared_ptr<peer_link>>{two.carrier});
}

TEST_CASE(
    "a route that messages have taken and take no more is reported, with its hops and nodes") {
  dispatching_node f;
  fake_peer one{f, id_of(1), 2, {}};
  fake_peer two{f, id_of(2), 2, {}};
  one.announce(id_of(3), {"/far"}, {id_of(1)});
  CHECK(f.resolve("/far").links == std::vector<std::shared_ptr<peer_link>>{one.carrier});
  const std::vector<destination> to{{id_of(3), 1}};
  f.from.resolve("/far", to, 2);
  two.announce(id_of(3), {"/far"}, {id_of(1), id_of(2)}, 2);
  f.routes.remove_peer(id_of(1));
  CHECK(f.from.refresh());
  const auto retired = f.from.take_retired_routes();
  REQUIRE(retired.size() == 2); // of what is published here, and of what has come two hops
  for (const auto& each : retired) {
    CHECK(each.via == one.carrier);
    CHECK(each.nodes == std::vector{id_of(3)});
  }
  CHECK(retired[0].hops + retired[1].hops == 2);
  CHECK(f.resolve("/far").links == std::vector<std::shared_ptr<peer_link>>{two.carrier});
}

TEST_CASE(
    "before a client publishes over one more relay all has arrived that went over the first") {
  endpoint_options as_client;
  as_client.forwarding = forwarding::off;
  dispatching_node f{id_of(100), as_client};
  std::vector<std::shared_ptr<peer_link>> relays;
  for (const std::size_t n : {1, 2}) {
    f.links.push_back(std::make_shared<fake_link>(f.loop));
    relays.push_back(f.links.back());
    REQUIRE(f.routes.add_relay(id_of(n), relays.back(), {}));
  }
  const auto links_at_once = [&] { // no relay tells whether the topic is wanted
    f.from.refresh();
    return f.from.resolve("/a", f.loop->now()).links;
  };
  CHECK(links_at_once() == std::vector{relays[0]});
  CHECK(f.from.take_retired_routes().empty());
  f.routes.receive_served(id_of(2), {}); // it reaches none that serves us, and serves us as well
  CHECK(links_at_once().size() == 2);
  const auto retired = f.from.take_retired_routes();
  REQUIRE(retired.size() == 1);
  CHECK(retired[0].via == relays[0]);
  CHECK(retired[0].nodes == std::vector{id_of(1)});
  f.routes.receive_served(id_of(2), id_of(1)); // it does, and stands by
  CHECK(links_at_once() == std::vector{relays[0]});
  REQUIRE(f.from.take_retired_routes().size() == 1); // over the second
}

TEST_CASE("what was under way on a link that is closed is not waited for") {
  dispatching_node f;
  fake_peer one{f, id_of(1), 2, {}};
  fake_peer two{f, id_of(2), 2, {}};
  one.announce(id_of(3), {"/far"}, {id_of(1)});
  CHECK(f.resolve("/far").links.size() == 1);
  two.announce(id_of(3), {"/far"}, {id_of(1), id_of(2)}, 2);
  one.carrier->end({});
  CHECK(f.from.refresh());
  CHECK(f.from.take_retired_routes().empty());
}

TEST_CASE("more topics than are remembered take nothing else than the right routes") {
  dispatching_node f;
  const auto queue = f.subscribe({"/t1"});
  for (std::size_t i = 0; i < 2 * routing_tuning::max_cached_topics; ++i)
    CHECK(f.resolve("/t" + std::to_string(i)).queues.size() ==
          (std::to_string(i).front() == '1' ? 1 : 0));
}

TEST_CASE("what a client gets because of an old subscription does not count for a new one") {
  dispatching_node f;
  reporting_client x{f, {"/t1"}};
  constexpr auto began = node_subscriptions::first_number + 1;
  CHECK(x.gets("/t1", began - 1) == 0);
  CHECK(x.gets("/t1", began) == 1);
  REQUIRE(x.report({"/t"}));
  CHECK(x.gets("/t1", began) == 1); // but for the old one it would not come
  CHECK(x.gets("/t0", began) == 0);
  CHECK(x.gets("/t1", began + 1) == 2);
  REQUIRE(x.report({}, {"/t1"}));
  CHECK(x.gets("/t1", began) == 0);
  CHECK(x.gets("/t1", began + 1) == 3);
  REQUIRE(x.report({"/t" + std::string{condition_mark} + "what this node cannot read"}));
  CHECK(x.gets("/t1", began + 2) == 3);
  CHECK(x.gets("/t1", began + 3) == 4);
}

TEST_CASE(
    "of two subscriptions of a client one that others have, too, does not overtake the first") {
  dispatching_node f;
  f.subscribe({"/t"});
  constexpr auto began = node_subscriptions::first_number + 1;
  reporting_client x{f};
  REQUIRE(x.report({"/t1"}));
  REQUIRE(x.report({"/t"})); // which publishers know already
  CHECK(x.gets("/t0", began) == 3);
  CHECK(x.gets("/t1", began) == 0);
  CHECK(x.gets("/t1", began + 1) == 3);
}
