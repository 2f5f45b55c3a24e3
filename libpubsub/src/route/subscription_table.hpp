// Who wants what: the subscriptions of this endpoint and of its peers. Pure: no I/O, no threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pubsub/endpoint_id.hpp>
#include <pubsub/filter.hpp>

#include "route/minimal_filter.hpp"
#include "route/prefix_index.hpp"

namespace pubsub {

/// Names a local subscriber within its endpoint.
using subscriber_id = std::uint64_t;

/// A value with functions over it. Every change costs time in proportion to what it changes, not to
/// what is there, and tells which peers should hear of it; only `announcement_for` goes through
/// everything. Removing a subscription makes the announced filters shrink, here and, by the updates
/// that follow, at any number of hops. `Local` and `Peer` are what the indexes lead to.
template <class Local, class Peer>
class subscription_table {
public:
  explicit subscription_table(filter forward_topics = {}, bool forwarding = true)
      : forward_topics_(std::move(forward_topics)), forwarding_(forwarding) {}

  /// `who` is new.
  void add_local(subscriber_id who, Local exit, const filter& wanted);
  /// False if nothing changed.
  bool add_local_topic(subscriber_id who, std::string_view prefix);
  bool remove_local_topic(subscriber_id who, std::string_view prefix);
  bool remove_local(subscriber_id who);
  filter local_filter(subscriber_id who) const;
  /// Calls `visit` with every subscriber and its exit.
  template <class Visitor>
  void visit_locals(Visitor&& visit) const;

  /// Adds a peer, or replaces it.
  void add_peer(const endpoint_id& who, Peer exit, filter announced);
  /// Replaces the filter a peer announced. False if nothing changed.
  bool set_peer_filter(const endpoint_id& who, filter announced);
  bool remove_peer(const endpoint_id& who);
  const filter* peer_filter(const endpoint_id& who) const;

  /// What to announce to `peer`: our own subscriptions and forward topics and, if we forward, what
  /// our *other* peers announced. A nil id leaves nobody out.
  filter announcement_for(const endpoint_id& peer) const;
  /// The peers whose announcement may have changed since the last call; the others' has not. A new
  /// peer is among them.
  std::set<endpoint_id> take_outdated() { return std::exchange(outdated_, {}); }

  const prefix_index<Local>& local_index() const noexcept { return local_index_; }
  const prefix_index<Peer>& peer_index() const noexcept { return peer_index_; }

private:
  struct local_entry {
    Local exit;
    std::set<std::string, std::less<>> prefixes; // as requested
  };
  struct peer_entry {
    std::uint64_t number; // in peer_index_
    Peer exit;
    filter announced;
  };

  void add_for_peer(const peer_entry& who, std::string_view prefix);
  void remove_for_peer(const peer_entry& who, std::string_view prefix);
  void concerns(std::string_view prefix, std::uint64_t peer_number);
  bool wanted_without(std::uint64_t peer_number, std::string_view prefix) const;

  static constexpr std::uint64_t no_peer = 0;

