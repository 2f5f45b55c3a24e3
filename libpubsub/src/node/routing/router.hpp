// Where messages go: subscriptions and routes, shared by all threads of an endpoint.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <pubsub/filter.hpp>
#include <pubsub/message_screen.hpp>
#include <pubsub/peer_info.hpp>

#include "node/broker_mesh/broker_mesh.hpp"
#include "node/routing/acknowledgements.hpp"
#include "node/routing/client_links.hpp"
#include "node/routing/departures.hpp"
#include "node/routing/known_waits.hpp"
#include "node/routing/network_watch.hpp"
#include "node/routing/report_pace.hpp"
#include "node/routing/route_flush.hpp"
#include "node/routing/routing_snapshot.hpp"
#include "node/routing/tuning.hpp"
#include "queue/message_queue.hpp"
#include "route/network_map.hpp"
#include "route/stream_marks.hpp"
#include "route/subscription_table.hpp"

namespace pubsub {

/// Guards the subscriptions and the map of the network; publishers and links read snapshots, which
/// share with one another what has not changed, without a lock. What others should know of a change
/// is in letters, delivered before the call returns and after the change is in force: a node that
/// hears of a subscription can rely on the route to it. Thread-safe.
class router {
public:
  /// `name`: what this node calls itself, reported to the others. `regex`: for their conditions.
  router(const endpoint_id& self, filter forward_topics, bool forwarding, std::string name = {},
         bool broker_transit = true, text_matcher_maker regex = nullptr);
  /// `later`: `report_more` shall be called after that time, by any thread. Call before there are
  /// neighbours.
  void report_later_by(std::function<void(std::chrono::nanoseconds)> later,
                       std::function<report_pace::time()> clock = std::chrono::steady_clock::now) {
    later_ = later;
    clock_ = clock;
    pace_.call_back_by(std::move(later), std::move(clock));
  }
  /// Reports more of what has been collected: links, and what peers have changed in their
  /// subscriptions.
  void report_more();

  /// Whether messages are passed on from one peer to another; from any thread.
  bool forwards() const noexcept { return forwarding_.load(std::memory_order_relaxed); }
  /// From now on this node forwards. Its peers of version 2 are removed: they took it for a client.
  /// It has none of version 1.
  void start_forwarding();

  // -- our subscribers ---------------------------------------------------------------------------

  /// `told` as of subscription_table.
  subscriber_id add_subscriber(std::shared_ptr<message_queue> queue, const filter& prefixes,
                               std::string told = {});
  void add_topic(subscriber_id who, std::string_view prefix);
  void remove_topic(subscriber_id who, std::string_view prefix);
  void remove_subscriber(subscriber_id who);
  filter subscriber_filter(subscriber_id who) const {
    std::lock_guard turn{turn_};
    return table_.local_filter(who);
  }

  // -- Broker peers ------------------------------------------------------------------------------

  /// As `broker_mesh::add`.
  void add_broker_peer(const endpoint_id& who, std::shared_ptr<peer_link> via, filter subscriptions,
                       filter announced);
  void set_filter(const endpoint_id& who, filter subscriptions);
  /// Opens circles for which no probe has come back lately; to be called every
  /// `circles::time_between_probes`.
  void forget_old_circles();
  /// As `broker_mesh::topics_to_probe`. They stay the same as long as `version` does.
  std::vector<std::string> topics_to_probe(const endpoint_id& over) const;
  /// A probe on this topic, which `prober` has sent over `over`, has come in over `from`.
  void receive_probe(const endpoint_id& from, const endpoint_id& prober, const endpoint_id& over,
                     std::string_view topic);

  // -- nodes of the network ----------------------------------------------------------------------

  /// The neighbour is sent all we know, and then that this was all.
  void add_neighbour(const endpoint_id& who, std::shared_ptr<peer_link> via);
  /// It has sent all it knew: from now on messages may go over it.
  void neighbour_ready(const endpoint_id& who);
  /// False if the report breaks the rules.
  bool receive(const endpoint_id& from, any_report report);

  // -- clients and their relays ------------------------------------------------------------------

