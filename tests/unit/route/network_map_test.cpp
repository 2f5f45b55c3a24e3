// SPDX-License-Identifier: BSD-3-Clause
#include "route/network_map.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>

using namespace pubsub;

namespace {

endpoint_id node_id(std::size_t n) {
  endpoint_id::bytes_type bytes{};
  bytes[0] = static_cast<std::uint8_t>(n + 1);
  bytes[1] = static_cast<std::uint8_t>(n * 37);
  return endpoint_id{bytes};
}

std::size_t number_of(const endpoint_id& id) {
  return std::size_t{id.bytes()[0]} - 1;
}

/// Nodes and the messages under way between them, each link in its order, delivered one by one.
struct simulation {
  using link_key = std::pair<std::size_t, std::size_t>;
  struct parcel {
    std::shared_ptr<const any_report> what; // null: "that was all"
  };

  explicit simulation(std::size_t n, std::uint32_t seed = 1) : engine(seed) {
    for (std::size_t i = 0; i < n; ++i)
      nodes.push_back(std::make_unique<network_map>(node_id(i), 1));
    wants.resize(n);
    links.resize(n);
  }

  void post(std::size_t from) {
    for (const auto& [to, what] : nodes[from]->take_messages())
      for (const auto& id : to)
        if (const auto found = under_way.find({from, number_of(id)}); found != under_way.end())
          found->second.push_back({what});
  }
  void connect(std::size_t x, std::size_t y) {
    links[x].insert(y);
    links[y].insert(x);
    for (const auto& [from, to] : {link_key{x, y}, link_key{y, x}}) {
      under_way[{from, to}];
      nodes[from]->add_neighbour(node_id(to));
      post(from);
      under_way[{from, to}].push_back({nullptr});
    }
  }
  void cut(std::size_t x, std::size_t y) {
    links[x].erase(y);
    links[y].erase(x);
    under_way.erase({x, y});
    under_way.erase({y, x});
    nodes[x]->remove({node_id(y)});
    nodes[y]->remove({node_id(x)});
    post(x);
    post(y);
  }
  std::uint64_t next_number(std::size_t n) const {
    return nodes[n]->filter_known(node_id(n)).second + 1;
  }
  void want(std::size_t n, const std::string& prefix) {
    wants[n].insert(prefix);
    nodes[n]->change_filter(next_number(n), {prefix}, {});
    post(n);
  }
  void unwant(std::size_t n, const std::string& prefix) {
    wants[n].erase(prefix);
    nodes[n]->change_filter(next_number(n), {}, {prefix});
    post(n);
  }
  /// Delivers one parcel of a link picked at random. False if nothing is under way.
  bool step() {
    std::vector<link_key> busy;
    for (const auto& [key, parcels] : under_way)
      if (!parcels.empty())
        busy.push_back(key);
    if (busy.empty())
      return false;
    const auto [from, to] = busy[engine() % busy.size()];
    auto& parcels = under_way[{from, to}];
    const auto first = parcels.front();
    parcels.pop_front();
    auto& at = *nodes[to];
    if (!first.what)
      at.neighbour_ready(node_id(from));
    else if (const auto* report = std::get_if<neighbours_report>(first.what.get()))
      CHECK(at.receive(node_id(from), *report));
    else
      CHECK(at.receive(node_id(from), std::get<filter_report>(*first.what)));
    note_wants(to);
    if (engine() % 2 == 0)
      report_links(to);
    post(to);
    return true;
  }
  /// True if the node had any to report.
  bool report_links(std::size_t n) {
    const bool any = nodes[n]->has_news_of_links();
    if (any)
      nodes[n]->report_links();
    return any;
  }
  void settle() {
    for (bool again = true; again;) {
      while (step()) {
      }
      again = false;
      for (std::size_t n = 0; n < nodes.size(); ++n)
        if (report_links(n)) {
          post(n);
          again = true;
        }
    }
  }
  void note_wants(std::size_t n) {
    for (const auto& change : nodes[n]->take_filter_changes()) {
      auto& all = known[{n, number_of(change.node)}];
      for (const auto& each : change.added)
        CHECK(all.insert(each).second);
      for (const auto& each : change.removed)
        CHECK(all.erase(each) == 1);
    }
  }
  std::optional<std::size_t> next_hop(std::size_t from, std::size_t to) const {
    const auto& hops = nodes[from]->next_hops();
    const auto found = hops.find(node_id(to));
    return found == hops.end() ? std::nullopt : std::optional{number_of(found->second)};
  }
  bool connected(std::size_t from, std::size_t to) const {
    std::set<std::size_t> seen{from};
    std::deque<std::size_t> front{from};
    for (; !front.empty(); front.pop_front())
      for (const auto next : links[front.front()])
        if (seen.insert(next).second)
          front.push_back(next);
    return seen.contains(to);
  }
  /// The way of a message, each node asking its own map.
  std::vector<std::size_t> way(std::size_t from, std::size_t to) const {
    std::vector<std::size_t> result{from};
    while (result.back() != to && result.size() <= nodes.size()) {
      const auto next = next_hop(result.back(), to);
      if (!next)
        return {};
      result.push_back(*next);
    }
    return result.back() == to ? result : std::vector<std::size_t>{};
  }
  void check_all() const {
    for (std::size_t x = 0; x < nodes.size(); ++x)
      for (std::size_t y = 0; y < nodes.size(); ++y) {
        if (x == y)
          continue;
        const bool there = connected(x, y);
        CHECK(next_hop(x, y).has_value() == there);
        if (!there)
          continue;
        CHECK_FALSE(way(x, y).empty());
        const auto found = known.find({x, y});
        CHECK((found == known.end() ? std::set<std::string>{} : found->second) == wants[y]);
      }
  }

