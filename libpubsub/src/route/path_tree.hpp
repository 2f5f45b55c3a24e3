// The shortest path from one node to every other, kept up to date as links come and go. Pure: no
// I/O, no threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

namespace pubsub {

/// The cost of a link: one hop, and a fraction that depends on its two ends in either order. So of
/// all paths between two nodes exactly one is the shortest, every node finds the same one, and each
/// part of it is the shortest path between its own ends.
std::uint64_t link_cost(const endpoint_id& x, const endpoint_id& y) noexcept;

/// The first hop towards each node within reach.
using next_hop_map = std::unordered_map<endpoint_id, endpoint_id>;

/// Changes are noted, and take effect together when the next hops are asked for: the work is in
/// proportion to the part of the tree that changes, not to the network. Not thread-safe.
class path_tree {
public:
  explicit path_tree(const endpoint_id& root);
  path_tree(const path_tree&) = delete;
  path_tree& operator=(const path_tree&) = delete;

  /// In both directions. What is there already, or is not there, changes nothing.
  void add_link(const endpoint_id& x, const endpoint_id& y);
  void remove_link(const endpoint_id& x, const endpoint_id& y);
  /// Whether paths lead over this node. They do unless this was said since it has links; over the
  /// root they always do.
  void set_relays(const endpoint_id& node, bool relays);

  const next_hop_map& next_hops();
  /// Nodes whose next hop is another than at the last call, or is none any more; some perhaps
  /// twice.
  std::vector<endpoint_id> take_moved();
  /// From now on, or no longer, nodes that come into reach or leave it are noted.
  void note_reach(bool on);
  /// Those since the last call; some perhaps twice.
  std::vector<endpoint_id> take_reach_changes();
  /// Whether a path leads from one node to another, but not over the root. The first one may be one
  /// over which paths lead no more: what was under way there still comes.
  bool reaches(const endpoint_id& from, const endpoint_id& to) const;

private:
  struct vertex {
    endpoint_id id;
    bool relays = true;
    std::uint64_t cost = out_of_reach;                // of the path
    vertex* before = nullptr;                         // on the path
    const vertex* first = nullptr;                    // on the path, behind the root
    std::unordered_map<vertex*, std::uint64_t> edges; // with their costs
  };
  static constexpr std::uint64_t out_of_reach = ~std::uint64_t{0};

  /// A path that may be the shortest to its end.
  struct candidate {
    std::uint64_t cost;
    vertex* end;
    vertex* before;
    bool operator>(const candidate& other) const noexcept { return cost > other.cost; }
  };

  vertex& at(const endpoint_id& id);
  bool leads_on(const vertex& x) const noexcept { return x.relays || &x == root_; }
  void cut_off(vertex& x);
  void settle();
  void settle_if_much();

  std::unordered_map<endpoint_id, vertex> vertices_;
  vertex* const root_;
  std::vector<vertex*> cut_;                        // have lost their path, since the last look
  std::vector<std::pair<vertex*, vertex*>> gained_; // links that are new, or lead on
  next_hop_map next_hops_;
  std::vector<endpoint_id> moved_;
  bool notes_reach_ = false;
  std::vector<endpoint_id> reach_changes_;
};

} // namespace pubsub
