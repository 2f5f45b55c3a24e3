// All that only Broker peers (wire version 1) in meshes need: their relays, their circles, their
// copies.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <pubsub/filter.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "link/peer_link.hpp"
#include "node/broker_mesh/circles.hpp"
#include "node/broker_mesh/relayed_copies.hpp"
#include "route/network_map.hpp"
#include "route/subscription_table.hpp"

namespace pubsub {

class message_queue;
using node_subscriptions = subscription_table<std::shared_ptr<message_queue>>;

/// What the route of a message depends on about Broker peers. Immutable; const access is
/// concurrent.
struct broker_routes {
  /// The links of the peers whose designated relay this node is.
  std::unordered_map<endpoint_id, std::shared_ptr<peer_link>> links;
  /// The peers that are linked with us, and have another node as their designated relay: what they
  /// send comes to us over that node.
  std::set<endpoint_id> of_others;
  std::shared_ptr<const circles::closed_topics> closed = std::make_shared<circles::closed_topics>();
  std::shared_ptr<relayed_copies> copies; // null where nothing is passed on
  bool transit = true;                    // from one of these peers to another

  /// Whether messages on `topic` do not go to this peer, nor are taken from it, because they would
  /// go round.
  bool is_closed(const endpoint_id& peer, std::string_view topic) const {
    const auto found = closed->find(peer);
    return found != closed->end() && found->second.matches(topic);
  }
  /// Whether a message that `peer` has sent is not to be taken: another node passes it on, it would
  /// go round, or it has come before. `content` is its topic and payload.
  bool turns_away(const endpoint_id& peer, std::string_view topic, std::string_view content,
                  unsigned hops_left) const;
};

/// Broker peers are announced one filter for all that is behind this node, and may be linked with
/// several nodes and with one another, so that messages would come twice or go round. Three things
/// prevent that: of the nodes that are linked with a peer one is its *designated relay*; probes
/// find the circles of peers that set the hop limit anew; and where the hop limit falls, copies are
/// known by their content (docs/decisions/017-probes-find-circles.md). A value: what is to be sent
/// is returned. Not thread-safe.
class broker_mesh {
public:
  broker_mesh(const endpoint_id& self, bool forwarding, bool transit = true)
      : self_(self), transit_(transit), forwarding_(forwarding) {}
  /// Call only while there are no peers.
  void start_forwarding() noexcept { forwarding_ = true; }

  /// `announced` is the filter the peer got in the handshake; if that has changed since, it gets an
  /// update.
  void add(const endpoint_id& who, std::shared_ptr<peer_link> via, filter subscriptions,
           filter announced);
  /// False if it is not a Broker peer.
  bool remove(const endpoint_id& who);
  /// Null if it is not a Broker peer.
  const filter* subscriptions_of(const endpoint_id& who) const;
  /// False if that changes nothing for messages.
  bool set_subscriptions(const endpoint_id& who, filter all, node_subscriptions& subscribers);
  /// Whether this is a Broker peer that has another node as its designated relay.
  bool left_to_another(const endpoint_id& who) const;

  /// Chooses the designated relays anew if links of the network have changed. True if they have:
  /// then the subscriptions of Broker peers have been changed.
  bool designate(const network_map& network, node_subscriptions& subscribers);
  /// Announcements of changed subscriptions to peers. `within_reach` is asked only if it may be
  /// something.
  letters take_updates(node_subscriptions& subscribers,
                       const std::function<next_hop_map()>& within_reach);

  /// The topics on which to probe whether what goes out over this peer comes back over another.
  std::vector<std::string> topics_to_probe(const endpoint_id& over,
                                           const node_subscriptions& subscribers) const;
  /// A probe that a node of the network has sent over `over` has come in over `from`. True if that
  /// closes what was open.
  bool receive_probe(const endpoint_id& from, const endpoint_id& over, std::string_view topic,
                     circles::time now);
  /// Opens circles for which no probe has come back lately. True if there was such a circle.
  bool expire_circles(circles::time now);

  const std::shared_ptr<const broker_routes>& routes() const noexcept { return routes_; }

private:
  struct peer {
    std::shared_ptr<peer_link> via;
    filter subscriptions;
    filter announced;        // to the peer, last
    bool designated = false; // this node is its relay
  };
  void make_routes();

  const endpoint_id self_;
  const bool transit_;
  bool forwarding_;
  std::map<endpoint_id, peer> peers_;
  std::unordered_set<endpoint_id> all_in_network_; // when relays were last chosen
  std::uint64_t chosen_for_ = 0;                   // the version of the links then
  circles circles_;
  std::shared_ptr<relayed_copies> copies_; // made with the first peer
  std::shared_ptr<const broker_routes> routes_ = std::make_shared<broker_routes>();
};

} // namespace pubsub