  /// False, and then nothing is changed, if this node forwards and `host` says that it does not.
  /// `name`: what the client calls itself.
  bool add_client(const endpoint_id& who, std::shared_ptr<peer_link> via, bool host,
                  std::string name = {});
  /// False, and then nothing is changed, if this node forwards: it is no client.
  bool add_relay(const endpoint_id& who, std::shared_ptr<peer_link> via, std::string name = {});
  /// The client has told all it knew. Where we are no client, it is told the same, before any
  /// message.
  void client_ready(const endpoint_id& who);
  void receive_interest(const endpoint_id& from, topic_interest what);
  /// Our relay tells, or a client confirms.
  void receive_wanted(const endpoint_id& from, const topic_interest& what);
  void receive_served(const endpoint_id& from, const endpoint_id& by);
  void receive_relays(const endpoint_id& client, const std::vector<endpoint_id>& relays) {
    std::lock_guard lock{mutex_};
    client_links_.receive_relays(client, relays);
  }
  /// This relay is about to part from its clients: each takes another first, if it has one. Waits
  /// until that is done. False at the deadline, or if closed.
  bool move_clients(const deadline& until);
  /// As of serving_relays: messages of this relay wait. From any thread, and cheap where none do.
  bool must_wait_for_another(const endpoint_id& relay) const {
    if (!relays_wait_.load(std::memory_order_acquire))
      return false;
    std::lock_guard lock{mutex_};
    return client_links_.serving().must_wait(relay);
  }
  /// Asks the relays that serve us whether the topic is wanted, the first time, and waits for the
  /// answers, but not beyond `until`. Then messages on it go out as if they wanted them.
  void ask_relays(std::string_view topic, const deadline& until) const;
  /// As of serving_relays.
  bool may_be_wanted_by(const endpoint_id& relay, std::string_view topic) const {
    std::lock_guard lock{mutex_};
    return client_links_.serving().may_be_wanted_by(relay, topic);
  }
  /// The same: what is wanted over that relay.
  link_wish wish_of(const endpoint_id& relay, std::string_view topic) const {
    std::lock_guard lock{mutex_};
    return client_links_.serving().wish_of(relay, topic);
  }
  /// Says that the client has been told all.
  void say_known(const endpoint_id& who);
  /// Where messages of a client come from.
  struct location {
    endpoint_id relay;     ///< of which it is a client
    endpoint_id neighbour; ///< over which they came
  };
  /// Messages of this endpoint, which is no node that we know of, come from there.
  void note_entry(const endpoint_id& client, const location& from);
  /// Where the endpoint is a client; what is not known is nil, and the neighbour of a client is
  /// then the relay that serves it first.
  location find_client(const endpoint_id& id) const {
    std::lock_guard lock{mutex_};
    const auto found = located_.find(id);
    return found == located_.end() ? location{{}, client_links_.serving().first()} : found->second;
  }
  /// Whether that relay may pass on messages of that endpoint as those of a client: it is no node
  /// of the network, and if it is a client of ours it has named the relay or is about to.
  bool may_enter_at(const endpoint_id& client, const endpoint_id& relay) const {
    std::lock_guard lock{mutex_};
    if (client == self_ || network_.knows(client))
      return false;
    return !clients().contains(client) || clients().may_enter_at(client, relay);
  }

  bool reaches(const endpoint_id& neighbour, const endpoint_id& to) const {
    std::lock_guard lock{mutex_};
    return network_.reaches(neighbour, to);
  }
  /// Whether this neighbour is or was the next hop to all these nodes.
  bool has_led_to(const std::unordered_set<endpoint_id>& nodes,
                  const std::shared_ptr<peer_link>& neighbour) const {
    std::lock_guard lock{mutex_};
    return std::ranges::all_of(
        nodes, [&](const auto& each) { return next_links_.has_led_to(each, neighbour); });
  }
  stream_marks& streams() noexcept { return streams_; }
  route_flushes& flushes() noexcept { return flushes_; }

  /// Ends a part of `who` once every node within reach, and every node on the route from it, knows
  /// all our subscriptions; closes it if this is closed earlier. At once, or on any thread.
  void when_known(const std::shared_ptr<ready_state>& who);
  /// Waits until it is so. False at the deadline, or if closed.
  bool wait_until_known(const deadline& until) {
    const auto known = std::make_shared<ready_state>();
    when_known(known);
    return known->wait(until);
  }
  /// The network is to avoid this node. Waits until every node within reach knows that, and what
  /// each had sent here before has come. False at the deadline, or if closed.
  bool retire(const deadline& until);
  /// The same, again.
  bool wait_until_all_has_come(const deadline& until);
  void receive(filter_question question);
  /// Ignored if it does not come over the next hop to the node that answers.
  void receive(const endpoint_id& from, const filter_answer& answer);
  void receive(const flush_answer& answer);

  // -- both --------------------------------------------------------------------------------------

  void remove_peers(const std::vector<endpoint_id>& all);
  /// Returns the neighbour that was removed, and the nodes that were reached over it and now are
  /// over another: before what goes there on the new route, what went over it has to arrive.
  std::vector<endpoint_id> remove_peer(const endpoint_id& who);
  /// The subscriptions of a Broker peer, or of all nodes reached over a neighbour.
  filter peer_filter(const endpoint_id& who) const;
  std::vector<node_info> nodes() const;
  /// The same, counted.
  struct node_counts {
    std::size_t known = 0;
    std::size_t out_of_reach = 0;
  };
  node_counts count_nodes() const;
  /// What to announce to a Broker peer, or to any peer if nil.
  filter announcement_for(const endpoint_id& peer) const;

  /// Rises with every change.
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  std::shared_ptr<const routing_snapshot> snapshot() const;

  /// Subscribers of `topic`: those here, plus clients, nodes and Broker peers within reach. For a
  /// client its relay counts those beyond; the first time it waits for the answer.
  std::size_t count(std::string_view topic) const;
  /// Waits until `count(topic) >= n`, or closed. False on timeout.
  bool wait_for(std::string_view topic, std::size_t n, std::chrono::nanoseconds timeout) const;

