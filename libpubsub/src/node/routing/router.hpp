// Where messages go: subscriptions and ways, shared by all threads of an endpoint.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <pubsub/filter.hpp>
#include <pubsub/peer_info.hpp>

#include "link/link.hpp"
#include "message/destinations.hpp"
#include "node/broker_mesh/circles.hpp"
#include "node/broker_mesh/relayed_copies.hpp"
#include "node/routing/route_flush.hpp"
#include "queue/message_queue.hpp"
#include "route/network_map.hpp"
#include "route/stream_marks.hpp"
#include "route/subscription_table.hpp"

namespace pubsub {

/// The exits a message takes.
struct route {
  std::vector<std::shared_ptr<message_queue>> queues;
  std::vector<std::shared_ptr<link>> links; // of Broker peers, then of the network
  std::size_t broker_peers = 0;
  std::vector<bounded_queue*> exits; // of the queues, then of the links
  std::shared_ptr<const destinations_by_link>
      nodes; // whom the messages are for, by link of the network

  std::span<bounded_queue* const> to_all() const noexcept { return exits; }
  std::span<bounded_queue* const> to_queues() const noexcept {
    return to_all().first(queues.size());
  }
  std::span<bounded_queue* const> to_links() const noexcept {
    return to_all().subspan(queues.size());
  }
  /// Peers that speak version 1.
  std::span<bounded_queue* const> to_broker_peers() const noexcept {
    return to_links().first(broker_peers);
  }
  std::span<bounded_queue* const> to_network() const noexcept {
    return to_links().subspan(broker_peers);
  }
  bool empty() const noexcept { return exits.empty(); }
};

/// An immutable picture of all subscriptions; const access is concurrent.
struct routing_snapshot {
  using directory = std::unordered_map<endpoint_id, std::shared_ptr<link>>;

  prefix_index<std::shared_ptr<message_queue>> queues;
  prefix_index<endpoint_id> remote;              // Broker peers and nodes of the network
  prefix_index<std::uint64_t> filter_numbers;    // by node: how far its wants are known
  std::shared_ptr<const directory> broker_peers; // Broker peers we speak for
  std::shared_ptr<const directory> next_links;   // the way to each node within reach
  /// Broker peers another node speaks for.
  std::shared_ptr<const std::set<endpoint_id>> left_to_others;
  /// What does not go to Broker peers, nor is taken from them, because it would go round.
  std::shared_ptr<const circles::closed_topics> closed;
};

/// Guards the subscriptions and the map of the network; publishers and links read snapshots, which
/// share with one another what has not changed, without a lock. Every change that alters what
/// others should know is told to them before the call returns, after the change is in force: who
/// hears of a subscription can rely on the way to it. *Foreigners* are peers that speak version 1:
/// they are told one filter for all that is behind us, and one node speaks for each of them.
/// Thread-safe.
class router {
public:
  router(const endpoint_id& self, filter forward_topics, bool forwarding);

  // -- our subscribers ---------------------------------------------------------------------------

  subscriber_id add_subscriber(std::shared_ptr<message_queue> queue, const filter& wanted);
  void add_topic(subscriber_id who, std::string_view prefix);
  void remove_topic(subscriber_id who, std::string_view prefix);
  void remove_subscriber(subscriber_id who);
  filter subscriber_filter(subscriber_id who) const;

  // -- Broker peers
  // --------------------------------------------------------------------------------

  /// `told` is the filter the peer got in the handshake; if that has changed since, it gets an
  /// update.
  void add_broker_peer(const endpoint_id& who, std::shared_ptr<link> via, filter wanted,
                       filter announced);
  void set_filter(const endpoint_id& who, filter wanted);
  /// Opens circles for which no probe has come back lately; to be called every
  /// `circles::time_between_probes`.
  void forget_old_circles();
  /// The topics on which to probe whether what goes out over a Broker peer comes back over another.
  /// They stay the same as long as `version` does.
  std::vector<std::string> topics_to_probe(const endpoint_id& over) const;
  /// A probe on this topic, which `prober` has sent over `over`, has come in over `from`.
  void receive_probe(const endpoint_id& from, const endpoint_id& prober, const endpoint_id& over,
                     std::string_view topic);

  // -- nodes of the network ----------------------------------------------------------------------