  std::mt19937 engine;
  std::vector<std::unique_ptr<network_map>> nodes;
  std::vector<std::set<std::string>> wants;
  std::vector<std::set<std::size_t>> links;
  std::map<link_key, std::deque<parcel>> under_way;
  std::map<link_key, std::set<std::string>> known; // what the first knows of the second
};

} // namespace

TEST_CASE("in a ring every node learns the wants of all, and the way to them") {
  simulation net{5};
  net.want(3, "/early");
  for (std::size_t i = 0; i < 5; ++i)
    net.connect(i, (i + 1) % 5);
  net.settle();
  net.want(0, "/late");
  net.settle();
  net.check_all();
  CHECK(net.next_hop(0, 1) == 1);
  CHECK(net.next_hop(0, 4) == 4);
  CHECK(net.way(0, 2) == std::vector<std::size_t>{0, 1, 2});
  net.cut(1, 2);
  net.settle();
  net.check_all();
  CHECK(net.way(0, 2) == std::vector<std::size_t>{0, 4, 3, 2});
}

TEST_CASE("who is gone is out of reach, and is back with its wants when the network heals") {
  simulation net{4};
  net.connect(0, 1);
  net.connect(1, 2);
  net.connect(2, 3);
  net.want(3, "/t");
  net.settle();
  net.cut(1, 2);
  net.settle();
  CHECK_FALSE(net.next_hop(0, 3));
  net.want(3, "/meanwhile");
  net.unwant(3, "/t");
  net.settle();
  net.connect(0, 3);
  net.settle();
  net.check_all();
}

TEST_CASE("the shortest way between two nodes is the same from either end, and so is each part") {
  for (std::uint32_t seed = 1; seed <= 50; ++seed) {
    simulation net{12, seed};
    for (std::size_t i = 1; i < 12; ++i)
      net.connect(i, net.engine() % i);
    for (int i = 0; i < 12; ++i) {
      const auto x = net.engine() % 12;
      const auto y = net.engine() % 12;
      if (x != y && !net.links[x].contains(y))
        net.connect(x, y);
    }
    net.settle();
    net.check_all();
    for (std::size_t x = 0; x < 12; ++x)
      for (std::size_t y = 0; y < 12; ++y) {
        auto there = net.way(x, y);
        auto back = net.way(y, x);
        std::ranges::reverse(back);
        CHECK(there == back);
        if (there.size() > 2)
          CHECK(std::vector(there.begin() + 1, there.end()) == net.way(there[1], y));
      }
  }
}

TEST_CASE("whoever knows a want knows that every node on the way knows it") {
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    simulation net{8, seed};
    for (std::size_t i = 1; i < 8; ++i)
      net.connect(i, net.engine() % i);
    for (int i = 0; i < 8; ++i) {
      const auto x = net.engine() % 8;
      const auto y = net.engine() % 8;
      if (x != y && !net.links[x].contains(y))
        net.connect(x, y);
    }
    net.settle();
    const auto reader = net.engine() % 8;
    net.want(reader, "/t");
    do
      for (std::size_t n = 0; n < 8; ++n)
        if (n != reader && net.known[{n, reader}].contains("/t"))
          for (const auto between : net.way(n, reader))
            CHECK((between == reader || net.known[{between, reader}].contains("/t")));
    while (net.step());
    net.check_all();
  }
}