  /// Whether the node passes messages on, as far as is known.
  bool relays(const endpoint_id& node) const {
    std::lock_guard lock{mutex_};
    return network_.relays(node);
  }
  /// From now on it is told which nodes change, those that are within reach now first; finished
  /// once this is closed.
  void add_watch(std::shared_ptr<network_watch> watch);
  void remove_watch(const std::shared_ptr<network_watch>& watch);
  /// Calls `visit` with the node as it is now, or null if it is out of reach. What it says holds
  /// for what is published after that. `visit` must not call this router.
  void look_at(const endpoint_id& node, const std::function<void(const node_view*)>& visit) const;
  std::size_t report_bytes(const endpoint_id& neighbour) const {
    std::lock_guard lock{mutex_};
    return network_.report_bytes(neighbour) + clients().report_bytes(neighbour);
  }
  /// Rights of peers have changed: routes are looked for again.
  void look_again();
  /// From now on links look at what they read with this; null: they do not. Topics are looked up
  /// again.
  void set_screen(std::shared_ptr<const message_screen> screen);
  std::shared_ptr<const message_screen> screen() const {
    std::lock_guard lock{mutex_};
    return screen_;
  }
  /// Ends all subscriptions: queues take no more, what they hold can be read.
  void close();

private:
  /// Calls `update` with everything in its hands; if that returns true, what others should know is
  /// delivered.
  template <class Update>
  void change(Update&& update);
  void settle();
  void note_change(const endpoint_id& node) {
    for (const auto& each : watches_)
      each->touch(node);
  }
  letters take_news();
  void report_links();
  void ask(const filter_question& question);
  /// Whether links of neighbours are about to be reported; called with the mutex held.
  bool awaits_links() const {
    return network_.awaits_links(clock_() - routing_tuning::patience_with_neighbours);
  }
  void look_at_waits();
  void ask_again();
  bool drop(const std::vector<endpoint_id>& peers);
  std::vector<endpoint_id> nodes_behind(const endpoint_id& neighbour) const;
  std::size_t count_here(std::string_view topic) const;
  std::size_t count_remote(std::string_view topic, std::size_t most) const;
  void wait_for_relays(std::unique_lock<std::mutex>& lock, std::string_view topic,
                       std::uint32_t enough, const deadline& until) const;
  const client_directory& clients() const noexcept { return client_links_.clients(); }
  /// For client_links; called with the mutex held.
  auto counter() const {
    return [this](const auto& topic, std::size_t most) { return count_remote(topic, most); };
  }
  std::vector<std::string> conditions_on(std::string_view topic) const;
  link_wish read_wish(const std::vector<std::string>& conditions);
  auto conditions() const {
    return [this](const auto& topic) { return conditions_on(topic); };
  }
  std::optional<report_version> own_filter() const;
  bool may_answer(filter_question& question, std::vector<endpoint_id>& missing);
  bool has_arrived_at(const filter_question& question);
  void answer_due();
  const link_directory& audience(link_directory& hosts) const;
  std::vector<endpoint_id> hosts() const;
  bool leads_to(const endpoint_id& neighbour, const endpoint_id& node) const;
  /// Called with the mutex held.
  const std::shared_ptr<const link_directory>& next_links() const {
    const auto& served = client_links_.serving().links();
    return served->empty() ? next_links_.update(network_, neighbours_) : served;
  }
  std::shared_ptr<const link_directory> directions() const {
    std::lock_guard lock{mutex_};
    return next_links();
  }

  const endpoint_id self_;
  std::atomic<bool> forwarding_; // once true it stays so
  mutable std::mutex turn_;      // taken first: one change, with its letters, after the other
  mutable std::mutex mutex_;     // guards snapshot_, next_links_, screen_ and closed_; with turn_,
                                 // both to change what follows and either to read it
  mutable std::condition_variable changed_;
  node_subscriptions table_;
  network_map network_;
  broker_mesh broker_mesh_;
  client_links client_links_{table_, network_};
  std::unordered_map<endpoint_id, location> located_; // clients of other nodes
  acknowledgements acknowledged_;
  known_waits waits_; // any_wait_ says whether there are any
  stream_marks streams_;
  route_flushes flushes_;
  departures departures_{flushes_};
  link_directory neighbours_; // of version 2, whether nodes, clients or our relays
  report_pace pace_;
  std::vector<std::shared_ptr<network_watch>> watches_;

  mutable std::shared_ptr<const routing_snapshot> snapshot_; // null until it is asked for
  mutable next_link_cache next_links_;
  std::shared_ptr<const message_screen> screen_;
  bool closed_ = false;
  std::atomic<std::uint64_t> version_{1};
  std::atomic<bool> relays_wait_{false}; // messages of any do
  std::atomic<bool> any_wait_{false};
  std::function<void(std::chrono::nanoseconds)> later_; // null: never
  std::function<report_pace::time()> clock_ = std::chrono::steady_clock::now;
  subscriber_id last_id_ = 0; // guarded by turn_
};

} // namespace pubsub
