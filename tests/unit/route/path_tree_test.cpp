// SPDX-License-Identifier: BSD-3-Clause
#include "route/path_tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "support/ids.hpp"

using namespace pubsub;
using pubsub::test::id_of;

namespace {

/// Links as a set, with the next hops found by trying all paths anew.
struct plain_network {
  std::set<std::pair<endpoint_id, endpoint_id>> links; // in both directions
  std::set<endpoint_id> dead_ends;

  void add(const endpoint_id& x, const endpoint_id& y) {
    links.insert({x, y});
    links.insert({y, x});
  }
  void remove(const endpoint_id& x, const endpoint_id& y) {
    links.erase({x, y});
    links.erase({y, x});
  }
  bool has_links(const endpoint_id& x) const {
    return std::ranges::any_of(links, [&](const auto& each) { return each.first == x; });
  }
  next_hop_map next_hops(const endpoint_id& root) const {
    std::map<endpoint_id, std::uint64_t> costs{{root, 0}};
    next_hop_map result;
    for (bool again = true; again;) {
      again = false;
      for (const auto& [from, to] : links) {
        if (!costs.contains(from) || (from != root && dead_ends.contains(from)) || to == root)
          continue;
        const auto cost = costs[from] + link_cost(from, to);
        if (costs.contains(to) && costs[to] <= cost)
          continue;
        costs[to] = cost;
        result[to] = from == root ? to : result.at(from);
        again = true;
      }
    }
    return result;
  }
};

} // namespace

TEST_CASE("the next hops are those of the shortest paths, whatever has changed before") {
  std::mt19937 dice{7};
  for (int round = 0; round < 60; ++round) {
    const auto nodes = 3 + dice() % 20;
    const auto any = [&] { return id_of(static_cast<std::uint8_t>(1 + dice() % nodes)); };
    const auto root = id_of(1);
    path_tree paths{root};
    plain_network plain;
    for (int change = 0; change < 200; ++change) {
      const auto x = any();
      const auto y = any();
      const auto kind = dice() % 8;
      if (kind < 4 && x != y) {
        for (const auto& each : {x, y})
          if (!plain.has_links(each))
            plain.dead_ends.erase(each);
        plain.add(x, y);
        paths.add_link(x, y);
      } else if (kind < 7) {
        plain.remove(x, y);
        paths.remove_link(x, y);
      } else if (plain.has_links(x)) {
        const bool relays = !plain.dead_ends.insert(x).second;
        if (relays)
          plain.dead_ends.erase(x);
        paths.set_relays(x, relays);
      }
      if (dice() % 3 == 0) // else several changes take effect together
        REQUIRE(paths.next_hops() == plain.next_hops(root));
    }
  }
}

TEST_CASE("a node is reached from another over others, but not over the root or a dead end") {
  path_tree paths{id_of(1)};
  paths.add_link(id_of(1), id_of(2));
  paths.add_link(id_of(1), id_of(3));
  CHECK_FALSE(paths.reaches(id_of(2), id_of(3)));
  CHECK_FALSE(paths.reaches(id_of(2), id_of(1)));
  paths.add_link(id_of(2), id_of(4));
  paths.add_link(id_of(4), id_of(3));
  CHECK(paths.reaches(id_of(2), id_of(3)));
  paths.set_relays(id_of(4), false);
  CHECK(paths.reaches(id_of(2), id_of(4)));
  CHECK_FALSE(paths.reaches(id_of(2), id_of(3)));
  CHECK_FALSE(paths.reaches(id_of(9), id_of(3)));
  paths.set_relays(id_of(2), false); // it has still messages under way
  CHECK(paths.reaches(id_of(2), id_of(4)));
}

TEST_CASE("a node may have very many links, which come and go together") {
  constexpr std::size_t many = 30'000;
  const auto root = id_of(1);
  const auto hub = id_of(2);
  const auto far = [](std::size_t n) {
    endpoint_id::bytes_type bytes{3};
    bytes[1] = static_cast<std::uint8_t>(n >> 8);
    bytes[2] = static_cast<std::uint8_t>(n);
    return endpoint_id{bytes};
  };
  path_tree paths{root};
  paths.add_link(root, hub);
  for (std::size_t n = 0; n < many; ++n)
    paths.add_link(hub, far(n));
  CHECK(paths.next_hops().size() == many + 1);
  CHECK(paths.next_hops().at(far(many - 1)) == hub);
  for (std::size_t n = 0; n < many; ++n)
    paths.remove_link(hub, far(n));
  CHECK(paths.next_hops().size() == 1);
}
