// Topic to exits, remembered per topic: what a publishing thread or a link asks for every message.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/same_text.hpp"
#include "node/routing/route_flush.hpp"
#include "node/routing/route_selection.hpp"
#include "node/routing/router.hpp"
#include "node/routing/tuning.hpp"

namespace pubsub {

/// Which exits are open to the messages of one origin.
struct exits {
  bool queues = true;
  bool links = true;
  const message_queue* except = nullptr; // of the queues: it gets none of them
  const peer_link* from = nullptr; // to this Broker peer messages never go back; its rights count
};

/// A cache of routes over the router's snapshot. Thread-safety: one thread.
class dispatcher {
public:
  dispatcher(const endpoint_id& self, const router& source, exits open)
      : self_(self), router_(source), open_(open) {}

  bool outdated() const noexcept { return have_changed() || holds_too_much(); }
  /// Whether routes resolved before are void, and not for want of memory alone.
  bool have_changed() const noexcept { return router_.version() != version_; }
  /// Of the routes resolved since the last change: those of earlier generations are void.
  std::uint64_t generation() const noexcept { return generation_; }
  /// Takes over the current snapshot. True if there was a change: routes resolved before are void.
  bool refresh() {
    if (!outdated())
      return false;
    reset(router_.version());
    return true;
  }
  /// The routes that messages have taken so far and take no more, since the last call; of a client
  /// also those to relays beside which it publishes over one more from now on.
  std::vector<retired_route> take_retired_routes() { return std::exchange(retired_, {}); }
  /// The routes that messages have taken so far, and take.
  std::vector<retired_route> routes_taken() const;
  /// Whether all routes lead to relays that serve us.
  bool is_of_client() const noexcept { return snapshot_ && snapshot_->is_client; }
  /// The exits for `topic`; valid until the next `refresh`. Topics with the same exits share one
  /// route. A client may have to wait, the first time, but not beyond `until`.
  const route& resolve(std::string_view topic, const deadline& until = {}) {
    if (last_ != nullptr && same_text(topic, last_topic_))
      return *last_;
    return find(topic, until);
  }
  /// The exits for `topic` for messages that have come so many hops, from a client.
  const route& resolve_published(std::string_view topic, std::size_t hops) {
    match_all(topic);
    return *remember(hops);
  }
  /// The exits for `topic` towards these nodes only, of which we may be one, for messages that have
  /// come so many hops; looked up every time. A subscription here that began later than the message
  /// knows does not count. What is addressed to us goes to our own subscribers only; a Broker peer
  /// may be addressed, too.
  const route& resolve(std::string_view topic, std::span<const destination> destinations,
                       std::size_t hops);
  /// The exits for a message that is addressed to this endpoint alone, and has come no hops.
  const route& resolve_addressed(std::string_view topic, const endpoint_id& receiver) {
    const destination only{receiver, destination::addressed};
    return resolve(topic, {&only, 1}, 0);
  }
  /// The route that was resolved, with those of its links behind which the message may be wanted.
  /// `value()`: the message, as unchecked bin::v1, if there are conditions.
  template <class Value>
  const route& select(const route& whole, std::string_view topic, Value&& value) {
    return whole.selection ? whole.selection->choose(whole, topic, value(), columns_) : whole;
  }
  /// The link towards this node, or null.
  std::shared_ptr<peer_link> link_to(const endpoint_id& node) const {
    const auto found = snapshot_->next_links->find(node);
    return found != snapshot_->next_links->end() ? found->second : nullptr;
  }
  const broker_routes& broker() const noexcept { return *snapshot_->broker; }

private:
  bool holds_too_much() const noexcept {
    return topics_.size() > routing_tuning::max_cached_topics ||
           topics_bytes_ > routing_tuning::max_cached_bytes;
  }

  /// Void unless it has the version of the snapshot: after a change topics keep their places, so
  /// that what they take now costs a match and no memory.
  struct cached {
    const route* to = nullptr; // in routes_
    std::uint64_t version = 0; // no snapshot has this
  };

  struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  /// Routes with the same exits and destinations are one. Ordered, not hashed: peers choose
  /// destinations, and could choose those whose hashes are the same.
  struct exits_order {
    bool operator()(const route& x, const route& y) const noexcept {
      return std::tie(x.exits, *x.nodes, x.unreachable, x.unwanted_here, x.denied, x.left_out,
                      x.wishes) < std::tie(y.exits, *y.nodes, y.unreachable, y.unwanted_here,
                                           y.denied, y.left_out, y.wishes);
    }
  };

  struct used_route {
    std::shared_ptr<peer_link> via;
    std::uint16_t hops = 0; // a bit for each number of hops
  };

  /// Of a client with a subscription to the topic that began later than the message knows.
  struct later_report {
    std::uint64_t number = 0;   // of the first such report
    bool wanted_before = false; // by an earlier report, and since the message knows
  };

  static void add_to(std::vector<retired_route>& all, const endpoint_id& node,
                     const used_route& used);
  void reset(std::uint64_t version);
  bool is_from_broker_peer() const;
  void retire_routes(const link_directory& before);
  void note_routes(std::size_t hops);
  const route& find(std::string_view topic, const deadline& until);
  void begin_match() noexcept;
  void match_all(std::string_view topic);
  void match_queues(std::string_view topic, std::uint64_t filter_number);
  void match_broker_peers(std::string_view topic, std::uint64_t filter_number);
  void match_relays(std::string_view topic);
  void match_clients(std::string_view topic, std::uint64_t filter_number, bool and_nodes);
  void match_later_reports(std::string_view topic, std::uint64_t filter_number);
  std::uint64_t filter_number(const endpoint_id& node) const;
  const client_directory::link_index::target* find_client(const endpoint_id& id) const;
  std::shared_ptr<peer_link> link_of_client(const endpoint_id& id) const {
    const auto* const found = find_client(id);
    return found != nullptr ? found->exit : nullptr;
  }
  void match_wishes(std::string_view topic);
  void note_wish(const peer_link& via, const destination& to);
  void choose_among_links();
  bool add_node(std::string_view topic, const destination& to);
  bool add_client(std::string_view topic, const destination& to, std::shared_ptr<peer_link> via);
  bool add_over(std::string_view topic, const destination& to,
                const std::shared_ptr<peer_link>& via);
  bool add_located(std::string_view topic, const destination& to);
  bool may_go(std::string_view topic, const peer_link& to);
  const route* remember(std::size_t hops);

  const endpoint_id self_;
  const router& router_;
  const exits open_;
  access_ptr access_;               // of the peer that messages come from
  bool to_broker_peers_ = true;     // whether messages may go there
  conditions::log_columns columns_; // as announced by messages that conditions looked at
  std::uint64_t version_ = 0;
  std::uint64_t generation_ = 0;
  std::shared_ptr<const routing_snapshot> snapshot_;
  std::set<route, exits_order> routes_;
  std::unordered_map<endpoint_id, used_route> used_; // by all routes so far
  std::vector<retired_route> retired_;
  std::unordered_map<std::string, cached, text_hash, std::equal_to<>> topics_;
  std::size_t topics_bytes_ = 0; // of the texts in topics_
  std::string_view last_topic_;  // points into topics_
  const route* last_ = nullptr;

  // What the match at hand has found; kept for their memory.
  std::vector<const prefix_index<std::shared_ptr<message_queue>>::target*> queue_matches_;
  std::vector<const prefix_index<remote_target>::target*> matches_;
  std::vector<std::pair<std::shared_ptr<peer_link>, destination>> clients_;
  std::unordered_map<endpoint_id, later_report> later_reports_;
  std::vector<const prefix_index<selective_target>::target*> selective_matches_;
  std::map<endpoint_id, link_wish> wishes_of_nodes_; // that do not want everything on the topic
  std::map<const peer_link*, link_wish> wishes_;     // of the links found, if there are such nodes
  route found_;
  std::shared_ptr<destinations_by_link> nodes_ = std::make_shared<destinations_by_link>();
};

} // namespace pubsub