  std::unordered_map<subscriber_id, local_entry> locals_;
  std::map<endpoint_id, peer_entry> peers_;
  prefix_index<Local> local_index_;
  prefix_index<Peer> peer_index_;
  std::set<endpoint_id> outdated_;
  std::uint64_t last_number_ = no_peer;
  filter forward_topics_;
  bool forwarding_;
};

// -- subscribers of this endpoint ----------------------------------------------------------------

template <class Local, class Peer>
void subscription_table<Local, Peer>::add_local(subscriber_id who, Local exit,
                                                const filter& wanted) {
  const auto& entry =
      locals_.emplace(who, local_entry{std::move(exit), {wanted.begin(), wanted.end()}})
          .first->second;
  for (const auto& prefix : entry.prefixes) {
    concerns(prefix, no_peer);
    local_index_.add(prefix, who, entry.exit);
  }
}

template <class Local, class Peer>
bool subscription_table<Local, Peer>::add_local_topic(subscriber_id who, std::string_view prefix) {
  const auto found = locals_.find(who);
  if (found == locals_.end() || !found->second.prefixes.emplace(prefix).second)
    return false;
  concerns(prefix, no_peer);
  return local_index_.add(prefix, who, found->second.exit);
}

template <class Local, class Peer>
bool subscription_table<Local, Peer>::remove_local_topic(subscriber_id who,
                                                         std::string_view prefix) {
  const auto found = locals_.find(who);
  if (found == locals_.end())
    return false;
  const auto held = found->second.prefixes.find(prefix);
  if (held == found->second.prefixes.end())
    return false;
  local_index_.remove(prefix, who);
  concerns(prefix, no_peer);
  found->second.prefixes.erase(held); // last: `prefix` may be a view of it
  return true;
}

template <class Local, class Peer>
bool subscription_table<Local, Peer>::remove_local(subscriber_id who) {
  const auto found = locals_.find(who);
  if (found == locals_.end())
    return false;
  for (const auto& prefix : found->second.prefixes) {
    local_index_.remove(prefix, who);
    concerns(prefix, no_peer);
  }
  locals_.erase(found);
  return true;
}

template <class Local, class Peer>
filter subscription_table<Local, Peer>::local_filter(subscriber_id who) const {
  const auto found = locals_.find(who);
  if (found == locals_.end())
    return {};
  const auto& held = found->second.prefixes;
  return minimal_filter({held.begin(), held.end()});
}

template <class Local, class Peer>
template <class Visitor>
void subscription_table<Local, Peer>::visit_locals(Visitor&& visit) const {
  for (const auto& [who, entry] : locals_)
    visit(who, entry.exit);
}

// -- peers ---------------------------------------------------------------------------------------

template <class Local, class Peer>
void subscription_table<Local, Peer>::add_peer(const endpoint_id& who, Peer exit,
                                               filter announced) {
  remove_peer(who);
  const auto number = ++last_number_;
  peers_.emplace(who, peer_entry{number, std::move(exit), {}});
  outdated_.insert(who);
  set_peer_filter(who, std::move(announced));
}

template <class Local, class Peer>
bool subscription_table<Local, Peer>::set_peer_filter(const endpoint_id& who, filter announced) {
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
  for (const auto prefix : fresh)
    add_for_peer(peer, prefix);
  return true;
}

template <class Local, class Peer>
bool subscription_table<Local, Peer>::remove_peer(const endpoint_id& who) {
  const auto found = peers_.find(who);
  if (found == peers_.end())
    return false;
  for (const auto& prefix : found->second.announced)
    remove_for_peer(found->second, prefix);
  peers_.erase(found);
  outdated_.erase(who);
  return true;
}

template <class Local, class Peer>
const filter* subscription_table<Local, Peer>::peer_filter(const endpoint_id& who) const {
  const auto found = peers_.find(who);
  return found == peers_.end() ? nullptr : &found->second.announced;
}

template <class Local, class Peer>
void subscription_table<Local, Peer>::add_for_peer(const peer_entry& who, std::string_view prefix) {
  if (forwarding_)
    concerns(prefix, who.number);
  peer_index_.add(prefix, who.number, who.exit);
}

template <class Local, class Peer>
void subscription_table<Local, Peer>::remove_for_peer(const peer_entry& who,
                                                      std::string_view prefix) {
  peer_index_.remove(prefix, who.number);
  if (forwarding_)
    concerns(prefix, who.number);
}

// -- announcements -------------------------------------------------------------------------------

/// Called while `prefix` is without a holder that is about to get it or has just lost it: notes the
/// peers to which it makes a difference. `peer_number` is the holder, if that is a peer.
template <class Local, class Peer>
void subscription_table<Local, Peer>::concerns(std::string_view prefix, std::uint64_t peer_number) {
  for (const auto& [id, peer] : peers_)
    if (peer.number != peer_number && !outdated_.contains(id) &&
        !wanted_without(peer.number, prefix))
      outdated_.insert(id);
}

/// Whether we want `prefix`, or something it begins with, for somebody else than this peer.
template <class Local, class Peer>
bool subscription_table<Local, Peer>::wanted_without(std::uint64_t peer_number,
                                                     std::string_view prefix) const {
  auto nobody = [](const auto&) { return false; };
  auto only_that_peer = [&](const auto& each) { return each.who == peer_number; };
  return forward_topics_.matches(prefix) || !local_index_.visit(prefix, nobody) ||
         (forwarding_ && !peer_index_.visit(prefix, only_that_peer));
}

template <class Local, class Peer>
filter subscription_table<Local, Peer>::announcement_for(const endpoint_id& peer) const {
  std::vector<std::string_view> all{forward_topics_.begin(), forward_topics_.end()};
  for (const auto& [who, entry] : locals_)
    all.insert(all.end(), entry.prefixes.begin(), entry.prefixes.end());
  if (forwarding_)
    for (const auto& [who, entry] : peers_)
      if (who != peer)
        all.insert(all.end(), entry.announced.begin(), entry.announced.end());
  return minimal_filter(std::move(all));
}

} // namespace pubsub
