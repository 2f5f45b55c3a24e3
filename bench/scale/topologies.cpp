// SPDX-License-Identifier: BSD-3-Clause
#include "scale/topologies.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>

namespace pubsub::scale {

namespace {

/// Wires without direction; none twice, none from a relay to itself.
class wiring {
public:
  explicit wiring(std::size_t relays) { net_.relays = relays; }

  bool join(std::size_t x, std::size_t y) {
    if (x == y || !known_.insert(std::minmax(x, y)).second)
      return false;
    net_.wires.emplace_back(x, y);
    return true;
  }
  void join_ring(const std::vector<std::size_t>& members) {
    for (std::size_t i = 0; i < members.size(); ++i)
      join(members[i], members[(i + 1) % members.size()]);
  }
  std::size_t wires() const noexcept { return net_.wires.size(); }
  topology take() { return std::move(net_); }

private:
  topology net_;
  std::set<wire_ends> known_;
};

std::vector<std::size_t> numbers(std::size_t first, std::size_t end) {
  std::vector<std::size_t> result(end - first);
  std::iota(result.begin(), result.end(), first);
  return result;
}

topology random_network(std::size_t relays, std::mt19937_64& dice) {
  wiring net{relays};
  auto order = numbers(0, relays);
  std::ranges::shuffle(order, dice);
  net.join_ring(order);
  std::uniform_int_distribution<std::size_t> any{0, relays - 1};
  const auto wanted = relays < 6 ? net.wires() : 2 * relays;
  while (net.wires() < wanted)
    net.join(any(dice), any(dice));
  return net.take();
}

topology hubs(std::size_t relays, std::mt19937_64& dice) {
  wiring net{relays};
  const auto hubs = std::clamp<std::size_t>(relays / 100, std::min<std::size_t>(2, relays), relays);
  for (std::size_t x = 0; x < hubs; ++x)
    for (std::size_t y = x + 1; y < hubs; ++y)
      net.join(x, y);
  std::uniform_int_distribution<std::size_t> any{0, hubs - 1};
  for (auto spoke = hubs; spoke < relays; ++spoke) {
    const auto first = any(dice);
    net.join(spoke, first);
    net.join(spoke, (first + 1) % hubs);
  }
  return net.take();
}

topology fat_tree(std::size_t relays) {
  wiring net{relays};
  const auto top = std::max<std::size_t>(1, relays / 25);
  const auto middle = std::min(relays, top + std::max<std::size_t>(1, relays / 5));
  net.join_ring(numbers(0, top));
  const auto below = [&](std::size_t first, std::size_t end, std::size_t above, std::size_t width) {
    for (auto each = first; each < end; ++each)
      for (std::size_t n = 0; n < 2; ++n)
        net.join(each, above + (each - first + n) % width);
  };
  below(top, middle, 0, top);
  below(middle, relays, top, middle - top);
  return net.take();
}

topology rings(std::size_t relays) {
  constexpr std::size_t members = 10;
  wiring net{relays};
  std::vector<std::size_t> gates;
  for (std::size_t first = 0; first < relays; first += members) {
    net.join_ring(numbers(first, std::min(relays, first + members)));
    gates.push_back(first);
  }
  net.join_ring(gates);
  return net.take();
}

} // namespace

const std::vector<std::string>& families() {
  static const std::vector<std::string> all{"random", "hubs", "fat-tree", "rings"};
  return all;
}

topology make_topology(const std::string& family, std::size_t relays, std::uint64_t seed) {
  std::mt19937_64 dice{seed};
  if (family == "random")
    return random_network(relays, dice);
  if (family == "hubs")
    return hubs(relays, dice);
  if (family == "fat-tree")
    return fat_tree(relays);
  if (family == "rings")
    return rings(relays);
  throw std::invalid_argument{"no family of networks is called '" + family + "'"};
}

std::vector<std::size_t> distances(const topology& net, std::size_t from) {
  std::vector<std::vector<std::size_t>> linked(net.relays);
  for (const auto& [x, y] : net.wires) {
    linked[x].push_back(y);
    linked[y].push_back(x);
  }
  std::vector<std::size_t> result(net.relays, std::numeric_limits<std::size_t>::max());
  result[from] = 0;
  std::vector<std::size_t> front{from};
  for (std::size_t at = 0; at < front.size(); ++at)
    for (const auto next : linked[front[at]])
      if (result[next] > result[front[at]] + 1) {
        result[next] = result[front[at]] + 1;
        front.push_back(next);
      }
  return result;
}

} // namespace pubsub::scale
