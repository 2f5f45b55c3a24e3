// The subscriptions of this endpoint, of its peers and of all nodes. Pure: no I/O, no threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pubsub/filter.hpp>
#include <pubsub/topic.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "filter/subscription_text.hpp"
#include "route/prefix_index.hpp"

namespace pubsub {

/// Names a local subscriber within its endpoint.
using subscriber_id = std::uint64_t;

/// A client, Broker peer or node that wants the messages on a prefix. `report`: the number of the
/// report in which it has told so; Broker peers make none.
struct remote_target {
  endpoint_id node;
  std::uint64_t report = 0;
};

/// The same of those messages that fulfil a condition. Null: this node cannot read that, and sends
/// all.
struct selective_target {
  endpoint_id node;
  std::uint64_t report = 0;
  std::shared_ptr<const condition> what;
};

/// A value with functions over it. Four kinds hold subscriptions: the *subscribers* of this
/// endpoint; its *clients*, which only this node knows; Broker *peers*, which are announced one
/// filter for all that is behind this node; and the *nodes* of the network, which know each other's
/// filters. What clients and Broker peers want is part of the filter of a node that forwards. A
/// change costs time in proportion
/// to what it changes, not to the size of the table, and names the peers to which it must be
/// announced; only `announcement_for` walks over everything. The index of subscribers leads to
/// their exits, that of peers and nodes to who they are. What clients and nodes want under a
/// condition is in an index of its own; in filters it is a text with the prefix and the condition
/// (filter/subscription_text.hpp), and Broker peers are told the prefix.
template <class Exit>
class subscription_table {
public:
  /// Prefixes that were added to the filter of this node, or removed from it.
  struct filter_change {
    std::uint64_t number = 0; ///< of the change; rises by one
    std::vector<std::string> added;
    std::vector<std::string> removed;
  };
  /// The number of the filter before its first change.
  static constexpr std::uint64_t first_number = 1;
  static constexpr auto no_limit = std::numeric_limits<std::size_t>::max();
  using is_reachable = std::function<bool(const endpoint_id& node)>;

  /// `transit`: whether peers get the messages of other peers.
  /// `regex`: for the conditions of others.
  explicit subscription_table(filter forward_topics = {}, bool forwarding = true,
                              bool transit = true, text_matcher_maker regex = nullptr)
      : conditions_(regex), forward_topics_(std::move(forward_topics)), transit_(transit),
        forwarding_(forwarding) {
    for (const auto& prefix : forward_topics_)
      hold(prefix, holder::subscriber);
  }

  /// Call only while it knows no peers and no clients.
  void start_forwarding() noexcept { forwarding_ = true; }

  /// Adds a subscriber that is not in the table. `told` is the condition that others are told, if
  /// any: the subscriber's exit decides itself.
  void add_local(subscriber_id who, Exit exit, const filter& wanted, std::string told = {});
  /// False if nothing changed.
  bool add_local_topic(subscriber_id who, std::string_view prefix);
  bool remove_local_topic(subscriber_id who, std::string_view prefix);
  bool remove_local(subscriber_id who);
  filter local_filter(subscriber_id who) const;
  /// Whether a subscriber of this node, or one of its forward topics, matches the topic.
  bool wants(std::string_view topic) const {
    return forward_topics_.matches(topic) ||
           !local_index_.visit(topic, [](const auto&) { return false; });
  }
  /// Calls `visit` with every subscriber and its exit.
  template <class Visitor>
  void visit_locals(Visitor&& visit) const {
    for (const auto& [who, entry] : locals_)
      visit(who, entry.exit);
  }

  /// Adds a peer, or replaces it.
  void add_peer(const endpoint_id& who, filter announced);
  /// Replaces the filter a peer announced. False if nothing changed.
  bool set_peer_filter(const endpoint_id& who, filter announced);
  bool remove_peer(const endpoint_id& who);

  /// The filter of a client has changed; `number` is that of its report.
  void change_client(const endpoint_id& who, std::uint64_t number,
                     const std::vector<std::string>& added,
                     const std::vector<std::string>& removed) {
    change(clients_, who, number, added, removed, true);
  }
  /// The prefixes that a client wants, with or without a condition.
  filter client_filter(const endpoint_id& who) const { return filter_in(clients_, who); }

  /// As of condition_pool, which its entries share.
  std::shared_ptr<const condition> read_condition(std::string_view told) {
    return conditions_.read(told);
  }