TEST_CASE("whatever is linked, cut, wanted and unwanted in whatever order, all agree in the end") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    simulation net{7, seed};
    for (int i = 0; i < 60; ++i) {
      const auto x = net.engine() % 7;
      const auto y = net.engine() % 7;
      const auto topic = "/" + std::to_string(net.engine() % 3);
      switch (net.engine() % 4) {
      case 0:
        net.wants[x].contains(topic) ? net.unwant(x, topic) : net.want(x, topic);
        break;
      case 1:
        if (x != y)
          net.links[x].contains(y) ? net.cut(x, y) : net.connect(x, y);
        break;
      default:
        for (auto n = net.engine() % 20; n > 0 && net.step(); --n) {
        }
      }
    }
    net.settle();
    net.check_all();
  }
}

TEST_CASE("no way leads through a node that passes nothing on") {
  network_map a{node_id(0), 1};
  a.add_neighbour(node_id(1));
  a.add_neighbour(node_id(3));
  CHECK(a.receive(node_id(1), neighbours_report{
                                  {node_id(1), 1, 2, true}, false, {node_id(0), node_id(2)}, {}}));
  CHECK(a.receive(node_id(3), neighbours_report{{node_id(3), 1, 2, true}, true, {node_id(0)}, {}}));
  CHECK(a.receive(node_id(3), neighbours_report{{node_id(2), 1, 2, true}, true, {node_id(1)}, {}}));
  a.neighbour_ready(node_id(1));
  CHECK(a.next_hops().contains(node_id(1)));
  CHECK_FALSE(a.next_hops().contains(node_id(2)));
}

namespace {

/// Node 0 with two neighbours that pass messages on: 2, over which 3 is reached, and 1, which lies.
struct network_with_a_liar {
  network_with_a_liar() {
    const std::map<std::size_t, std::vector<endpoint_id>> links{{1, {node_id(0)}},
                                                                {2, {node_id(0), node_id(3)}}};
    for (const auto& [n, of_n] : links) {
      a.add_neighbour(node_id(n));
      CHECK(a.receive(node_id(n), neighbours_report{{node_id(n), 9, 1, true}, true, of_n, {}}));
      CHECK(a.receive(node_id(n), filter_report{{node_id(n), 9, 1, true}, {}, {}}));
    }
    CHECK(
        a.receive(node_id(2), neighbours_report{{node_id(3), 9, 1, true}, true, {node_id(2)}, {}}));
    CHECK(a.receive(node_id(2), filter_report{{node_id(3), 9, 1, true}, {"/t"}, {}}));
    for (const auto& [n, of_n] : links)
      a.neighbour_ready(node_id(n));
    a.take_messages();
    a.take_filter_changes();
  }

  network_map a{node_id(0), 1};
};

} // namespace

TEST_CASE("nobody speaks for a node that is reached over others") {
  network_with_a_liar net;
  for (const std::size_t n : {2, 3})
    for (const std::uint64_t incarnation : {std::uint64_t{9}, max_number}) {
      const report_header about{node_id(n), incarnation, 2, true};
      CHECK(net.a.receive(node_id(1), neighbours_report{about, true, {node_id(1)}, {}}));
      CHECK(net.a.receive(node_id(1), filter_report{about, {}, {}}));
    }
  CHECK(net.a.take_messages().empty()); // nor are the lies passed on
  CHECK(net.a.take_filter_changes().empty());
  CHECK(net.a.take_restarted().empty());
  CHECK(net.a.next_hops().at(node_id(2)) == node_id(2));
  CHECK(net.a.next_hops().at(node_id(3)) == node_id(2));
}

TEST_CASE("what a node reports counts as it comes over the next hop, whatever others made of it") {
  network_with_a_liar net;
  CHECK(net.a.receive(node_id(1), filter_report{{node_id(3), 9, 2, false}, {"/lie"}, {"/t"}}));
  CHECK(net.a.take_filter_changes().empty());
  CHECK(net.a.receive(node_id(2), filter_report{{node_id(3), 9, 2, false}, {"/u"}, {}}));
  const auto changes = net.a.take_filter_changes();
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].added == std::vector<std::string>{"/u"});
  CHECK(changes[0].removed.empty());
}

