// What one peer may do, asked by those who do it. No rule means that it may do everything.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string_view>

#include <pubsub/access.hpp>
#include <pubsub/export.hpp>

#include "base/peer_identity.hpp"

namespace pubsub {

/// The rule that holds for a peer.
using access_ptr = std::shared_ptr<const access_rule>;

/// The first that is for the peer; null: there is none.
PUBSUB_EXPORT access_ptr find_access(const access_rules& rules, const peer_identity& who);

/// Whether a message from, or to, the peer may have this topic.
inline bool may_publish(const access_ptr& who, std::string_view topic) noexcept {
  return !who || !who->publish || who->publish->matches(topic);
}
inline bool may_receive(const access_ptr& who, std::string_view topic) noexcept {
  return !who || !who->subscribe || who->subscribe->matches(topic);
}
/// Whether the peer can receive anything of what it has subscribed to.
bool may_subscribe(const access_ptr& who, std::string_view prefix);

} // namespace pubsub
