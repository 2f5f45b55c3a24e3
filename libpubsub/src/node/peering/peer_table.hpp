// The peers of one endpoint, and which of several connections to a peer stays.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

#include "node/peering/session.hpp"
#include "node/peering/tuning.hpp"

namespace pubsub {

/// Of each peer the session that is its link, or may become that. Guarded by the peering's mutex.
class peer_table {
public:
  enum class phase : std::uint8_t { connecting, peered, leaving };

  struct entry {
    phase state = phase::connecting;
    std::shared_ptr<session> current;
    std::vector<std::shared_ptr<session>> paused; // wait for the outcome of `current`
  };

  explicit peer_table(std::size_t max_peers) : max_peers_(max_peers) {}

  wire::admission admit(session& who, const endpoint_id& remote, bool originator) {
    if (!owns(who.carrier()->identity().subject, remote))
      return wire::admission::denied;
    if (peers_.size() >= max_peers_ && !peers_.contains(remote))
      return wire::admission::full;
    auto [found, fresh] = peers_.try_emplace(remote);
    if (fresh) {
      found->second.current = who.shared_from_this();
      return wire::admission::proceed;
    }
    if (!originator)
      return wire::admission::illegal;
    if (found->second.state != phase::connecting)
      return wire::admission::redundant;
    found->second.paused.push_back(who.shared_from_this());
    return wire::admission::pause;
  }
  /// Peers for which the rule holds, other than this one. Walks over all.
  std::size_t count_with(const access_rule& rule, const endpoint_id& other) const {
    return static_cast<std::size_t>(std::ranges::count_if(peers_, [&](const auto& each) {
      const auto access = each.second.current->carrier()->access();
      return each.first != other && access && access->name == rule.name;
    }));
  }
  /// A handshake has succeeded. Returns the sessions that have waited for it.
  std::vector<std::shared_ptr<session>> settle(const endpoint_id& id) {
    auto& peer = peers_[id];
    peer.state = phase::peered;
    return std::exchange(peer.paused, {});
  }
  /// A connection did not get through its handshake. True if no other one waits to become the link
  /// of its peer, which is removed; otherwise `next` is that one, if there is one to go on.
  bool abandon(const std::shared_ptr<session>& who, std::shared_ptr<session>& next) {
    auto* const peer = find(who->remote());
    if (peer == nullptr)
      return false;
    if (peer->current != who) {
      std::erase(peer->paused, who);
      return false;
    }
    if (peer->paused.empty())
      return peers_.erase(who->remote()) > 0;
    next = peer->current = peer->paused.front();
    peer->paused.erase(peer->paused.begin());
    return false;
  }
  /// Returns the phase it was in.
  phase remove(const endpoint_id& id) {
    const auto node = peers_.extract(id);
    return node ? node.mapped().state : phase::connecting;
  }

  /// Null if there is neither a peering nor a handshake with this peer.
  entry* find(const endpoint_id& id) {
    const auto found = peers_.find(id);
    return found == peers_.end() ? nullptr : &found->second;
  }
  bool contains(const endpoint_id& id) const { return peers_.contains(id); }
  /// Whether this session is the link of its peer, or may become that.
  bool is_current(const std::shared_ptr<session>& who) const {
    const auto found = peers_.find(who->remote());
    return found != peers_.end() && found->second.current == who;
  }
  /// The session of this peer; null if it is not peered.
  std::shared_ptr<session> peered(const endpoint_id& id) const {
    const auto found = peers_.find(id);
    return found != peers_.end() && found->second.state == phase::peered ? found->second.current
                                                                         : nullptr;
  }
  std::size_t size() const noexcept { return peers_.size(); }
  std::size_t count_peered() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        peers_, [](const auto& each) { return each.second.state == phase::peered; }));
  }
  /// The sessions of the peers in these phases, by their ids.
  std::vector<std::shared_ptr<session>> in_phase(phase first, phase last) const {
    std::vector<std::shared_ptr<session>> result;
    for (const auto& [id, peer] : peers_)
      if (peer.state >= first && peer.state <= last)
        result.push_back(peer.current);
    std::ranges::sort(result, {}, &session::remote);
    return result;
  }

private:
  /// An id belongs to the certificate that was the first to claim it.
  bool owns(const std::string& subject, const endpoint_id& id) {
    if (subject.empty())
      return true;
    if (owners_.size() >= peering_tuning::max_remembered_owners)
      std::erase_if(owners_, [this](const auto& each) { return !peers_.contains(each.first); });
    return owners_.try_emplace(id, subject).first->second == subject;
  }

  const std::size_t max_peers_;
  std::unordered_map<endpoint_id, entry> peers_;
  std::unordered_map<endpoint_id, std::string> owners_; // by the names in their certificates
};

} // namespace pubsub
