// SPDX-License-Identifier: BSD-3-Clause
#include "route/path_tree.hpp"

#include <algorithm>
#include <queue>
#include <unordered_set>
#include <utility>

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

} // namespace

std::uint64_t link_cost(const endpoint_id& x, const endpoint_id& y) noexcept {
  const auto& [low, high] = std::minmax(x, y);
  return one_hop + (digest(digest(1, low), high) & tie_break_mask);
}

path_tree::path_tree(const endpoint_id& root) : root_(&at(root)) {
  root_->cost = 0;
}

path_tree::vertex& path_tree::at(const endpoint_id& id) {
  auto& result = vertices_[id];
  result.id = id;
  return result;
}

// -- changes -------------------------------------------------------------------------------------

void path_tree::add_link(const endpoint_id& x, const endpoint_id& y) {
  if (x == y)
    return;
  auto& from = at(x);
  auto& to = at(y);
  const auto cost = link_cost(x, y);
  if (!from.edges.emplace(&to, cost).second)
    return;
  to.edges.emplace(&from, cost);
  gained_.emplace_back(&from, &to);
  settle_if_much();
}

void path_tree::remove_link(const endpoint_id& x, const endpoint_id& y) {
  const auto from = vertices_.find(x);
  const auto to = vertices_.find(y);
  if (from == vertices_.end() || to == vertices_.end())
    return;
  from->second.edges.erase(&to->second);
  to->second.edges.erase(&from->second);
  if (from->second.before == &to->second)
    cut_off(from->second);
  if (to->second.before == &from->second)
    cut_off(to->second);
  for (auto* const each : {&from->second, &to->second})
    if (each->edges.empty()) {
      each->relays = true;
      cut_.push_back(each);
    }
  settle_if_much();
}

void path_tree::set_relays(const endpoint_id& node, bool relays) {
  const auto found = vertices_.find(node);
  if (found == vertices_.end() || std::exchange(found->second.relays, relays) == relays)
    return;
  auto& x = found->second;
  for (const auto& [to, cost] : x.edges)
    if (relays)
      gained_.emplace_back(&x, to);
    else if (to->before == &x && &x != root_)
      cut_off(*to);
  settle_if_much();
}

/// The path to this node is void, and so are those that lead over it.
void path_tree::cut_off(vertex& x) {
  std::vector<vertex*> open{&x};
  while (!open.empty()) {
    auto& here = *open.back();
    open.pop_back();
    here.cost = out_of_reach;
    here.before = nullptr;
    here.first = nullptr;
    cut_.push_back(&here);
    for (const auto& [to, cost] : here.edges)
      if (to->before == &here)
        open.push_back(to);
  }
}

/// What is noted is bounded, although the next hops may not be asked for over a long time.
void path_tree::settle_if_much() {
  constexpr std::size_t much = 64;
  if (cut_.size() + gained_.size() > much + 4 * vertices_.size())
    settle();
}

// -- paths ---------------------------------------------------------------------------------------

/// From the border of what has changed on, nearest first.
void path_tree::settle() {
  const auto note = [&](const endpoint_id& id, bool reach_changes) {
    moved_.push_back(id);
    if (notes_reach_ && reach_changes)
      reach_changes_.push_back(id);
  };
  std::priority_queue<candidate, std::vector<candidate>, std::greater<>> front;
  const auto offer = [&](vertex* from, vertex* to, std::uint64_t link) {
    if (from->cost != out_of_reach && leads_on(*from) && from->cost + link < to->cost)
      front.push({from->cost + link, to, from});
  };
  for (auto* const each : cut_)
    for (const auto& [from, cost] : each->edges)
      offer(from, each, cost);
  for (const auto& [x, y] : gained_)
    if (const auto link = x->edges.find(y); link != x->edges.end()) {
      offer(x, y, link->second);
      offer(y, x, link->second);
    }
  while (!front.empty()) {
    const auto nearest = front.top();
    front.pop();
    auto& here = *nearest.end;
    if (nearest.cost >= here.cost)
      continue;
    here.cost = nearest.cost;
    here.before = nearest.before;
    here.first = here.before == root_ ? &here : here.before->first;
    const auto [hop, fresh] = next_hops_.try_emplace(here.id);
    if (fresh || hop->second != here.first->id) {
      hop->second = here.first->id;
      note(here.id, fresh);
    }
    for (const auto& [to, cost] : here.edges)
      offer(&here, to, cost);
  }
  gained_.clear();
  std::vector<endpoint_id> lonely;
  for (auto* const each : std::exchange(cut_, {})) {
    if (each->cost == out_of_reach && next_hops_.erase(each->id) > 0)
      note(each->id, true);
    if (each->edges.empty() && each != root_)
      lonely.push_back(each->id);
  }
  for (const auto& each : lonely)
    vertices_.erase(each);
}

const next_hop_map& path_tree::next_hops() {
  if (!cut_.empty() || !gained_.empty())
    settle();
  return next_hops_;
}

std::vector<endpoint_id> path_tree::take_moved() {
  next_hops();
  return std::exchange(moved_, {});
}

void path_tree::note_reach(bool on) {
  next_hops();
  notes_reach_ = on;
  reach_changes_.clear();
}

std::vector<endpoint_id> path_tree::take_reach_changes() {
  next_hops();
  return std::exchange(reach_changes_, {});
}

bool path_tree::reaches(const endpoint_id& from, const endpoint_id& to) const {
  const auto start = vertices_.find(from);
  const auto end = vertices_.find(to);
  if (start == vertices_.end() || end == vertices_.end())
    return false;
  if (&end->second == root_)
    return false;
  std::unordered_set<const vertex*> seen{&start->second, root_};
  std::vector<const vertex*> open{&start->second};
  while (!open.empty()) {
    const auto& here = *open.back();
    open.pop_back();
    if (&here == &start->second || leads_on(here))
      for (const auto& [next, cost] : here.edges) {
        if (next == &end->second)
          return true;
        if (seen.insert(next).second)
          open.push_back(next);
      }
  }
  return false;
}

} // namespace pubsub