TEST_CASE("a report that waits counts once the way to its node leads over who made it") {
  network_with_a_liar net; // the other neighbour is honest this time
  CHECK(net.a.receive(node_id(1),
                      neighbours_report{{node_id(1), 9, 2, false}, true, {node_id(3)}, {}}));
  CHECK(net.a.receive(node_id(1),
                      neighbours_report{{node_id(3), 9, 2, true}, true, {node_id(1)}, {}}));
  CHECK(net.a.receive(node_id(1), filter_report{{node_id(3), 9, 2, true}, {"/u"}, {}}));
  CHECK(net.a.next_hops().at(node_id(3)) == node_id(2));
  CHECK(net.a.receive(node_id(2),
                      neighbours_report{{node_id(2), 9, 2, false}, true, {}, {node_id(3)}}));
  CHECK(net.a.next_hops().at(node_id(3)) == node_id(1));
  const auto changes = net.a.take_filter_changes();
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].added == std::vector<std::string>{"/u"});
  CHECK(changes[0].removed == std::vector<std::string>{"/t"});
}

TEST_CASE("until a new neighbour has reported its link others tell of its links, then no more") {
  network_with_a_liar net; // the other neighbour is honest at first
  const auto says = [&](std::size_t from, std::size_t about, std::uint64_t number,
                        std::vector<endpoint_id> added, std::vector<endpoint_id> removed) {
    CHECK(net.a.receive(node_id(from), neighbours_report{{node_id(about), 9, number, false},
                                                         true,
                                                         std::move(added),
                                                         std::move(removed)}));
  };
  says(2, 2, 2, {}, {node_id(3)});
  CHECK_FALSE(net.a.next_hops().contains(node_id(3)));
  net.a.add_neighbour(node_id(3));
  CHECK(net.a.receive(node_id(3), neighbours_report{{node_id(3), 9, 2, true}, true, {}, {}}));
  for (const bool ready : {false, true}) {
    CAPTURE(ready); // it has said all it knew when its link began
    if (ready)
      net.a.neighbour_ready(node_id(3));
    const std::uint64_t number = ready ? 5 : 3;
    says(1, 1, number - 1, {node_id(3)}, {}); // these two are linked, too
    says(1, 3, number, {node_id(1)}, {});
    CHECK(net.a.reaches(node_id(1), node_id(3))); // so its messages may come from there
    says(1, 1, number, {}, {node_id(3)});
    says(1, 3, number + 1, {}, {node_id(1)});
    CHECK_FALSE(net.a.reaches(node_id(1), node_id(3)));
  }
  says(1, 1, 6, {node_id(3)}, {});
  for (std::uint64_t number = 3; number < 7; ++number)
    says(3, 3, number, {}, {}); // the same, as it told itself
  says(3, 3, 7, {node_id(0), node_id(1)}, {});
  CHECK(net.a.reaches(node_id(1), node_id(3)));
  says(1, 3, 7, {node_id(0), node_id(1)}, {});
  says(1, 3, 8, {}, {node_id(1)}); // a lie
  CHECK(net.a.reaches(node_id(1), node_id(3)));
}

TEST_CASE("nobody speaks for a new neighbour that was reached over another one before") {
  network_with_a_liar net;
  net.a.add_neighbour(node_id(3));
  for (const bool ready : {false, true}) {
    CAPTURE(ready);
    if (ready)
      net.a.neighbour_ready(node_id(3));
    const std::uint64_t number = ready ? 3 : 2;
    CHECK(net.a.receive(node_id(1),
                        neighbours_report{{node_id(1), 9, number, true}, true, {node_id(3)}, {}}));
    CHECK(net.a.receive(node_id(1),
                        neighbours_report{{node_id(3), 9, number, true}, true, {node_id(1)}, {}}));
    CHECK_FALSE(net.a.reaches(node_id(1), node_id(3)));
    CHECK(net.a.reaches(node_id(2), node_id(3)));
  }
}

TEST_CASE("a neighbour that passes nothing on speaks for itself only") {
  network_map a{node_id(0), 1};
  a.add_neighbour(node_id(1));
  CHECK(
      a.receive(node_id(1), neighbours_report{{node_id(1), 9, 1, true}, false, {node_id(0)}, {}}));
  CHECK_FALSE(a.receive(node_id(1), neighbours_report{{node_id(2), 9, 1, true}, true, {}, {}}));
  CHECK_FALSE(a.receive(node_id(1), filter_report{{node_id(2), 9, 1, true}, {"/t"}, {}}));
}

