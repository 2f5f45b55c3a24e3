// Who wants what: the subscriptions of this endpoint and of its peers. Pure: no I/O, no threads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/endpoint_id.hpp>
#include <pubsub/filter.hpp>

#include "route/prefix_index.hpp"

namespace pubsub {

/// Names a local subscriber within its endpoint.
using subscriber_id = std::uint64_t;

/// A value with functions over it. Removing a subscription makes the announced filters shrink, here
/// and, by the updates that follow, at any number of hops.
class subscription_table {
public:
  explicit subscription_table(filter forward_topics = {}, bool forwarding = true)
      : forward_topics_(std::move(forward_topics)), forwarding_(forwarding) {}

  void add_local(subscriber_id who, const filter& wanted);
  /// False if nothing changed.
  bool add_local_topic(subscriber_id who, std::string_view prefix);
  bool remove_local_topic(subscriber_id who, std::string_view prefix);
  void remove_local(subscriber_id who);
  filter local_filter(subscriber_id who) const;

  /// Adds a peer or replaces the filter it announced.
  void set_peer(const endpoint_id& who, filter announced);
  void remove_peer(const endpoint_id& who);
  const filter* peer_filter(const endpoint_id& who) const;

  /// What to announce to `peer`: our own subscriptions and forward topics and, if we forward, what
  /// our *other* peers announced. A nil id leaves nobody out.
  filter announcement_for(const endpoint_id& peer) const;

  /// Subscribers and peers, each in map order; the indexes below number them by position.
  std::vector<subscriber_id> locals() const;
  std::vector<endpoint_id> peers() const;
  prefix_index local_index() const;
  prefix_index peer_index() const;

private:
  std::map<subscriber_id, std::vector<std::string>> locals_; // as requested, duplicates removed
  std::map<endpoint_id, filter> peers_;
  filter forward_topics_;
  bool forwarding_;
};

} // namespace pubsub
