#include "route/shortest_paths.hpp"

#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

#include "base/bytes.hpp"

namespace pubsub {

namespace {

constexpr std::uint64_t one_hop = std::uint64_t{1}
                                  << 40; // leaves room for a path of a million hops
constexpr std::uint64_t tie_break_mask = (std::uint64_t{1} << 32) - 1;

constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x ^= x >> 31;
  x *= 0x7fb5'd329'728e'a185;
  x ^= x >> 27;
  x *= 0x81da'def4'bc2d'd44d;
  return x ^ (x >> 33);
}

std::uint64_t digest(std::uint64_t seed, const endpoint_id& id) noexcept {
  const auto* bytes = reinterpret_cast<const std::byte*>(id.bytes().data());
  return mix(mix(seed ^ load_be<std::uint64_t>(bytes)) ^ load_be<std::uint64_t>(bytes + 8));
}

struct place {
  std::uint64_t cost;
  endpoint_id node;
  endpoint_id first_hop;
  bool operator>(const place& other) const noexcept { return cost > other.cost; }
};

} // namespace

std::uint64_t link_cost(const endpoint_id& x, const endpoint_id& y) noexcept {
  const auto& [low, high] = std::minmax(x, y);
  return one_hop + (digest(digest(1, low), high) & tie_break_mask);
}

next_hop_map shortest_paths(const endpoint_id& from, const neighbours_of& links) {
  next_hop_map result;
  std::priority_queue<place, std::vector<place>, std::greater<>> front;
  auto go_on = [&](const place& here) {
    links(here.node, [&](const endpoint_id& next) {
      if (next == from || result.contains(next))
        return;
      const auto first = here.node == from ? next : here.first_hop;
      front.push({here.cost + link_cost(here.node, next), next, first});
    });
  };
  go_on({0, from, from});
  while (!front.empty()) {
    const auto nearest = front.top();
    front.pop();
    if (result.emplace(nearest.node, nearest.first_hop).second)
      go_on(nearest);
  }
  return result;
}

} // namespace pubsub
