// What one node knows of the network: all links, all filters, and the next hop to every node.
// Pure: no I/O, no threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

#include "route/known_node.hpp"
#include "route/path_tree.hpp"
#include "route/report_shares.hpp"

namespace pubsub {

/// Every node reports its links and its filter; reports travel to every node over all links. A
/// report counts once the *next hop* towards its node has made it: a neighbour is believed about
/// itself and those that are reached over it, and a node that knows a subscription knows that every
/// node on the route to it knows it too, so a publisher that sees a subscriber can reach it. Broker
/// peers are neighbours too, but make no reports, and no route leads through them. Thread-safety:
/// none, the router guards it.
class network_map {
public:
  using time = std::chrono::steady_clock::time_point;

  /// Something to be sent, to each neighbour in the order in which it came.
  struct message {
    std::vector<endpoint_id> to;
    shared_report what;
  };
  /// Beyond this number of nodes the map forgets those out of reach.
  static constexpr std::size_t max_nodes = 65'536;
  /// So does it beyond this number of bytes, and, where those within reach take more than half of
  /// that, beyond twice as many.
  static constexpr std::size_t least_bytes_to_forget_at = std::size_t{16} << 20;

  /// That one node may report of either kind.
  static constexpr std::size_t max_items = 65'536;

  /// A later start of the node has a higher `incarnation`.
  network_map(const endpoint_id& self, std::uint64_t incarnation, std::string name = {});

  // -- what happens ------------------------------------------------------------------------------

  /// A link to a node of version 2 has begun: the node is sent all reports that are known here.
  void add_neighbour(const endpoint_id& who);
  /// The neighbour has reported all it knew: from now on routes lead over it.
  void neighbour_ready(const endpoint_id& who, time now = {});
  /// This node is a client of that one: it is told our filter and no more.
  void add_host(const endpoint_id& who);
  /// Not any more: it is told that our filter is empty.
  void leave_host(const endpoint_id& who);
  void remove_host(const endpoint_id& who) { hosts_.erase(who); }
  const std::set<endpoint_id>& hosts() const noexcept { return hosts_; }
  /// A link to a Broker peer has begun.
  void add_broker_peer(const endpoint_id& who);
  /// The connections to these neighbours and Broker peers are gone.
  void remove(const std::vector<endpoint_id>& all);
  /// Whether links are new and not reported to the neighbours yet. Those that are lost are reported
  /// at once.
  bool has_news_of_links() const noexcept { return !new_links_.empty(); }
  /// Whether neighbours that are ready since then, or later, have not reported their link with this
  /// node yet: until they have, others do not know that they are within reach.
  bool awaits_links(time since) const {
    return std::ranges::any_of(awaited_, [&](const auto& each) { return each.second >= since; });
  }
  /// From now on this node reports that it passes nothing on: others choose routes that do not lead
  /// over it. It stays in the network for what is from here or for here.
  void stop_relaying();
  void report_links();
  bool has_neighbours() const noexcept { return !neighbours_.empty() || !hosts_.empty(); }
  /// The filter of this node has changed; the first change has number 2, the next 3, and so on.
  void change_filter(std::uint64_t number, std::vector<std::string> added,
                     std::vector<std::string> removed);
  /// False if the report breaks the rules: it skips a number, gives the node too many links or
  /// subscriptions, or the neighbour is none that passes anything on and speaks of others; or if
  /// the neighbour has to go because the map takes too much memory.
  bool receive(const endpoint_id& from, any_report report);

  // -- what follows ------------------------------------------------------------------------------

  std::vector<message> take_messages() { return std::exchange(messages_, {}); }
  /// The changes of other nodes' filters since the last call.
  std::vector<filter_change> take_filter_changes() { return std::exchange(filter_changes_, {}); }
  /// The last report of a node's filter that counts here: incarnation and number. `who` may be
  /// this node.
  report_version filter_known(const endpoint_id& who) const;
  /// Nodes that have started again since the last call.
  std::vector<endpoint_id> take_restarted() { return std::exchange(restarted_, {}); }
  bool has_filter_changes() const noexcept { return !filter_changes_.empty(); }
  /// Rises with every change of the links.
  std::uint64_t links_version() const noexcept { return links_version_; }

