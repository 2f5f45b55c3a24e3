// Where messages go: the subscription table, shared by all threads of an endpoint.
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
#include <vector>

#include <pubsub/endpoint_id.hpp>
#include <pubsub/filter.hpp>

#include "link/link.hpp"
#include "queue/message_queue.hpp"
#include "route/subscription_table.hpp"

namespace pubsub {

/// The exits a message takes.
struct route {
  std::vector<std::shared_ptr<message_queue>> queues;
  std::vector<std::shared_ptr<link>> links;
  std::vector<bounded_queue*> exits; // of the queues, then of the links

  std::span<bounded_queue* const> to_all() const noexcept { return exits; }
  std::span<bounded_queue* const> to_queues() const noexcept {
    return to_all().first(queues.size());
  }
  std::span<bounded_queue* const> to_links() const noexcept {
    return to_all().subspan(queues.size());
  }
  bool empty() const noexcept { return exits.empty(); }
};

/// An immutable picture of all subscriptions; const access is concurrent.
struct routing_snapshot {
  using directory = std::map<endpoint_id, std::shared_ptr<link>>;

  prefix_index<std::shared_ptr<message_queue>> queues;
  prefix_index<std::shared_ptr<link>> links;
  std::shared_ptr<const directory> peers;
};

/// Guards the table; publishers and links read snapshots of it, which share with one another what
/// has not changed, without a lock. Every change that alters what a peer should know is announced
/// to that peer before the call returns, after the change is in force: who hears of a subscription
/// can rely on the way to it. Thread-safe.
class router {
public:
  router(const endpoint_id& self, filter forward_topics, bool forwarding);

  subscriber_id add_subscriber(std::shared_ptr<message_queue> queue, const filter& wanted);
  void add_topic(subscriber_id who, std::string_view prefix);
  void remove_topic(subscriber_id who, std::string_view prefix);
  void remove_subscriber(subscriber_id who);
  filter subscriber_filter(subscriber_id who) const;

  /// `told` is the filter the peer got in the handshake; if that has changed since, it gets an
  /// update.
  void add_peer(const endpoint_id& who, std::shared_ptr<link> via, filter wanted, filter told);
  void set_peer_filter(const endpoint_id& who, filter wanted);
  void remove_peer(const endpoint_id& who);
  filter peer_filter(const endpoint_id& who) const;

  /// What to announce to `peer`, or to anybody if nil.
  filter announcement_for(const endpoint_id& peer) const;

  /// Rises with every change.
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  std::shared_ptr<const routing_snapshot> snapshot() const;

  /// Subscribers plus peers that want `topic`.
  std::size_t count(std::string_view topic) const;
  /// Waits until `count(topic) >= n`, or closed. False on timeout.
  bool wait_for(std::string_view topic, std::size_t n, std::chrono::nanoseconds timeout) const;

  /// Ends all subscriptions: queues take no more, what they hold can be read.
  void close();

private:
  struct peer_target {
    std::shared_ptr<link> via;
    filter told; // what the peer last heard from us
  };

  /// Calls `update` with the table in its hands; if that returns true, tells everybody.
  template <class Update>
  void change(Update&& update);
  void announce(const std::set<endpoint_id>& outdated);
  void list_peers();

  const endpoint_id self_;
  mutable std::mutex turn_;  // taken first: one change, with its announcements, after the other
  mutable std::mutex mutex_; // guards snapshot_ and closed_; with turn_, both to change the table
                             // and either to read it
  mutable std::condition_variable changed_;
  subscription_table<std::shared_ptr<message_queue>, std::shared_ptr<link>> table_;
  std::shared_ptr<const routing_snapshot::directory> directory_; // as the table
  mutable std::shared_ptr<const routing_snapshot> snapshot_;     // null until someone asks
  bool closed_ = false;
  std::atomic<std::uint64_t> version_{1};
  std::map<endpoint_id, peer_target> peers_; // guarded by turn_, as is last_id_
  subscriber_id last_id_ = 0;
};

} // namespace pubsub
