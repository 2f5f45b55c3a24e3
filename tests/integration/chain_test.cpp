// Relays: messages and subscriptions over any number of hops.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/published.hpp"

#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

TEST_CASE("over 0 to 4 relays every message arrives once and in order") {
  constexpr std::uint64_t messages = 200'000;
  for (std::size_t relays = 0; relays <= 4; ++relays) {
    CAPTURE(relays);
    chain nodes{relays + 2};
    auto sub = nodes.back().make_subscriber({"/t"});
    REQUIRE(nodes.front().wait_for_subscribers("/t", 1, patience));
    std::thread publisher{[&] {
      auto pub = nodes.front().make_publisher("/t");
      for (std::uint64_t i = 0; i < messages; ++i)
        sent(pub.publish(count{i}));
    }};
    CHECK(receives_in_order(sub, messages));
    publisher.join();
    CHECK(sub.counters().dropped() == 0);
    CHECK(sub.counters().offered == messages);
    CHECK(sub.available() == 0);
    CHECK(nodes.front().flush(patience) == 0);
    const auto sent = nodes.front().peers().at(0).counters;
    CHECK(sent.sent == messages);
    CHECK(adds_up(sent));
    for (std::size_t i = 1; i <= relays; ++i)
      CHECK(nodes.all[i]->counters().forwarded == messages);
  }
}

TEST_CASE("a subscription travels over five hops, and so does its end") {
  chain nodes{6};
  for (int round = 0; round < 3; ++round) {
    auto sub = nodes.back().make_subscriber({"/t"});
    CHECK(nodes.front().wait_for_subscribers("/t/x", 1, patience));
    CHECK(nodes.front().filter() == filter{"/t"});
    sub.remove_topic("/t");
    CHECK(eventually([&] { return nodes.front().subscribers("/t/x") == 0; }));
    sub.add_topic("/u");
    CHECK(nodes.front().wait_for_subscribers("/u", 1, patience));
    sub.close();
    CHECK(eventually([&] { return nodes.front().filter().empty(); }));
  }
  for (auto& each : nodes.all)
    for (const auto& peer : each->peers())
      CHECK(peer.filter.empty());
}

TEST_CASE("narrowing a subscription stops what it no longer covers") {
  chain nodes{3};
  auto wide = nodes.back().make_subscriber({"/a"});
  auto narrow = nodes.back().make_subscriber({"/a/b"});
  REQUIRE(narrow.wait_ready(patience));
  REQUIRE(nodes.front().wait_for_subscribers("/a/c", 1, patience));
  wide.close();
  CHECK(eventually([&] { return nodes.front().subscribers("/a/c") == 0; }));
  CHECK(nodes.front().subscribers("/a/b") == 1);
  CHECK(nodes.front().publish("/a/c", count{1}) == publish_result::unwanted);
  CHECK(nodes.front().publish("/a/b", count{2}) == publish_result::taken);
  CHECK(next_number(narrow) == 2);
}

TEST_CASE("the end of one of two equal subscriptions changes nothing for the other") {
  endpoint hub;
  endpoint first;
  endpoint second;
  endpoint source;
  const auto where = listen(hub);
  for (auto* each : {&first, &second, &source})
    REQUIRE(each->peer(where));
  auto a = first.make_subscriber({"/t"});
  auto b = second.make_subscriber({"/t"});
  REQUIRE(hub.wait_for_subscribers("/t", 2, patience));
  REQUIRE(source.wait_for_subscribers("/t", 2, patience)); // or it may know of the first alone
  a.close();
  CHECK(eventually([&] { return hub.subscribers("/t") == 1; }));
  CHECK(source.publish("/t", count{7}) == publish_result::taken);
  CHECK(next_number(b) == 7);
}

