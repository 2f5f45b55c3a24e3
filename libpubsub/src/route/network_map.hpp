// What one node knows of the network: all links, all subscriptions, and the way to every node.
// Pure: no I/O, no threads.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include <pubsub/endpoint_id.hpp>

#include "route/reports.hpp"
#include "route/shortest_paths.hpp"

namespace pubsub {

/// Every node reports its links and its wants; reports travel to every node over all links. Links
/// count at once. Wants count once the *next hop* on the way to the node that has them has told
/// them: so who knows a want knows that every node on the way knows it too, and a publisher that
/// sees a subscriber can reach it. Peers that do not speak this protocol are neighbours too, but
/// have no reports, and no way leads through them.
class network_map {
public:
  using any_report = std::variant<neighbours_report, filter_report>;
  /// Something to be sent, to each neighbour in the order in which it came.
  struct message {
    std::vector<endpoint_id> to;
    std::shared_ptr<const any_report> what;
  };
  struct filter_change {
    endpoint_id node;
    std::uint64_t number = 0; ///< of the report
    std::vector<std::string> added;
    std::vector<std::string> removed;
  };
  /// More nodes than that are not remembered: those out of reach go.
  static constexpr std::size_t max_nodes = 65'536;

  /// `life`: later starts have a higher one. `relays`: whether this node passes messages on.
  network_map(const endpoint_id& self, std::uint64_t incarnation, bool relays);

  // -- what happens ------------------------------------------------------------------------------

  /// A connection to a node that speaks this protocol: it is sent all we know.
  void add_neighbour(const endpoint_id& who);
  /// It has told all it knew: from now on ways lead over it.
  void neighbour_ready(const endpoint_id& who);
  /// A peer that does not speak this protocol.
  void add_broker_peer(const endpoint_id& who);
  /// The connections to these neighbours and Broker peers are gone.
  void remove(const std::vector<endpoint_id>& all);
  /// Our own wants have changed; the first change has number 2, and each one more.
  void change_filter(std::uint64_t number, std::vector<std::string> added,
                     std::vector<std::string> removed);
  /// False if the report breaks the rules.
  bool receive(const endpoint_id& from, neighbours_report report);
  bool receive(const endpoint_id& from, filter_report report);

  // -- what follows ------------------------------------------------------------------------------

  std::vector<message> take_messages() { return std::exchange(messages_, {}); }
  /// The changes of other nodes' wants since the last call.
  std::vector<filter_change> take_filter_changes() { return std::exchange(filter_changes_, {}); }
  /// How far the wants of a node count here, ourselves included: life and number of the last
  /// report.
  std::pair<std::uint64_t, std::uint64_t> filter_known(const endpoint_id& who) const;
  /// Nodes that have started again since the last call.
  std::vector<endpoint_id> take_restarted() { return std::exchange(restarted_, {}); }
  bool has_filter_changes() const noexcept { return !filter_changes_.empty(); }
  /// Rises with every change of the links.
  std::uint64_t links_version() const noexcept { return links_version_; }

  /// Calls `visit` with the id of each other node, whether it passes messages on, and its links.
  template <class Visitor>
  void visit_nodes(Visitor&& visit) const {
    for (const auto& [id, at] : nodes_)
      if (id != self_ && at.links_number > 0)
        visit(id, at.relays, at.links);
  }

  /// The way to every node that can be reached; computed when asked for after a change.
  const next_hop_map& next_hops() const;
  /// The peers, of us and of nodes within reach, that are no nodes as far as we know.
  std::unordered_set<endpoint_id> all_broker_peers() const;
  /// Whether we are the one among the nodes linked with this Broker peer that speaks for it.
  bool speaks_for(const endpoint_id& broker_peer) const;

private:
  struct node {
    std::uint64_t incarnation = 0;
    std::uint64_t links_number = 0; // 0: none reported yet
    bool relays = false;
    std::unordered_set<endpoint_id> links;
    std::uint64_t filter_number = 0; // of the last report that counts; 0: none
    std::set<std::string> prefixes;
    std::deque<std::shared_ptr<const any_report>> pending; // not yet told by the next hop
    std::uint64_t newest_filter = 0;                       // the highest in pending, or that counts
    std::map<endpoint_id, std::uint64_t> announced;        // what each neighbour has told of wants
  };

  node* find_for_report(const report_header& about);
  void become_newer_than(std::uint64_t incarnation);
  void change_links(const std::vector<endpoint_id>& added, const std::vector<endpoint_id>& removed);
  void send_all(const endpoint_id& to);
  void apply(const endpoint_id& id, node& at, const std::shared_ptr<const any_report>& report);
  void catch_up(const endpoint_id& id, node& at);
  void catch_up_all();
  bool is_next_hop(const endpoint_id& neighbour, const endpoint_id& to) const;
  void pass_on(std::shared_ptr<const any_report> what, const endpoint_id& except);
  void send(std::vector<endpoint_id> to, any_report what);
  void forget_unreachable();
  any_report whole_links(const endpoint_id& id, const node& at) const;
  any_report whole_filter(const endpoint_id& id, const node& at) const;
  void visit_ways_out(const endpoint_id& from,
                      const std::function<void(const endpoint_id&)>& visit) const;

  const endpoint_id self_;
  std::unordered_map<endpoint_id, node> nodes_; // we are one of them
  std::map<endpoint_id, bool> neighbours_;      // and whether they are ready
  std::set<endpoint_id> broker_peers_;
  std::set<endpoint_id> with_pending_;
  std::vector<message> messages_;
  std::vector<filter_change> filter_changes_;
  std::vector<endpoint_id> restarted_;
  std::uint64_t links_version_ = 1;
  mutable std::uint64_t next_hops_version_ = 0;
  mutable next_hop_map next_hops_;
};

} // namespace pubsub