  /// The prefixes that match both the filter of this peer and that of another holder.
  std::vector<std::string> shared_with(const endpoint_id& who) const;

  /// The filter of another node has changed; `number` is that of its report.
  void change_node(const endpoint_id& who, std::uint64_t number,
                   const std::vector<std::string>& added, const std::vector<std::string>& removed) {
    change(nodes_, who, number, added, removed, false);
  }
  filter node_filter(const endpoint_id& who) const { return filter_in(nodes_, who); }
  /// The same as it was reported.
  std::vector<std::string> reported_by(const endpoint_id& who) const {
    std::vector<std::string> result;
    if (const auto found = nodes_.find(who); found != nodes_.end())
      for (const auto& [each, number] : found->second.subscriptions)
        result.push_back(each);
    return result;
  }

  /// What has changed since the last call in the filter of this node: its subscribers' prefixes,
  /// forward topics and, if it forwards, the prefixes of its clients and Broker peers. Of what only
  /// those have changed so many prefixes at most, in the order of the changes; the rest is for
  /// later calls, and what is undone until then is never told.
  filter_change take_own_changes(std::size_t most_of_peers = no_limit);
  std::size_t changes_of_peers() const noexcept { return peer_changes_.size(); }

  /// What to announce to `peer`: the filter of the subscribers, the forward topics and, if this
  /// node forwards, the filters of clients, of nodes within reach and, where there is transit, of
  /// all *other* peers. A nil id leaves none out.
  filter announcement_for(const endpoint_id& peer, const is_reachable& within_reach = {}) const;
  /// Which nodes are within reach has changed: no peer's announcement may be relied on.
  void outdate_all();
  /// The peers whose announcement may have changed since the last call; the others' has not. A new
  /// peer is among them.
  std::set<endpoint_id> take_outdated() { return std::exchange(outdated_, {}); }

  /// Each target has a prefix since the number of the filter change that announced it.
  const prefix_index<Exit>& local_index() const noexcept { return local_index_; }
  /// The same for clients, peers and nodes.
  const prefix_index<remote_target>& remote_index() const noexcept { return remote_index_; }
  /// The same for what clients and nodes want under a condition, each condition for itself.
  const prefix_index<selective_target>& selective_index() const noexcept {
    return selective_index_;
  }
  /// Whether `take_touched` tells, from now on, the prefixes of which a holder comes or goes.
  void note_touched(bool on) noexcept { notes_touched_ = on; }
  std::vector<std::string> take_touched() { return std::exchange(touched_, {}); }
  /// By the id of a node, `id_text`: the number of its last filter report.
  const prefix_index<std::uint64_t>& numbers() const noexcept { return numbers_; }

private:
  struct local_entry {
    Exit exit;
    std::set<std::string, std::less<>> prefixes; // as requested
    std::string told;                            // behind each of them, to others
  };
  struct peer_entry {
    std::uint64_t number; // in remote_index_
    filter announced;
  };
  struct node_entry {
    std::uint64_t number = 0;                           // in remote_index_
    std::map<std::string, std::uint64_t> subscriptions; // each with its number in its index
  };
  /// A prefix in the filter of this node, with a condition or without.
  struct own_entry {
    std::size_t holders = 0;
    std::uint64_t since = 0; // the number of the change that announced it; 0: not announced yet
    std::uint64_t place = 0; // in peer_changes_; 0: in none
  };
  enum class holder { subscriber, peer };

  /// Behind a very long prefix there is no room for a condition in reports.
  static std::string told_as(std::string_view prefix, const local_entry& x) {
    std::string result{prefix};
    if (prefix.size() + x.told.size() <= topic::max_size_bytes)
      result += x.told;
    return result;
  }

  using entries = std::unordered_map<endpoint_id, node_entry>;

  void change(entries& all, const endpoint_id& who, std::uint64_t number,
              const std::vector<std::string>& added, const std::vector<std::string>& removed,
              bool in_own_filter);
  static filter filter_in(const entries& all, const endpoint_id& who) {
    const auto found = all.find(who);
    if (found == all.end())
      return {};
    std::vector<std::string> prefixes;
    for (const auto& [each, number] : found->second.subscriptions)
      prefixes.emplace_back(prefix_of(each));
    return filter{std::move(prefixes)};
  }
  void add_subscription(node_entry& to, const remote_target& who, const std::string& what,
                        bool holds);
  void remove_subscription(node_entry& from, const std::string& what, bool holds);
  void remove_for_peer(const peer_entry& who, std::string_view prefix);
  void concerns(std::string_view prefix, std::uint64_t peer_number);
  bool wanted_without(std::uint64_t peer_number, std::string_view prefix) const;
  std::uint64_t hold(std::string_view prefix, holder who);
  void release(std::string_view prefix, holder who);
  void note_change(std::string_view prefix, own_entry& at, holder who);