TEST_CASE("in a star of relays everybody hears everybody else once") {
  endpoint hub;
  const auto where = listen(hub);
  std::vector<std::unique_ptr<endpoint>> leaves;
  std::vector<subscriber> subscribers;
  for (int i = 0; i < 6; ++i) {
    leaves.push_back(std::make_unique<endpoint>());
    REQUIRE(leaves.back()->peer(where));
    subscribers.push_back(leaves.back()->make_subscriber({"/t"}));
  }
  REQUIRE(hub.wait_for_subscribers("/t", 6, patience));
  for (auto& each : leaves)
    REQUIRE(each->wait_for_subscribers("/t", 6, patience));
  for (std::uint64_t i = 0; i < 6; ++i)
    sent(leaves[i]->publish("/t", count{i}));
  for (auto& each : subscribers) {
    std::vector<int> seen(6);
    for (int i = 0; i < 6; ++i)
      ++seen[next_number(each)];
    CHECK(seen == std::vector<int>(6, 1));
    CHECK(each.available() == 0);
  }
  CHECK(hub.counters().forwarded == 6 * 5);
}

TEST_CASE("subscribers that share a received message decode it once, whoever comes first") {
  chain nodes{2};
  auto first = nodes.back().make_subscriber({"/t"});
  auto second = nodes.back().make_subscriber({"/"});
  REQUIRE(second.wait_ready(patience)); // and so is the first
  for (int round = 0; round < 200; ++round) {
    sent(nodes.front().publish("/t", vector{count{1}, "text"}));
    const auto x = first.get_for(patience);
    const auto y = second.get_for(patience);
    REQUIRE(x);
    REQUIRE(y);
    const data* seen_there = nullptr;
    std::thread other{[&] { seen_there = &get_data(*y); }};
    const auto* seen_here = &get_data(*x);
    other.join();
    CHECK(seen_here == seen_there);
    CHECK(*seen_here == data{vector{count{1}, "text"}});
  }
}

TEST_CASE("without forwarding a node keeps what it receives to itself") {
  endpoint_options silent;
  silent.forwarding = forwarding::off;
  endpoint publisher;
  endpoint middle{silent};
  endpoint far;
  join(publisher, middle);
  join(middle, far);
  auto near = middle.make_subscriber({"/t"});
  auto away = far.make_subscriber({"/"});
  REQUIRE(publisher.wait_for_subscribers("/t", 1, patience));
  REQUIRE(middle.wait_for_subscribers("/t", 2, patience));
  sent(publisher.publish("/t", count{1}));
  CHECK(next_number(near) == 1);
  sent(middle.publish("/t", count{2}));
  CHECK(next_number(away) == 2);
  CHECK(publisher.peers().at(0).filter == filter{"/t"}); // "/" was not passed on
}

TEST_CASE("forward topics make a relay ask for what nobody here wants") {
  endpoint_options options;
  options.forward_topics = {"/through"};
  endpoint publisher;
  endpoint relay{options};
  join(publisher, relay);
  CHECK(publisher.wait_for_subscribers("/through/x", 1, patience));
  CHECK(publisher.publish("/through/x", count{1}) == publish_result::taken);
  CHECK(eventually([&] { return relay.counters().received == 1; }));
}

namespace {

std::uint64_t sum(const std::vector<std::unique_ptr<endpoint>>& all,
                  std::uint64_t endpoint_counters::*which) {
  std::uint64_t result = 0;
  for (const auto& each : all)
    result += each->counters().*which;
  return result;
}

} // namespace

TEST_CASE("in a cycle of version-1 links what comes round again goes no further") {
  endpoint_options version_1;
  version_1.max_wire_version = 1;
  for (const std::size_t n : {3, 6}) {
    CAPTURE(n);
    std::vector<std::unique_ptr<endpoint>> nodes;
    std::vector<subscriber> subscribers;
    for (std::size_t i = 0; i < n; ++i) {
      nodes.push_back(std::make_unique<endpoint>(version_1));
      subscribers.push_back(nodes.back()->make_subscriber({"/t"}));
      for (std::size_t k = 0; k < i; ++k)
        join(*nodes[i], *nodes[k]);
    }
    for (const auto& each : nodes)
      REQUIRE(each->wait_for_subscribers("/t", n, patience));
    constexpr std::uint64_t messages = 100;
    for (std::uint64_t i = 0; i < messages; ++i)
      sent(nodes[0]->publish("/t", count{i}));
    for (auto& each : subscribers)
      CHECK(eventually([&] { return each.counters().offered >= messages; }));
    CHECK(eventually([&] { // nothing is under way any more
      return sum(nodes, &endpoint_counters::received) ==
             sum(nodes, &endpoint_counters::forwarded) + messages * (n - 1);
    }));
    CHECK(sum(nodes, &endpoint_counters::received) <= messages * n * n * n);
    CHECK(sum(nodes, &endpoint_counters::duplicates) > 0);
    CHECK(sum(nodes, &endpoint_counters::ttl_expired) == 0);
  }
}

