// The clients of a node: how to reach them, and what they have subscribed to.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pubsub/topic.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "filter/subscription_text.hpp"
#include "link/peer_link.hpp"
#include "route/known_node.hpp"
#include "route/network_map.hpp"
#include "route/prefix_index.hpp"
#include "wire/native/network.hpp"

namespace pubsub {

/// For a client: the relay that serves it first, if we reach it; else nil.
struct served_news {
  endpoint_id to;
  endpoint_id reached;
};

/// A client is known to the nodes it is linked with and to no others: it is no part of the map of
/// the network. Not thread-safe.
class client_directory {
public:
  /// By the id of a client, `id_text`, since the last report of its filter that counts; a copy
  /// costs one reference.
  using link_index = prefix_index<std::shared_ptr<peer_link>>;

  /// In place of one with that id. `name`: what it calls itself.
  void add(const endpoint_id& who, std::shared_ptr<peer_link> via, std::string name = {}) {
    leave_relay(who);
    links_.remove(id_text(who), 0);
    links_.add(id_text(who), 0, via);
    auto& fresh = all_[who];
    fresh = {std::move(via), {}, {}, false};
    fresh.said.name = std::move(name);
  }
  /// Returns what it has subscribed to, which ends; nothing if there is no such client.
  std::optional<filter_change> remove(const endpoint_id& who) {
    leave_relay(who);
    const auto node = all_.extract(who);
    if (!node)
      return {};
    links_.remove(id_text(who), 0);
    const auto& prefixes = node.mapped().said.prefixes;
    return filter_change{who, 0, {}, {prefixes.begin(), prefixes.end()}};
  }
  bool contains(const endpoint_id& who) const { return all_.contains(who); }
  /// What the client has told, once that counts; else null.
  const known_node* find_started(const endpoint_id& who) const {
    const auto found = all_.find(who);
    return found == all_.end() || !found->second.started ? nullptr : &found->second.said;
  }
  template <class Visitor>
  void visit_ids(Visitor&& visit) const {
    for (const auto& [id, each] : all_)
      visit(id);
  }
  const link_index& links() const noexcept { return links_; }
  std::shared_ptr<peer_link> link_of(const endpoint_id& who) const {
    const auto found = all_.find(who);
    return found == all_.end() ? nullptr : found->second.via;
  }

  /// The client is served by that relay first; nil: by us. It is told whether we reach that relay.
  template <class Directory>
  void serve(const endpoint_id& who, const endpoint_id& first, const Directory& within_reach,
             std::vector<served_news>& news) {
    leave_relay(who);
    const auto found = all_.find(who);
    found->second.first = first;
    found->second.answers = true;
    if (first.is_nil())
      return;
    auto& state = served_[first];
    state.clients.insert(who);
    state.reached = within_reach.contains(first);
    news.push_back({who, state.reached ? first : endpoint_id{}});
  }
  /// Messages of the client may come over these relays, from now on.
  void note_relays(const endpoint_id& who, const std::vector<endpoint_id>& relays) {
    if (const auto found = all_.find(who); found != all_.end())
      for (const auto& each : relays)
        found->second.note_relay(each);
  }
  /// Of the relays that serve clients of ours first, some may have come into reach or left it.
  template <class Directory>
  void look_at_relays(const Directory& within_reach, std::vector<served_news>& news) {
    for (auto& [relay, state] : served_) {
      const bool now = within_reach.contains(relay);
      if (std::exchange(state.reached, now) != now)
        for (const auto& each : state.clients)
          news.push_back({each, now ? relay : endpoint_id{}});
    }
  }

  /// All clients, which are to say anew by which relay they are served first.
  std::vector<endpoint_id> expect_answers() {
    std::vector<endpoint_id> result;
    for (auto& [id, each] : all_) {
      each.answers = false;
      result.push_back(id);
    }
    return result;
  }
  bool all_have_answered() const {
    return std::ranges::all_of(all_, [](const auto& each) { return each.second.answers; });
  }