TEST_CASE(
    "what waits and what counts have one bound, and the neighbour with most of it has to go") {
  for (const bool counts : {false, true}) {
    CAPTURE(counts);
    network_with_a_liar net;
    const auto about = node_id(counts ? 1 : 3);
    const std::string longest(60'000, 'x');
    std::size_t bytes = 0;
    std::uint64_t number = 2;
    for (bool accepted = true; accepted && bytes < 2 * report_shares::max_bytes; ++number) {
      accepted = net.a.receive(
          node_id(1),
          filter_report{{about, 9, number, false}, {longest + std::to_string(number)}, {}});
      bytes += longest.size();
      net.a.take_messages();
      net.a.take_filter_changes();
    }
    CHECK(bytes < report_shares::max_bytes + 2 * longest.size());
    CHECK(
        net.a.receive(node_id(2), filter_report{{node_id(2), 9, 2, false}, {"/u"}, {}})); // honest
    CHECK_FALSE(net.a.receive(node_id(1), filter_report{{about, 9, number, false}, {"/v"}, {}}));
    net.a.remove({node_id(1)});
    net.a.add_neighbour(node_id(1)); // begins anew
    CHECK(net.a.receive(node_id(1), neighbours_report{{node_id(1), 10, 1, true}, true, {}, {}}));
    CHECK(net.a.receive(node_id(1), filter_report{{node_id(1), 10, 1, true}, {longest}, {}}));
  }
}

TEST_CASE("of nodes out of reach those are forgotten of which much is known") {
  network_with_a_liar net;
  const std::string longest(60'000, 'x');
  const auto say = [&](std::size_t about, std::uint64_t incarnation, std::string what) {
    CHECK(net.a.receive(
        node_id(2),
        neighbours_report{{node_id(about), incarnation, 1, true}, true, {node_id(2)}, {}}));
    CHECK(net.a.receive(
        node_id(2), filter_report{{node_id(about), incarnation, 1, true}, {std::move(what)}, {}}));
  };
  std::uint64_t number = 1;
  const auto link = [&](std::size_t to, bool there) {
    neighbours_report news{{node_id(2), 9, ++number, false}, true, {}, {}};
    (there ? news.added : news.removed).push_back(node_id(to));
    CHECK(net.a.receive(node_id(2), news));
  };
  link(4, true);
  say(4, 1, "/small");
  link(4, false);
  std::size_t bytes = 0;
  for (std::uint64_t n = 1; bytes < 3 * network_map::least_bytes_to_forget_at; ++n) {
    const auto liar = 5 + n % 200; // comes, says much, and goes
    link(liar, true);
    say(liar, n, longest + std::to_string(n));
    link(liar, false);
    bytes += longest.size();
    net.a.take_messages();
    CHECK(net.a.report_bytes(node_id(2)) <
          network_map::least_bytes_to_forget_at + 3 * longest.size());
  }
  net.a.take_filter_changes();
  CHECK(net.a.filter_known(node_id(4)) == report_version{1, 1}); // small as it is
  CHECK(net.a.filter_known(node_id(3)) == report_version{9, 1}); // within reach
}

TEST_CASE("a node has only so many links and subscriptions") {
  for (const bool whole : {true, false}) {
    CAPTURE(whole);
    network_with_a_liar net;
    std::vector<endpoint_id> links;
    std::vector<std::string> prefixes;
    for (std::size_t n = 0; n <= network_map::max_items; ++n) {
      links.push_back(endpoint_id::random());
      prefixes.push_back(std::to_string(n));
    }
    CHECK_FALSE(
        net.a.receive(node_id(1), neighbours_report{{node_id(1), 9, 2, whole}, true, links, {}}));
    CHECK_FALSE(net.a.receive(node_id(1), filter_report{{node_id(1), 9, 2, whole}, prefixes, {}}));
  }
}

TEST_CASE("links that one end alone reports change no paths") {
  network_with_a_liar net;
  const auto before = net.a.links_version();
  CHECK(net.a.receive(node_id(1),
                      neighbours_report{{node_id(1), 9, 2, false}, true, {node_id(3)}, {}}));
  CHECK(net.a.receive(node_id(1),
                      neighbours_report{{node_id(1), 9, 3, false}, true, {}, {node_id(3)}}));
  CHECK(net.a.links_version() == before);
  net.a.add_broker_peer(node_id(8));
  const auto with_broker = net.a.links_version(); // of others, too, it must be known who has one
  CHECK(net.a.receive(node_id(2),
                      neighbours_report{{node_id(2), 9, 2, false}, true, {node_id(7)}, {}}));
  CHECK(net.a.links_version() != with_broker);
  const auto last = net.a.links_version();
  CHECK(net.a.receive(node_id(1),
                      neighbours_report{{node_id(1), 9, 4, false}, true, {}, {node_id(0)}}));
  CHECK(net.a.links_version() != last);
}

TEST_CASE("prefixes that come and go count as long as they are there") {
  network_with_a_liar net;
  const std::string longest(60'000, 'x');
  for (std::uint64_t number = 2; number < 12'000; number += 2) {
    REQUIRE(
        net.a.receive(node_id(1), filter_report{{node_id(1), 9, number, false}, {longest}, {}}));
    REQUIRE(net.a.receive(node_id(1),
                          filter_report{{node_id(1), 9, number + 1, false}, {}, {longest}}));
    net.a.take_messages();
    net.a.take_filter_changes();
  }
}

TEST_CASE("how far the wants of a node are known is told also where they are the same again") {
  network_map a{node_id(0), 1};
  a.add_neighbour(node_id(1));
  a.neighbour_ready(node_id(1));
  CHECK(a.receive(node_id(1), filter_report{{node_id(1), 10, 5, true}, {"/t"}, {}}));
  CHECK(a.take_filter_changes().back().number == 5);
  CHECK(
      a.receive(node_id(1), filter_report{{node_id(1), 10, 7, true}, {"/t"}, {}})); // gone and back
  const auto changes = a.take_filter_changes();
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].number == 7);
  CHECK(changes[0].added.empty());
  CHECK(changes[0].removed.empty());
}

TEST_CASE("a node that starts again with the same id leaves nothing of its former life") {
  network_map a{node_id(0), 1};
  a.add_neighbour(node_id(1));
  a.neighbour_ready(node_id(1));
  CHECK(a.receive(node_id(1), filter_report{{node_id(1), 10, 5, true}, {"/old"}, {}}));
  CHECK(a.take_filter_changes().back().added == std::vector<std::string>{"/old"});
  CHECK(a.receive(node_id(1), filter_report{{node_id(1), 11, 1, true}, {"/new"}, {}}));
  const auto changes = a.take_filter_changes();
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].removed == std::vector<std::string>{"/old"});
  CHECK(changes[1].added == std::vector<std::string>{"/new"});
  CHECK(a.take_restarted() == std::vector{node_id(1)});
  CHECK(a.receive(node_id(1), filter_report{{node_id(1), 10, 6, true}, {"/ghost"}, {}}));
  CHECK(a.take_filter_changes().empty());
}