TEST_CASE("a relay forwards payloads it could not decode, and only their consumer counts them") {
  chain nodes{3};
  auto sub = nodes.back().make_subscriber({"/t"});
  auto here = nodes.front().make_subscriber({"/t"});
  REQUIRE(nodes.front().wait_for_subscribers("/t", 2, patience));
  auto pub = nodes.front().make_publisher("/t");
  const std::byte junk[] = {std::byte{0xff}, std::byte{0}};
  sent(pub.publish(junk));
  sent(pub.publish(count{1}));
  CHECK(next_number(sub) == 1);
  CHECK(sub.counters().decode_errors == 1);
  CHECK(next_number(here) == 1);
  CHECK(here.counters().decode_errors == 1);
  CHECK(nodes.all[1]->counters().forwarded == 2);
}

TEST_CASE("relays whose links live on different threads lose and reorder nothing") {
  endpoint_options options;
  options.io_threads = 2;
  options.link_queue = {overflow_policy::block, 50, 1 << 20};
  chain nodes{5, options};
  auto sub = nodes.back().make_subscriber({"/t"}, {overflow_policy::block, 50, 1 << 20});
  auto other_way = nodes.front().make_subscriber({"/back"});
  REQUIRE(nodes.front().wait_for_subscribers("/t", 1, patience));
  REQUIRE(nodes.back().wait_for_subscribers("/back", 1, patience));
  auto publish = [](endpoint& from, std::string_view topic) {
    auto pub = from.make_publisher(topic);
    for (std::uint64_t i = 0; i < 20'000; ++i)
      sent(pub.publish(count{i}));
  };
  std::thread there{[&] { publish(nodes.front(), "/t"); }};
  std::thread back{[&] { publish(nodes.back(), "/back"); }};
  CHECK(receives_in_order(sub, 20'000));
  CHECK(receives_in_order(other_way, 20'000));
  there.join();
  back.join();
}

TEST_CASE("three I/O threads serve many links as one does") {
  endpoint_options options;
  options.io_threads = 3;
  endpoint hub{options};
  const auto where = listen(hub);
  std::vector<std::unique_ptr<endpoint>> sources;
  auto sub = hub.make_subscriber({"/t"});
  std::vector<std::thread> publishers;
  for (std::uint64_t i = 0; i < 6; ++i) {
    sources.push_back(std::make_unique<endpoint>());
    REQUIRE(sources.back()->peer(where));
    publishers.emplace_back([&source = *sources.back(), i] {
      for (std::uint64_t k = 0; k < 2000; ++k)
        sent(source.publish("/t", count{i * 2000 + k}));
    });
  }
  std::vector<std::uint64_t> next(6);
  for (int n = 0; n < 6 * 2000; ++n) {
    const auto number = next_number(sub);
    CHECK(number % 2000 == next[number / 2000]++);
  }
  for (auto& each : publishers)
    each.join();
}

TEST_CASE(
    "the first message of a node that has just come tells its name, several hops away as well") {
  chain nodes{3};
  auto sub = nodes.back().make_subscriber({"/t"});
  REQUIRE(nodes.front().wait_for_subscribers("/t", 1, patience));
  const auto where = listen(nodes.front());
  for (int round = 0; round < 400; ++round) {
    endpoint newcomer;
    std::jthread publisher{[&](const std::stop_token& enough) {
      while (newcomer.publish("/t", count{1}) == publish_result::unwanted)
        if (enough.stop_requested())
          return;
    }};
    REQUIRE(newcomer.peer(where));
    const auto msg = sub.get_for(patience);
    REQUIRE(msg.has_value());
    CHECK(get_publishing_endpoint(*msg) == newcomer.id());
  }
}