  /// Tells a neighbour all we know, and that this was all.
  void add_neighbour(const endpoint_id& who, std::shared_ptr<link> via);
  /// It has told all it knew: from now on messages go that way.
  void neighbour_ready(const endpoint_id& who);
  /// False if the report breaks the rules.
  bool receive(const endpoint_id& from, neighbours_report report);
  bool receive(const endpoint_id& from, filter_report report);

  stream_marks& streams() noexcept { return streams_; }
  route_flushes& flushes() noexcept { return flushes_; }
  /// Call it only where there are Broker peers.
  relayed_copies& copies() noexcept { return *copies_; }

  /// Waits until every node within reach knows all we want, and so does every node on the way from
  /// it. False at the deadline, or if closed.
  bool wait_until_known(const deadline& until);
  void receive(const filter_question& question);
  void receive(const filter_answer& answer);
  /// Ours, or on its way through us.
  void receive(const flush_answer& answer);

  // -- both --------------------------------------------------------------------------------------

  void remove_peers(const std::vector<endpoint_id>& all);
  /// Returns the neighbour that was removed, and the nodes that were reached over it and are
  /// reached another way now: before what goes there that way, what went over it has to arrive.
  std::vector<endpoint_id> remove_peer(const endpoint_id& who);
  /// What is wanted by a Broker peer, or by all nodes reached over a neighbour.
  filter peer_filter(const endpoint_id& who) const;
  std::vector<node_info> nodes() const;
  /// What to announce to a Broker peer, or to anybody if nil.
  filter announcement_for(const endpoint_id& peer) const;

  /// Rises with every change.
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  std::shared_ptr<const routing_snapshot> snapshot() const;

  /// Subscribers here, plus nodes and Broker peers within reach that want `topic`.
  std::size_t count(std::string_view topic) const;
  /// Waits until `count(topic) >= n`, or closed. False on timeout.
  bool wait_for(std::string_view topic, std::size_t n, std::chrono::nanoseconds timeout) const;

  /// Ends all subscriptions: queues take no more, what they hold can be read.
  void close();

private:
  using table_type = subscription_table<std::shared_ptr<message_queue>, endpoint_id>;
  using directory = routing_snapshot::directory;

  struct broker_peer {
    std::shared_ptr<link> via;
    filter wanted;
    filter announced;        // what it last heard from us
    bool spoken_for = false; // by us
  };

  /// Calls `update` with everything in its hands; if that returns true, tells everybody.
  template <class Update>
  void change(Update&& update);
  template <class Report>
  bool take_report(const endpoint_id& from, Report report);
  void settle();
  bool choose_speakers();
  void tell();
  void tell_network();
  void tell_broker_peers();
  std::vector<endpoint_id> nodes_behind(const endpoint_id& neighbour) const;
  std::size_t count_here(std::string_view topic) const;
  const std::shared_ptr<const directory>& next_links() const;
  using filter_version = std::pair<std::uint64_t, std::uint64_t>;
  std::vector<endpoint_id> ignorant_of(const filter_version& wanted) const;
  void send_along(const filter_question& question);
  template <class Answer>
  std::shared_ptr<link> next_for(Answer& answer) const;

  const endpoint_id self_;
  const bool forwarding_;
  mutable std::mutex turn_;  // taken first: one change, with its announcements, after the other
  mutable std::mutex mutex_; // guards snapshot_, ways_ and closed_; with turn_, both to change what
                             // follows and either to read it
  mutable std::condition_variable changed_;
  table_type table_;
  network_map network_;
  stream_marks streams_;
  route_flushes flushes_;
  std::unique_ptr<relayed_copies> copies_; // made with the first Broker peer
  std::map<endpoint_id, broker_peer> broker_peers_;
  directory neighbours_;
  std::shared_ptr<const directory> spoken_for_ = std::make_shared<directory>();
  std::shared_ptr<const std::set<endpoint_id>> left_to_others_ =
      std::make_shared<std::set<endpoint_id>>();
  std::map<endpoint_id, filter_version> knowing_;    // what nodes have said they know of our wants
  std::uint64_t speakers_version_ = 0;               // of the links for which speakers were chosen
  std::unordered_set<endpoint_id> all_broker_peers_; // of the network, then
  circles circles_;

  mutable std::shared_ptr<const routing_snapshot> snapshot_; // null until someone asks
  mutable std::shared_ptr<const directory> next_links_;
  mutable std::uint64_t next_links_version_ = 0;
  bool closed_ = false;
  std::atomic<std::uint64_t> version_{1};
  subscriber_id last_id_ = 0; // guarded by turn_
};

} // namespace pubsub
