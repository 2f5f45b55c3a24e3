// Links between clients and relays: what a relay knows of its clients, and a client of its relays.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

#include "node/routing/client_directory.hpp"
#include "node/routing/interest_register.hpp"
#include "node/routing/routing_snapshot.hpp"
#include "node/routing/serving_relays.hpp"
#include "route/network_map.hpp"

namespace pubsub {

/// Keeps the filters of clients in the table of subscriptions, and tells the map of the network
/// which relays are to know the filter of this node. A value: what is to be sent is returned by
/// `take_news`. Not thread-safe: the router guards it.
class client_links {
  auto wants() const { // its type has to be known below
    return [this](const auto& who, const auto& topic) { return clients_.wants(who, topic); };
  }

public:
  client_links(node_subscriptions& subscriptions, network_map& network)
      : table_(subscriptions), network_(network) {}

  /// The peer is a client; `host`: so are we, and tell it our subscriptions, too.
  void add_client(const endpoint_id& who, std::shared_ptr<peer_link> via, bool host,
                  std::string name);
  /// The peer is a relay, and we are a client.
  void add_relay(const endpoint_id& who, std::shared_ptr<peer_link> via, std::string name) {
    apply(serving_.add(who, std::move(via), std::move(name)));
  }
  /// As of client_directory. False if that changes nothing.
  bool start(const endpoint_id& client);
  /// The link is gone. False if the peer is neither a client nor a relay that may serve us.
  bool remove(const endpoint_id& who);

  /// A client reports. False if the report breaks the rules.
  bool receive(const endpoint_id& client, const any_report& report);
  /// By which relay a client is served first, or which of them a relay of ours reaches. True if
  /// that changes which relays serve us.
  bool receive_served(const endpoint_id& from, const endpoint_id& by,
                      const link_directory& within_reach);
  /// A client names its relays.
  void receive_relays(const endpoint_id& client, const std::vector<endpoint_id>& relays) {
    clients_.note_relays(client, relays);
  }
  /// As of serving_relays.
  bool take_over(const endpoint_id& relay) { return serving_.take_over(relay); }
  /// This relay retires: its clients are told, and answer.
  void ask_to_move(const endpoint_id& self) {
    for (const auto& each : clients_.expect_answers())
      served_news_.push_back({each, self});
  }
  /// A client asks about a topic. `how_many` and `under` as of interest_register.
  template <class Count, class Under>
  void receive_interest(const endpoint_id& from, const topic_interest& what, Count how_many,
                        Under under) {
    if (!clients_.contains(from) || !interests_.ask(from, what))
      return;
    table_.note_touched(true);
    look_at_interests(what.topic, how_many, under);
  }
  /// Links have changed, or subscriptions. `within_reach()` finds new routes: it is called only
  /// where a client depends on them.
  template <class Directory, class Count, class Under>
  void settle(Directory within_reach, Count how_many, Under under) {
    const bool links_changed =
        std::exchange(looked_at_, network_.links_version()) != network_.links_version();
    if (links_changed && clients_.any_served())
      clients_.look_at_relays(*within_reach(), served_news_);
    for (const auto& prefix : table_.take_touched())
      look_at_interests(prefix, how_many, under);
    if (links_changed)
      look_at_interests("", how_many, under);
  }
  /// Counts again, for clients that asked for numbers of subscribers, where `settle` has put that
  /// off.
  template <class Count>
  void count_again(Count how_many) {
    interests_.look_at_outdated(how_many, wants(), std::chrono::steady_clock::now(),
                                interest_news_);
  }
  /// What clients should know.
  letters take_news();

  const client_directory& clients() const noexcept { return clients_; }
  interest_register& interests() noexcept { return interests_; }
  /// Remembers what it was asked.
  serving_relays& serving() const noexcept { return serving_; }

private:
  void apply(const serving_relays::change& x);
  template <class Count, class Under>
  void look_at_interests(std::string_view prefix, Count& how_many, Under& under) {
    interests_.look(prefix, how_many, wants(), under, std::chrono::steady_clock::now(),
                    interest_news_);
  }

  node_subscriptions& table_;
  network_map& network_;
  client_directory clients_;
  interest_register interests_;
  std::vector<interest_news> interest_news_;
  std::vector<served_news> served_news_;
  std::uint64_t looked_at_ = 0; // a version of the links
  mutable serving_relays serving_;
};

} // namespace pubsub