  static constexpr std::uint64_t no_peer = 0;

  std::unordered_map<subscriber_id, local_entry> locals_;
  std::map<endpoint_id, peer_entry> peers_;
  entries nodes_;
  entries clients_;
  prefix_index<Exit> local_index_;
  prefix_index<remote_target> remote_index_;
  prefix_index<selective_target> selective_index_;
  condition_pool conditions_;
  prefix_index<std::uint64_t> numbers_;
  std::map<std::string, own_entry, std::less<>> own_;
  // Prefixes that have got or lost all holders; those of peers alone wait in the order they came.
  std::set<std::string, std::less<>> own_changes_;
  std::map<std::uint64_t, std::string> peer_changes_;
  std::uint64_t last_place_ = 0;
  std::uint64_t filter_number_ = first_number;
  std::set<endpoint_id> outdated_;
  std::uint64_t last_number_ = no_peer;
  filter forward_topics_;
  bool transit_;
  bool forwarding_;
  bool notes_touched_ = false;
  std::vector<std::string> touched_;
};

// -- subscribers of this endpoint ----------------------------------------------------------------

template <class Exit>
void subscription_table<Exit>::add_local(subscriber_id who, Exit exit, const filter& wanted,
                                         std::string told) {
  const auto& entry =
      locals_
          .emplace(who,
                   local_entry{std::move(exit), {wanted.begin(), wanted.end()}, std::move(told)})
          .first->second;
  for (const auto& prefix : entry.prefixes) {
    concerns(prefix, no_peer);
    local_index_.add(prefix, who, entry.exit, hold(told_as(prefix, entry), holder::subscriber));
  }
}

template <class Exit>
bool subscription_table<Exit>::add_local_topic(subscriber_id who, std::string_view prefix) {
  const auto found = locals_.find(who);
  if (found == locals_.end() || !found->second.prefixes.emplace(prefix).second)
    return false;
  concerns(prefix, no_peer);
  return local_index_.add(prefix, who, found->second.exit,
                          hold(told_as(prefix, found->second), holder::subscriber));
}

template <class Exit>
bool subscription_table<Exit>::remove_local_topic(subscriber_id who, std::string_view prefix) {
  const auto found = locals_.find(who);
  if (found == locals_.end())
    return false;
  const auto held = found->second.prefixes.find(prefix);
  if (held == found->second.prefixes.end())
    return false;
  local_index_.remove(prefix, who);
  concerns(prefix, no_peer);
  release(told_as(prefix, found->second), holder::subscriber);
  found->second.prefixes.erase(held); // last: `prefix` may be a view of it
  return true;
}

template <class Exit>
bool subscription_table<Exit>::remove_local(subscriber_id who) {
  const auto found = locals_.find(who);
  if (found == locals_.end())
    return false;
  for (const auto& prefix : found->second.prefixes) {
    local_index_.remove(prefix, who);
    concerns(prefix, no_peer);
    release(told_as(prefix, found->second), holder::subscriber);
  }
  locals_.erase(found);
  return true;
}

template <class Exit>
filter subscription_table<Exit>::local_filter(subscriber_id who) const {
  const auto found = locals_.find(who);
  if (found == locals_.end())
    return {};
  const auto& held = found->second.prefixes;
  return filter{{held.begin(), held.end()}};
}

// -- peers ---------------------------------------------------------------------------------------

template <class Exit>
void subscription_table<Exit>::add_peer(const endpoint_id& who, filter announced) {
  remove_peer(who);
  peers_.emplace(who, peer_entry{++last_number_, {}});
  outdated_.insert(who);
  set_peer_filter(who, std::move(announced));
}

template <class Exit>
bool subscription_table<Exit>::set_peer_filter(const endpoint_id& who, filter announced) {
  const auto found = peers_.find(who);
  if (found == peers_.end() || found->second.announced == announced)
    return false;
  auto& peer = found->second;
  const auto before = std::exchange(peer.announced, std::move(announced));
  std::vector<std::string_view> gone;
  std::ranges::set_difference(before, peer.announced, std::back_inserter(gone));
  std::vector<std::string_view> fresh;
  std::ranges::set_difference(peer.announced, before, std::back_inserter(fresh));
  for (const auto prefix : gone)
    remove_for_peer(peer, prefix);
  for (const auto prefix : fresh) {
    if (forwarding_)
      concerns(prefix, peer.number);
    remote_index_.add(prefix, peer.number, {who}, forwarding_ ? hold(prefix, holder::peer) : 0);
  }
  return true;
}

template <class Exit>
bool subscription_table<Exit>::remove_peer(const endpoint_id& who) {
  const auto found = peers_.find(who);
  if (found == peers_.end())
    return false;
  for (const auto& prefix : found->second.announced)
    remove_for_peer(found->second, prefix);
  peers_.erase(found);
  outdated_.erase(who);
  return true;
}

template <class Exit>
void subscription_table<Exit>::remove_for_peer(const peer_entry& who, std::string_view prefix) {
  remote_index_.remove(prefix, who.number);
  if (forwarding_) {
    concerns(prefix, who.number);
    release(prefix, holder::peer);
  }
}

template <class Exit>
std::vector<std::string> subscription_table<Exit>::shared_with(const endpoint_id& who) const {
  const auto found = peers_.find(who);
  if (found == peers_.end())
    return {};
  const auto& peer = found->second;
  std::set<std::string_view> all; // in the filter of the peer
  const auto add = [&](std::string_view prefix) {
    if (peer.announced.matches(prefix))
      all.insert(prefix);
  };
  for (const auto& [each, entry] : own_)
    add(prefix_of(each));
  for (const auto& [id, node] : nodes_)
    for (const auto& [each, number] : node.subscriptions)
      add(prefix_of(each));
  std::vector<std::string> result;
  for (const auto prefix : all)
    if (wanted_without(peer.number, prefix))
      result.emplace_back(prefix);
  return result;
}

// -- nodes and clients ---------------------------------------------------------------------------

/// `in_own_filter`: as far as this node forwards, others reach it through this node.
template <class Exit>
void subscription_table<Exit>::change(entries& all, const endpoint_id& who, std::uint64_t number,
                                      const std::vector<std::string>& added,
                                      const std::vector<std::string>& removed, bool in_own_filter) {
  auto& node = all[who];
  const bool holds = forwarding_ && in_own_filter;
  if (node.number == 0)
    node.number = ++last_number_;
  for (const auto& each : removed)
    remove_subscription(node, each, holds);
  for (const auto& each : added)
    add_subscription(node, {who, number}, each, holds);
  const bool none_left = node.subscriptions.empty();
  if (none_left)
    all.erase(who);
  if (in_own_filter)
    return; // its link is noted with the number
  numbers_.remove(id_text(who), 0);
  if (!none_left)
    numbers_.add(id_text(who), 0, number);
}

template <class Exit>
void subscription_table<Exit>::add_subscription(node_entry& to, const remote_target& who,
                                                const std::string& what, bool holds) {
  const auto [at, fresh] = to.subscriptions.emplace(what, to.number);
  if (!fresh)
    return;
  const auto prefix = prefix_of(what);
  const auto told = condition_of(what);
  if (forwarding_)
    concerns(prefix, to.number);
  const auto since = holds ? hold(what, holder::peer) : 0;
  if (told.empty()) {
    remote_index_.add(prefix, to.number, who, since);
  } else {
    at->second = ++last_number_;
    selective_index_.add(prefix, at->second, {who.node, who.report, conditions_.read(told)}, since);
  }
}

template <class Exit>
void subscription_table<Exit>::remove_subscription(node_entry& from, const std::string& what,
                                                   bool holds) {
  const auto found = from.subscriptions.find(what);
  if (found == from.subscriptions.end())
    return;
  const auto prefix = prefix_of(what);
  if (condition_of(what).empty())
    remote_index_.remove(prefix, found->second);
  else
    selective_index_.remove(prefix, found->second);
  from.subscriptions.erase(found);
  if (forwarding_)
    concerns(prefix, from.number);
  if (holds)
    release(what, holder::peer);
}

// -- the filter of this node ---------------------------------------------------------------------

/// The number of the change that announced `prefix`.
template <class Exit>
std::uint64_t subscription_table<Exit>::hold(std::string_view prefix, holder who) {
  auto found = own_.find(prefix);
  if (found == own_.end())
    found = own_.emplace(prefix, own_entry{}).first;
  auto& at = found->second;
  if (++at.holders == 1 || at.place > 0)
    note_change(prefix, at, who);
  return at.since > 0 ? at.since : filter_number_ + 1;
}

template <class Exit>
void subscription_table<Exit>::release(std::string_view prefix, holder who) {
  auto& at = own_.find(prefix)->second;
  if (--at.holders == 0)
    note_change(prefix, at, who);
}

/// What a subscriber changes is told with the next report, and so is what several have changed
/// since the last one; a peer's prefix that came and went is forgotten. What a subscriber gives up
/// waits behind what peers have added: they may get its messages until theirs come.
template <class Exit>
void subscription_table<Exit>::note_change(std::string_view prefix, own_entry& at, holder who) {
  if (who == holder::subscriber && (at.holders > 0 || peer_changes_.empty())) {
    peer_changes_.erase(std::exchange(at.place, 0));
    own_changes_.emplace(prefix);
  } else if (at.place > 0 && (at.holders > 0) == (at.since > 0)) {
    peer_changes_.erase(std::exchange(at.place, 0));
    if (at.holders == 0)
      own_.erase(own_.find(prefix));
  } else if (at.place == 0 && own_changes_.find(prefix) == own_changes_.end()) {
    at.place = ++last_place_;
    peer_changes_.emplace(at.place, prefix);
  }
}

template <class Exit>
typename subscription_table<Exit>::filter_change
subscription_table<Exit>::take_own_changes(std::size_t most_of_peers) {
  filter_change result{filter_number_ + 1, {}, {}};
  auto changed = std::exchange(own_changes_, {});
  for (; most_of_peers > 0 && !peer_changes_.empty(); --most_of_peers)
    changed.insert(std::move(peer_changes_.extract(peer_changes_.begin()).mapped()));
  for (const auto& prefix : changed) {
    const auto found = own_.find(prefix);
    auto& [holders, since, place] = found->second;
    place = 0;
    if (holders > 0 && since == 0) {
      since = result.number;
      result.added.push_back(prefix);
    } else if (holders == 0) {
      if (since > 0)
        result.removed.push_back(prefix);
      own_.erase(found);
    }
  }
  if (!result.added.empty() || !result.removed.empty())
    filter_number_ = result.number;
  return result;
}

// -- announcements -------------------------------------------------------------------------------

/// Called while `prefix` is without a holder that is about to get it or has just lost it: notes the
/// peers to which it makes a difference. `peer_number` is the holder, if that is a peer.
template <class Exit>
void subscription_table<Exit>::concerns(std::string_view prefix, std::uint64_t peer_number) {
  if (notes_touched_)
    touched_.emplace_back(prefix);
  for (const auto& [id, peer] : peers_)
    if (peer.number != peer_number && !outdated_.contains(id) &&
        !wanted_without(peer.number, prefix))
      outdated_.insert(id);
}

/// Whether another holder than this peer has `prefix`, or a shorter prefix of it.
template <class Exit>
bool subscription_table<Exit>::wanted_without(std::uint64_t peer_number,
                                              std::string_view prefix) const {
  auto only_that_peer = [&](const auto& each) { return each.who == peer_number; };
  return wants(prefix) || (forwarding_ && (!remote_index_.visit(prefix, only_that_peer) ||
                                           !selective_index_.visit(prefix, only_that_peer)));
}

template <class Exit>
filter subscription_table<Exit>::announcement_for(const endpoint_id& peer,
                                                  const is_reachable& within_reach) const {
  std::vector<std::string> all{forward_topics_.begin(), forward_topics_.end()};
  for (const auto& [who, entry] : locals_)
    all.insert(all.end(), entry.prefixes.begin(), entry.prefixes.end());
  if (forwarding_) {
    for (const auto& [who, entry] : peers_)
      if (peer.is_nil() || (transit_ && who != peer))
        all.insert(all.end(), entry.announced.begin(), entry.announced.end());
    const auto add = [&](const node_entry& x) {
      for (const auto& [each, number] : x.subscriptions)
        all.emplace_back(prefix_of(each));
    };
    for (const auto& [who, entry] : clients_)
      add(entry);
    for (const auto& [who, entry] : nodes_)
      if (!within_reach || within_reach(who))
        add(entry);
  }
  return filter{std::move(all)};
}

template <class Exit>
void subscription_table<Exit>::outdate_all() {
  for (const auto& [who, entry] : peers_)
    outdated_.insert(who);
}

} // namespace pubsub
