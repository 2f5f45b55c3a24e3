// Any topology: in rings and meshes everybody gets everything once and in order.
#include "support/nodes.hpp"

#include <set>
#include <thread>

using namespace pubsub;
using namespace pubsub::test;

namespace {

/// Endpoints, each with a subscriber that wants what all of them publish: `/t/<number>`.
struct network {
  explicit network(std::size_t n, const endpoint_options& options = {},
                   const queue_options& queue = {}) {
    for (std::size_t i = 0; i < n; ++i) {
      nodes.push_back(std::make_unique<endpoint>(options));
      subscribers.push_back(nodes.back()->make_subscriber({"/t"}, queue));
    }
  }
  void link_up(std::size_t x, std::size_t y) { join(*nodes[x], *nodes[y]); }
  void ring() {
    for (std::size_t i = 0; i < nodes.size(); ++i)
      link_up(i, (i + 1) % nodes.size());
  }
  void mesh() {
    for (std::size_t i = 0; i < nodes.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        link_up(i, k);
  }
  /// Until everybody knows all links and all subscribers.
  void wait_until_ready() {
    std::size_t ends = 0;
    for (const auto& each : nodes)
      ends += each->peers().size();
    for (const auto& each : nodes) {
      REQUIRE(eventually([&] {
        auto known = each->peers().size();
        for (const auto& node : each->nodes())
          known += node.neighbours.size();
        return known == ends;
      }));
      REQUIRE(each->wait_for_subscribers("/t", nodes.size(), patience));
    }
  }
  /// Every node publishes `messages` messages at once, every subscriber must get all, in order.
  void exchange(std::uint64_t messages, std::size_t extra_bytes = 0) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      threads.emplace_back([this, i, messages, extra_bytes] {
        const std::string extra(extra_bytes, '.');
        auto pub = nodes[i]->make_publisher("/t/" + std::to_string(i));
        for (std::uint64_t k = 0; k < messages; ++k)
          pub.publish(vector{count{k}, extra});
      });
    std::vector<std::vector<std::uint64_t>> next(nodes.size(),
                                                 std::vector<std::uint64_t>(nodes.size()));
    std::vector<std::uint64_t> wrong(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
      threads.emplace_back([&, i] {
        for (std::uint64_t n = 0; n < messages * nodes.size(); ++n) {
          const auto msg = subscribers[i].get(patience);
          if (!msg)
            return;
          const auto from = std::stoul(std::string{get_topic(*msg)}.substr(3));
          wrong[i] += (*get_view(*msg).elements().begin()).to_data() == data{count{next[i][from]++}}
                          ? 0
                          : 1;
        }
      });
    for (auto& each : threads)
      each.join();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      CHECK(wrong[i] == 0);
      CHECK(next[i] == std::vector<std::uint64_t>(nodes.size(), messages));
      CHECK(subscribers[i].available() == 0);
    }
  }
  std::uint64_t duplicates() const {
    std::uint64_t sum = 0;
    for (const auto& each : nodes)
      sum += each->counters().duplicates;
    return sum;
  }

  std::vector<std::unique_ptr<endpoint>> nodes;
  std::vector<subscriber> subscribers;
};

} // namespace

TEST_CASE("in rings everybody gets everything once and in order") {
  for (const std::size_t n : {3, 4, 5, 8}) {
    CAPTURE(n);
    network net{n};
    net.ring();
    net.wait_until_ready();
    net.exchange(2'000);
    CHECK(net.duplicates() == 0);
  }
}

TEST_CASE("in a full mesh everybody gets everything once, over the direct link") {
  network net{7};
  net.mesh();
  net.wait_until_ready();
  net.exchange(1'000);
  for (const auto& each : net.nodes)
    CHECK(each->counters().forwarded == 0);
}

TEST_CASE("full queues in a ring slow everybody down and stop nobody for ever") {
  endpoint_options small;
  small.link_queue = {overflow_policy::block, 16, 1 << 20};
  network net{8, small, {overflow_policy::block, 16, 1 << 20}};
  net.ring();
  net.wait_until_ready();
  net.exchange(1'000, 20'000);
}

TEST_CASE("a subscription that has ended leaves no trace in a ring") {
  network net{4};
  net.ring();
  net.wait_until_ready();
  for (auto& each : net.subscribers)
    each.close();
  for (const auto& each : net.nodes)
    CHECK(eventually([&] { return each->filter().empty() && each->subscribers("/t") == 0; }));
}

TEST_CASE("whoever sees a subscriber in a mesh can reach it at once") {
  network net{5};
  net.mesh();
  for (int round = 0; round < 50; ++round) {
    const auto topic = "/fresh/" + std::to_string(round);
    auto sub = net.nodes[static_cast<std::size_t>(round) % 5]->make_subscriber({topic});
    for (std::uint64_t i = 0; i < 5; ++i) {
      REQUIRE(net.nodes[i]->wait_for_subscribers(topic, 1, patience));
      net.nodes[i]->publish(topic, count{i});
    }
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 5; ++i)
      seen.insert(next_number(sub));
    CHECK(seen.size() == 5);
  }
}

TEST_CASE("a link that is cut is routed around") {
  network net{4};
  net.ring();
  net.wait_until_ready();
  CHECK(net.nodes[0]->unpeer(net.nodes[1]->id()));
  REQUIRE(eventually([&] { return net.nodes[1]->peers().size() == 1; }));
  net.wait_until_ready();
  net.exchange(1'000);
  CHECK(net.nodes[3]->unpeer(net.nodes[0]->id()));
  CHECK(eventually([&] { return net.nodes[0]->subscribers("/t") == 1; }));
  CHECK(eventually([&] { return net.nodes[2]->subscribers("/t") == 3; }));
}

TEST_CASE("two networks that are linked in two places become one") {
  network net{6};
  for (const auto& [x, y] : {std::pair{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}})
    net.link_up(static_cast<std::size_t>(x), static_cast<std::size_t>(y));
  net.link_up(0, 3);
  net.link_up(1, 4);
  net.wait_until_ready();
  net.exchange(1'000);
}

TEST_CASE("a version-1 peer with two links into a ring gets everything once") {
  network net{4};
  net.ring();
  net.wait_until_ready();
  endpoint_options version_1;
  version_1.max_wire_version = 1;
  version_1.forwarding = forwarding::off;
  endpoint stranger{version_1};
  auto sub = stranger.make_subscriber({"/t", "/s"});
  join(stranger, *net.nodes[0]);
  join(stranger, *net.nodes[2]);
  auto sees_both_links = [&](const endpoint& at) {
    const auto known = at.nodes();
    const auto peers = at.peers();
    auto is_stranger = [&](const endpoint_id& id) { return id == stranger.id(); };
    return std::ranges::count_if(known,
                                 [&](const auto& node) {
                                   return std::ranges::any_of(node.neighbours, is_stranger);
                                 }) +
               std::ranges::count(peers, stranger.id(), &peer_info::id) ==
           2;
  };
  for (const auto& each : net.nodes) {
    REQUIRE(eventually([&] { return sees_both_links(*each); }));
    REQUIRE(each->wait_for_subscribers("/s", 1, patience));
  }
  auto far = net.nodes[1]->make_subscriber({"/back"});
  REQUIRE(stranger.wait_for_subscribers("/back", 1, patience));
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    net.nodes[i % 4]->publish("/s", count{i});
    CHECK(next_number(sub) == i);
    stranger.publish("/back", count{i});
    CHECK(next_number(far) == i);
  }
  CHECK(sub.available() == 0);
  CHECK(far.available() == 0);
}
