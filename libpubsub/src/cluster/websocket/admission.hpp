// Who may be a client of a WebSocket server, and how many at a time.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include <pubsub/access.hpp>

#include "cluster/websocket/client.hpp"

namespace pubsub::cluster {

/// The rules, and the clients that were admitted by them. Thread-safe.
class admission {
public:
  admission(std::optional<access_rules> rules, std::size_t max_clients, bool has_authorities)
      : rules_(std::move(rules)), max_clients_(max_clients), has_authorities_(has_authorities) {}

  std::optional<http_refusal> admit(const client& who, const peer_identity& identity,
                                    access_ptr& rule) {
    std::lock_guard lock{mutex_};
    // Without rules the authorities decide: a client that shows no certificate of theirs stays out.
    if (!rules_ && has_authorities_ && identity.subject.empty())
      return http_refusal{403, "A certificate is needed here."};
    rule = rules_ ? find_access(*rules_, identity) : nullptr;
    if (rules_ && !rule)
      return refusal_of_stranger(identity);
    if (clients_.size() >= max_clients_)
      return http_refusal{503, "There are too many clients already."};
    if (const auto most = rule ? rule->limits.connections : 0; most > 0 && with(rule->name) >= most)
      return http_refusal{429, "There are too many clients already for which this rule is."};
    clients_[&who] = rule ? rule->name : std::string{};
    return {};
  }

  void forget(const client& who) {
    std::lock_guard lock{mutex_};
    clients_.erase(&who);
  }
  std::size_t clients() const {
    std::lock_guard lock{mutex_};
    return clients_.size();
  }

  void set_rules(std::optional<access_rules> rules) {
    std::lock_guard lock{mutex_};
    rules_ = std::move(rules);
  }
  bool still_holds(const peer_identity& identity, const access_ptr& rule) const {
    std::lock_guard lock{mutex_};
    const auto now = rules_ ? find_access(*rules_, identity) : nullptr;
    return rules_ ? now && rule && *now == *rule : !rule;
  }

private:
  std::size_t with(const std::string& rule) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(clients_, [&](const auto& each) { return each.second == rule; }));
  }
  http_refusal refusal_of_stranger(const peer_identity& identity) const {
    const bool wants_tokens =
        std::ranges::any_of(*rules_, [](const auto& each) { return !each.tokens.empty(); });
    if (!identity.token.empty())
      return {401, "No access rule is for this token.", true};
    if (wants_tokens)
      return {401, "A token is needed here.", true};
    return {403, "No access rule is for this client."};
  }

  mutable std::mutex mutex_; // guards what follows
  std::optional<access_rules> rules_;
  std::unordered_map<const client*, std::string> clients_; // and the names of their rules
  const std::size_t max_clients_;
  const bool has_authorities_;
};

} // namespace pubsub::cluster