  bool any_served() const noexcept { return !served_.empty(); }
  /// Whether messages of the client may come from there: it has named this relay lately, or its
  /// link has just begun and it has not told yet which relays it has. What comes from there in that
  /// moment is its own, as it was before the link: under another name a copy would not be known.
  bool may_enter_at(const endpoint_id& who, const endpoint_id& relay) const {
    const auto& from = all_.at(who);
    return !from.started || std::ranges::find(from.relays, relay) != from.relays.end();
  }

  /// The client has told all it had to tell when the link began: from now on its filter counts.
  /// Nothing if there is no such client, or this is no news.
  std::optional<filter_change> start(const endpoint_id& who) {
    const auto found = all_.find(who);
    if (found == all_.end() || std::exchange(found->second.started, true))
      return {};
    const auto& said = found->second.said;
    note_number(who, found->second);
    return filter_change{who, said.filter_number, {said.prefixes.begin(), said.prefixes.end()}, {}};
  }
  bool has_started(const endpoint_id& who) const { return all_.at(who).started; }

  /// What a report of a client changes. Nothing if it breaks the rules: it skips a number, or gives
  /// the client too many subscriptions.
  std::optional<filter_change> receive(const filter_report& news) {
    auto& from = all_.at(news.about.node);
    auto& said = from.said;
    const bool next = news.about.incarnation == said.incarnation && said.filter_number > 0 &&
                      news.about.number == said.filter_number + 1;
    if ((!news.about.whole && !next) || said.items_with(news) > network_map::max_items)
      return {};
    said.incarnation = news.about.incarnation;
    auto result = said.apply(news);
    if (from.started)
      note_number(news.about.node, from);
    return result;
  }
  /// The last report of its filter.
  report_version filter_known(const endpoint_id& who) const {
    const auto found = all_.find(who);
    if (found == all_.end())
      return {};
    return {found->second.said.incarnation, found->second.said.filter_number};
  }
  std::size_t report_bytes(const endpoint_id& who) const {
    const auto found = all_.find(who);
    return found == all_.end() ? 0 : found->second.said.bytes();
  }
  /// Whether the client has subscribed to the topic itself.
  bool wants(const endpoint_id& who, const std::string& topic) const {
    const auto found = all_.find(who);
    if (found == all_.end())
      return false;
    const auto& subscriptions = found->second.said.prefixes;
    if (subscriptions.size() <= topic.size())
      return std::ranges::any_of(
          subscriptions, [&](const auto& each) { return topic.starts_with(prefix_of(each)); });
    for (std::size_t size = 0; size <= topic.size(); ++size) {
      const auto prefix = topic.substr(0, size);
      const auto at = subscriptions.lower_bound(prefix); // with conditions they come right after it
      if (at != subscriptions.end() && prefix_of(*at) == prefix)
        return true;
    }
    return false;
  }

private:
  struct client {
    std::shared_ptr<peer_link> via;
    known_node said;
    endpoint_id first; // the relay that serves it first; nil: we do
    bool started = false;
    bool answers = true;                  // no word from it is waited for
    std::vector<endpoint_id> relays = {}; // that it has named, the last ones

    void note_relay(const endpoint_id& x) {
      constexpr std::size_t most_remembered = 2 * wire::max_relays_named;
      std::erase(relays, x);
      if (relays.size() == most_remembered)
        relays.erase(relays.begin());
      relays.push_back(x);
    }
  };
  struct other_relay {
    std::set<endpoint_id> clients;
    bool reached = false;
  };

  void note_number(const endpoint_id& who, const client& x) {
    links_.remove(id_text(who), 0);
    links_.add(id_text(who), 0, x.via, x.said.filter_number);
  }
  /// The relay that serves the client first does so no more, or the client is gone.
  void leave_relay(const endpoint_id& who) {
    const auto found = all_.find(who);
    const auto relay = found == all_.end() ? served_.end() : served_.find(found->second.first);
    if (relay == served_.end())
      return;
    relay->second.clients.erase(who);
    if (relay->second.clients.empty())
      served_.erase(relay);
  }

  std::unordered_map<endpoint_id, client> all_;
  link_index links_;
  std::map<endpoint_id, other_relay> served_; // by the relay that serves them first
};

} // namespace pubsub