TEST_CASE("one who is remembered from a later life starts a later one") {
  network_map a{node_id(0), 5};
  a.add_neighbour(node_id(1));
  a.take_messages();
  CHECK(a.receive(node_id(1), filter_report{{node_id(0), 9, 3, true}, {"/ghost"}, {}}));
  const auto news = a.take_messages();
  REQUIRE(news.size() == 2);
  CHECK(std::get<neighbours_report>(*news[0].what).about.incarnation == 10);
  CHECK(std::get<filter_report>(*news[1].what).about.incarnation == 10);
  CHECK(a.receive(node_id(1), filter_report{{node_id(0), 10, 2, false}, {"/lie"}, {}}));
  CHECK(header_of(*a.take_messages().at(0).what).incarnation == 11); // it had not said that
}

TEST_CASE("a report that skips a number breaks the rules") {
  network_map a{node_id(0), 1};
  a.add_neighbour(node_id(1));
  CHECK(a.receive(node_id(1), filter_report{{node_id(1), 1, 3, true}, {}, {}}));
  CHECK_FALSE(a.receive(node_id(1), filter_report{{node_id(1), 1, 5, false}, {"/t"}, {}}));
  CHECK(a.receive(node_id(1), neighbours_report{{node_id(1), 1, 3, true}, true, {}, {}}));
  CHECK_FALSE(a.receive(node_id(1), neighbours_report{{node_id(1), 1, 5, false}, true, {}, {}}));
}
