// Any topology: in rings and meshes everybody gets everything once and in order.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/published.hpp"
#include "support/raw_peer.hpp"

#include <atomic>
#include <set>
#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

/// Endpoints, each with a subscriber that wants what all of them publish: `/t/<number>`.
struct network {
  explicit network(std::size_t n, const endpoint_options& options = {},
                   const queue_options& queue = {}) {
    for (std::size_t i = 0; i < n; ++i) {
      nodes.push_back(std::make_unique<endpoint>(forwarding_on(options)));
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
          sent(pub.publish(vector{count{k}, extra}));
      });
    std::vector<std::vector<std::uint64_t>> next(nodes.size(),
                                                 std::vector<std::uint64_t>(nodes.size()));
    std::vector<std::uint64_t> wrong(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
      threads.emplace_back([&, i] {
        for (std::uint64_t n = 0; n < messages * nodes.size(); ++n) {
          const auto msg = subscribers[i].get_for(patience);
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

/// Publishes numbers from 0 on to `/n` until it ends.
class traffic {
public:
  explicit traffic(endpoint& from)
      : thread_([this, &from] {
          auto pub = from.make_publisher("/n");
          while (!ended_) {
            sent(pub.publish(count{published_}));
            ++published_;
          }
        }) {}
  ~traffic() { end(); }
  void end() {
    ended_ = true;
    if (thread_.joinable())
      thread_.join();
  }
  std::uint64_t published() const { return published_; }
  bool goes_on_for(std::uint64_t n) const {
    return eventually([&, goal = published_ + n] { return published_ >= goal; });
  }

private:
  std::atomic<std::uint64_t> published_{0};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

/// Reads the numbers that arrive until the last one of a total told later, or nothing more comes.
class reading {
public:
  explicit reading(subscriber& from) : thread_([this, &from] { run(from); }) {}
  ~reading() { finish(0); }
  void finish(std::uint64_t total) {
    total_ = total;
    if (thread_.joinable())
      thread_.join();
  }

  std::uint64_t missing = 0;
  std::uint64_t out_of_order = 0;

private:
  void run(subscriber& from) {
    std::uint64_t next = 0;
    while (next < total_) {
      const bool all_published = total_ != unknown;
      const auto msg = from.get_for(all_published ? std::chrono::milliseconds{patience} : 10ms);
      if (!msg && all_published)
        break;
      if (!msg)
        continue;
      const auto number = *get_data(*msg).get_if<count>();
      out_of_order += number < next ? 1 : 0;
      missing += number > next ? number - next : 0;
      next = number + 1;
    }
    missing += next < total_ ? total_ - next : 0;
  }

  static constexpr std::uint64_t unknown = ~std::uint64_t{0};
  std::atomic<std::uint64_t> total_{unknown};
  std::thread thread_;
};

/// Links across a chain of five: each makes another way from one end to the other the shortest.
const std::vector<std::pair<std::size_t, std::size_t>> short_cuts{{0, 2}, {2, 4}, {1, 4}, {0, 4}};

/// Adds them under traffic, and takes them away again.
void change_links_under_traffic(const endpoint_options& options, const queue_options& queue,
                                std::uint64_t step, bool from_version_1) {
  chain nodes{5, options};
  endpoint_options version_1;
  version_1.max_wire_version = 1;
  version_1.forwarding = forwarding::off;
  endpoint stranger{version_1};
  join(stranger, nodes.front());
  auto sub = nodes.back().make_subscriber({"/n"}, queue);
  auto& source = from_version_1 ? stranger : nodes.front();
  REQUIRE(source.wait_for_subscribers("/n", 1, patience));
  reading numbers{sub};
  traffic load{source};
  CHECK(load.goes_on_for(step));
  for (const auto& [x, y] : short_cuts) {
    join(*nodes.all[x], *nodes.all[y]);
    CHECK(load.goes_on_for(step));
  }
  for (auto each = short_cuts.rbegin(); each != short_cuts.rend(); ++each) {
    CHECK(nodes.all[each->first]->unpeer(nodes.all[each->second]->id()));
    CHECK(load.goes_on_for(step));
  }
  load.end();
  numbers.finish(load.published());
  CHECK(numbers.out_of_order == 0);
  // A thread that was about to hand on a message when its link went finds it gone.
  std::uint64_t gone = 0;
  for (const auto& each : nodes.all) {
    gone += each->counters().links.dropped_gone;
    CHECK(each->counters().duplicates == 0);
  }
  CHECK(numbers.missing == gone);
  CHECK(gone <= short_cuts.size() * nodes.all.size());
  CHECK(sub.counters().missed == (from_version_1 ? 0 : gone));
}

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
      sent(net.nodes[i]->publish(topic, count{i}));
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
    sent(net.nodes[i % 4]->publish("/s", count{i}));
    CHECK(next_number(sub) == i);
    sent(stranger.publish("/back", count{i}));
    CHECK(next_number(far) == i);
  }
  CHECK(sub.available() == 0);
  CHECK(far.available() == 0);
}

TEST_CASE("links that are added under traffic cost no message") {
  chain nodes{5};
  auto sub = nodes.back().make_subscriber({"/n"});
  REQUIRE(nodes.front().wait_for_subscribers("/n", 1, patience));
  reading numbers{sub};
  traffic load{nodes.front()};
  for (const auto& [x, y] : short_cuts) {
    CHECK(load.goes_on_for(10'000));
    join(*nodes.all[x], *nodes.all[y]);
  }
  CHECK(load.goes_on_for(10'000));
  load.end();
  numbers.finish(load.published());
  CHECK(numbers.out_of_order == 0);
  CHECK(numbers.missing == 0);
}

TEST_CASE("links come and go under traffic, and every message arrives once and in order") {
  change_links_under_traffic({}, {}, 20'000, false);
}

TEST_CASE("links come and go behind full queues, and every message arrives once and in order") {
  endpoint_options small;
  small.link_queue = {overflow_policy::block, 16, 1 << 20};
  change_links_under_traffic(small, {overflow_policy::block, 16, 1 << 20}, 5'000, false);
}

TEST_CASE("links come and go, and every message of a version-1 peer arrives once and in order") {
  change_links_under_traffic({}, {}, 5'000, true);
}

TEST_CASE("a flush is answered behind the messages before it") {
  endpoint ep;
  raw_peer raw{ep, *ep.listen("tcp://127.0.0.1:0"), 2};
  std::string id;
  for (const char c : to_string(ep.id()))
    if (c != '-')
      id += c;
  REQUIRE(raw.wire.send("80000027 09 00 ffffffffffffffffffffffffffffffff 00000007 01" + id));
  CHECK(raw.next_of_kind(0x0a) ==
        from_hex("0a 10 ffffffffffffffffffffffffffffffff 00000007 01" + id));
  SUBCASE("one for a node that nothing goes to is answered as well") {
    REQUIRE(raw.wire.send("80000027 09 0f ffffffffffffffffffffffffffffffff 00000008 01"
                          "dddddddddddddddddddddddddddddddd"));
    CHECK(raw.next_of_kind(0x0a) == from_hex("0a 10 ffffffffffffffffffffffffffffffff 00000008 01"
                                             "dddddddddddddddddddddddddddddddd"));
  }
  SUBCASE("one that says it has come too far closes the link") {
    REQUIRE(raw.wire.send("80000027 09 10 ffffffffffffffffffffffffffffffff 00000008 01" + id));
    CHECK(raw.wire.closed_by_peer());
  }
}

TEST_CASE("a flush that is not answered holds messages up for a while, not for ever") {
  endpoint_options options;
  options.link_queue.policy = overflow_policy::drop_newest;
  endpoint ep{options};
  raw_peer raw{ep, *ep.listen("tcp://127.0.0.1:0"), 2};
  REQUIRE(raw.wire.send(news_of_far_node));
  REQUIRE(ep.wait_for_subscribers("/n", 2, patience));
  auto pub = ep.make_publisher("/n");
  CHECK(pub.publish(count{0}) == publish_result::taken); // to both, over the raw peer
  options.id = far_id();
  endpoint far{forwarding_on(options)};
  auto sub = far.make_subscriber({"/n"});
  join(far, ep);
  CHECK(eventually(
      [&] { return std::ranges::count(ep.nodes(), far_id(), &node_info::next_hop) == 1; }));
  CHECK(pub.try_publish(count{1}) == publish_result::would_block);
  auto result = publish_result::would_block;
  CHECK(eventually([&] {
    result = pub.publish_for(count{1}, 10ms);
    return result != publish_result::would_block;
  }));
  CHECK(result == publish_result::taken);
  CHECK(next_number(sub) == 1);
  const auto asked = raw.next_of_kind(9);
  CHECK_FALSE(asked.empty());
  CHECK(raw.next_of_kind(9) == asked); // again
}

namespace {

const std::string far_node = "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";
const std::string origin_of_batches = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/// One record with this number, on the first topic of table 0.
std::string batch_of_one(unsigned number) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016x", number);
  return "80000032 01 10 0000 00000001 00000001" + std::string{digits} + origin_of_batches +
         "00000009 00 02" + digits;
}

/// Table 0: this topic of two characters, for the far node.
std::string table_for_far_node(const std::string& topic_in_hex) {
  return "80000020 02 00 0000 02" + topic_in_hex + "01" + far_node + "ffffffffffffffff";
}

} // namespace

TEST_CASE("batches that wait keep to the topics they came with, whatever changes meanwhile") {
  endpoint_options options;
  options.link_queue = {overflow_policy::drop_newest, 10'000, 1 << 24}; // flushes end after 1 s
  options.id = raw_peer::id('1'); // a smaller one than raw peers, which do not begin handshakes
  endpoint ep{options};
  const auto port = *ep.listen("tcp://127.0.0.1:0");
  raw_peer silent{ep, port, 2}; // the way to the far node so far
  raw_peer source{ep, port, 2, 0, 'a'};
  REQUIRE(silent.wire.send(news_of_far_node));
  REQUIRE(ep.wait_for_subscribers("/n", 3, patience));
  REQUIRE(source.wire.send(table_for_far_node("2f6e") + batch_of_one(0)));
  REQUIRE(eventually([&] { return ep.counters().forwarded == 1; }));
  options.id = far_id();
  endpoint far{forwarding_on(options)};
  auto sub = far.make_subscriber({"/n", "/m"});
  join(far, ep);
  REQUIRE(eventually(
      [&] { return std::ranges::count(ep.nodes(), far_id(), &node_info::next_hop) == 1; }));

  constexpr unsigned waiting = 2'000;
  std::string batches;
  for (unsigned i = 1; i <= waiting; ++i)
    batches += batch_of_one(i);
  REQUIRE(source.wire.send(batches + table_for_far_node("2f6d") + batch_of_one(waiting + 1)));
  const std::jthread changes{[&](const std::stop_token& stop) {
    auto other = ep.make_subscriber({"/other"});
    for (int n = 0; !stop.stop_requested(); ++n) {
      const auto topic = "/another/" + std::to_string(n);
      other.add_topic(topic);
      // Reports that came faster than the far node reads them would close its link.
      CHECK(far.wait_for_subscribers(topic, 1, patience));
      other.remove_topic(topic);
    }
  }};
  for (unsigned i = 1; i <= waiting + 1; ++i) {
    const auto msg = sub.get_for(patience);
    REQUIRE(msg);
    CHECK(get_data(*msg) == data{count{i}});
    CHECK(get_topic(*msg) == (i <= waiting ? "/n" : "/m"));
  }
}