  /// Whether the node passes messages on, as it has reported.
  bool relays(const endpoint_id& node) const {
    const auto found = nodes_.find(node);
    return found != nodes_.end() && found->second.links_number > 0 && found->second.relays;
  }
  /// What is held of the reports of a neighbour.
  std::size_t report_bytes(const endpoint_id& neighbour) const {
    return shares_.bytes_of(neighbour);
  }
  /// Whether this is a node of which links are known; a Broker peer makes no reports.
  bool knows(const endpoint_id& who) const {
    const auto found = nodes_.find(who);
    return found != nodes_.end() && found->second.links_number > 0;
  }
  /// What counts of the reports of a node; null if there are none.
  const known_node* find(const endpoint_id& who) const {
    const auto found = nodes_.find(who);
    return found == nodes_.end() ? nullptr : &found->second;
  }
  /// Calls `visit` with the id of each other node, whether it passes messages on, and its links.
  template <class Visitor>
  void visit_nodes(Visitor&& visit) const {
    for (const auto& [id, at] : nodes_)
      if (id != self_ && at.links_number > 0)
        visit(id, at);
  }

  /// The next hop to every node within reach; brought up to date by the first call after a change.
  const next_hop_map& next_hops() const { return paths_.next_hops(); }
  /// As of path_tree.
  void note_reach(bool on) { paths_.note_reach(on); }
  std::vector<endpoint_id> take_reach_changes() { return paths_.take_reach_changes(); }
  /// Whether a path leads from the neighbour to `to`, but not over this node.
  bool reaches(const endpoint_id& neighbour, const endpoint_id& to) const {
    return paths_.reaches(neighbour, to);
  }
  /// Whether the neighbour is the next hop to `to`.
  bool is_next_hop(const endpoint_id& neighbour, const endpoint_id& to) const;

private:
  struct neighbour_state {
    bool ready = false;
    bool reports_link = false; // what it has said itself since includes its link with us
  };

  known_node* place_for(const endpoint_id& id);
  void become_newer_than(const any_report& claim);
  void add_own_link(const endpoint_id& to);
  shared_report reported_links() const;
  void report_links(std::vector<endpoint_id> added, std::vector<endpoint_id> removed);
  void send_all(const endpoint_id& to);
  void apply(const endpoint_id& id, known_node& at, const endpoint_id& from,
             const shared_report& report);
  bool may_report(const endpoint_id& from, const endpoint_id& id, const known_node& at,
                  const any_report& report) const;
  bool joins_us_with(const endpoint_id& neighbour, const endpoint_id& id) const;
  bool changes_paths(const endpoint_id& id, const known_node& at,
                     const neighbours_report& news) const;
  void catch_up(const endpoint_id& id, known_node& at, const endpoint_id& from);
  void touch(const endpoint_id& id, const known_node& at, const neighbours_report* news);
  void look_again_at(std::vector<endpoint_id> all);
  void look_again_at_all();
  void pass_on(shared_report what);
  void forget_unreachable(std::size_t bytes_left);
  bool is_link(const endpoint_id& id, const endpoint_id& other) const;
  void apply_links(const endpoint_id& id, known_node& at, const neighbours_report& news);
  void forget_links(const endpoint_id& id, const known_node& at);

  const endpoint_id self_;
  std::unordered_map<endpoint_id, known_node> nodes_; // this node is among them
  std::map<endpoint_id, neighbour_state> neighbours_;
  std::set<endpoint_id> broker_peers_;
  std::set<endpoint_id> hosts_;
  std::set<endpoint_id> new_links_;                       // of this node, not reported yet
  std::map<endpoint_id, time> awaited_;                   // neighbours, as of awaits_links()
  std::set<std::pair<endpoint_id, endpoint_id>> waiting_; // reports about a node, by a neighbour
  std::vector<endpoint_id> touched_; // nodes whose reports may count now by a change of links
  report_shares shares_;
  std::size_t forget_at_ = least_bytes_to_forget_at;
  std::vector<message> messages_;
  std::vector<filter_change> filter_changes_;
  std::vector<endpoint_id> restarted_;
  std::uint64_t links_version_ = 1;
  mutable path_tree paths_;
};

} // namespace pubsub
